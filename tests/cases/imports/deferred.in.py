def build():
    import tensorflow as tf
    from tensorflow.python.framework import ops

    return tf.placeholder(tf.float32), ops.get_collection("losses")


def tools():
    from tensorflow import gfile
    return gfile.GFile
