# codemod: --unsafe-fixes
import tensorflow as tf


def strategy(num_gpus):
    if num_gpus == 0:
        return tf.contrib.distribute.OneDeviceStrategy("device:CPU:0")
    return tf.contrib.distribute.MirroredStrategy(num_gpus=num_gpus)
