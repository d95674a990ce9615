import tf_slim
import tensorflow.compat.v1 as tf
# TODO(codemod TFB901): tf.contrib.layers does not exist any more. Take it out with what it is used for, which is reported there
from tensorflow.contrib import layers


def network(ids):
    # TODO(codemod TFB901): tf.contrib.layers.embed_sequence does not exist any more. Use tf.nn.embedding_lookup on a variable of your own, with the same name
    embedded = layers.embed_sequence(ids, 10, 3)
    return tf_slim.layers.fully_connected(embedded, 3)
