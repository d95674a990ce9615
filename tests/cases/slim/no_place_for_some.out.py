import tf_slim
import tensorflow.compat.v1 as tf
# TODO(codemod TFB901): tf.contrib.layers does not exist any more. The package tf-slim took it over: tf_slim.layers
from tensorflow.contrib import layers


def network(ids):
    # TODO(codemod TFB901): tf.contrib.layers.embed_sequence does not exist any more. The package tf-slim took it over: tf_slim.layers
    embedded = layers.embed_sequence(ids, 10, 3)
    return tf_slim.layers.fully_connected(embedded, 3)
