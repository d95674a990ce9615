import tensorflow as tf
from tensorflow.contrib import lookup


def tables(words):
    index = lookup.index_table_from_tensor(mapping=tf.constant(words), num_oov_buckets=1, default_value=-1)
    back = lookup.index_to_string_table_from_tensor(mapping=words)
    file = lookup.index_table_from_file("words.txt", 1, None, -1)
    return index.lookup(tf.placeholder(tf.string)), back, file
