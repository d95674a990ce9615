import tf_slim
import tf_slim.nets
import bridge.legacy_slim
import tensorflow.compat.v1 as tf
import tf_slim as slim  # the library
from tf_slim import layers
from tf_slim.layers import utils
from tf_slim import arg_scope
from tf_slim import xavier_initializer as xavier, l2_regularizer
from tf_slim.nets import resnet_v2, vgg
from tf_slim.nets import inception_v3

short = tf_slim
nets = tf_slim.nets


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
        tf_slim.layers.fully_connected(x, size, weights_regularizer=tf_slim.l1_regularizer(0.1))
    tf_slim.metrics.streaming_mean(loss)
    hook = tf_slim.evaluation.SummaryAtEndHook("logs")
    return tf_slim.training.create_train_op(loss, tf.train.AdamOptimizer()), hook
