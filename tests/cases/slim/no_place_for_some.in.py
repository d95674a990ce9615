import tensorflow as tf
from tensorflow.contrib import layers


def network(ids):
    embedded = layers.embed_sequence(ids, 10, 3)
    return layers.fully_connected(embedded, 3)
