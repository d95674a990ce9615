import tensorflow as tf
import tensorflow.contrib.slim as slim  # the library
from tensorflow.contrib import layers
from tensorflow.contrib.layers.python.layers import utils
from tensorflow.contrib.framework.python.ops import arg_scope
from tensorflow.contrib.layers import xavier_initializer as xavier, l2_regularizer
from tensorflow.contrib.slim.nets import resnet_v2, vgg
from tensorflow.contrib.slim.python.slim.nets import inception_v3

short = tf.contrib.slim
nets = tf.contrib.slim.nets


def network(x, is_training):
    with slim.arg_scope([slim.conv2d], weights_regularizer=l2_regularizer(1.0)):
        x = layers.conv2d(slim.conv2d(x, 3, 3), 3, 3, weights_initializer=xavier())
    with arg_scope([short.conv2d], padding="VALID"):
        loss = short.losses.softmax_cross_entropy(x, x)
        short.get_or_create_global_step()
    utils.convert_collection_to_dict("end_points")
    size = vgg.vgg_16.default_image_size
    nets.resnet_v1.resnet_v1_50(x)
    inception_v3.inception_v3(x)
    with slim.arg_scope(resnet_v2.resnet_arg_scope()):
        tf.contrib.layers.fully_connected(x, size, weights_regularizer=tf.contrib.layers.l1_regularizer(0.1))
    tf.contrib.metrics.streaming_mean(loss)
    hook = tf.contrib.training.SummaryAtEndHook("logs")
    return tf.contrib.training.create_train_op(loss, tf.train.AdamOptimizer()), hook
