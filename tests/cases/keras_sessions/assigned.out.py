"""Trains a model."""
import bridge
import tensorflow.compat.v1 as tf
from tensorflow.keras import backend as K

bridge.apply_session_config(tf.ConfigProto(allow_soft_placement=True))


def train(model, x, y):
    model.compile("sgd", "mse")
    model.fit(x, y)
    if model.built:
        pass


if __name__ == "__main__":
    train(tf.keras.Sequential([tf.keras.layers.Dense(1)]), [[1.0]], [1.0])
