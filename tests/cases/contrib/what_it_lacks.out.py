import tensorflow.compat.v1 as tf

# TODO(codemod TFB901): tf.contrib.framework.nest does not exist any more. Use the function of tf.train, tf.nest or tf_slim that does it, or copy it from TensorFlow 1.15
nest = tf.contrib.framework.nest


def tables(words):
    tf.placeholder(tf.float32)
    nest.flatten_dict_items({})
    # TODO(codemod TFB304): tf.contrib.lookup.index_table_from_tensor has no argument 'hasher_spec' in its successor. Call bridge.lookup.index_table_from_tensor without it; words hash as by default
    return tf.contrib.lookup.index_table_from_tensor(words, hasher_spec=None), tf.nest.flatten(words)
