import tensorflow as tf


def writer(path):
    if hasattr(tf, "function"):
        return tf.summary.create_file_writer(path)
    return tf.summary.FileWriter(path)
