from tensorflow import flags, float32, keras
from tensorflow.train import Saver as S, AdamOptimizer
from tensorflow import (
    placeholder,
    float64,  # wide
    get_variable,
)


def model():
    return flags.FLAGS, float32, keras.layers.Dense, S, AdamOptimizer, placeholder, float64, get_variable
