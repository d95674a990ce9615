def build():
    import tensorflow.compat.v1 as tf

    return tf.placeholder(tf.float32), tf.get_collection("losses")


def tools():
    from tensorflow.compat.v1 import gfile
    return gfile.GFile
