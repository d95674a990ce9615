import tensorflow as tf


def step(contrib):
    return contrib.framework.get_or_create_global_step(), tf.constant(1)
