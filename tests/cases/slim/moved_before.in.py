"""Has moved to tf_slim by itself."""
import tensorflow.compat.v1 as tf
import tf_slim as slim
from tf_slim.nets import resnet_v1


def network(images):
    with slim.arg_scope(resnet_v1.resnet_arg_scope()):
        return resnet_v1.resnet_v1_50(tf.cast(images, tf.float32), 10)
