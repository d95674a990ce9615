from tensorflow.compat.v1 import flags
from tensorflow import float32, keras
from tensorflow.compat.v1.train import Saver as S, AdamOptimizer
from tensorflow.compat.v1 import (
    placeholder,
    get_variable,
)
from tensorflow import (
    float64,  # wide
)


def model():
    return flags.FLAGS, float32, keras.layers.Dense, S, AdamOptimizer, placeholder, float64, get_variable
