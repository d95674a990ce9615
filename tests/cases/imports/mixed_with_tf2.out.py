import tensorflow as tf


def writer(path):
    if path.endswith(".v2"):
        return tf.summary.create_file_writer(path)
    return tf.compat.v1.summary.FileWriter(path)
