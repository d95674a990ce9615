import tensorflow.compat.v1 as tf
from tensorflow.keras import layers

tf.disable_v2_behavior()


def network(x, y):
    model = tf.keras.Sequential([layers.BatchNormalization(), layers.Dense(3)])
    model.fit(x, y)
    return tf.placeholder(tf.float32)
