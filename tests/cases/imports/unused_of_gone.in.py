import tensorflow as tf
import tensorflow.contrib.slim as slim  # pylint: disable=unused-import
from tensorflow.contrib import layers, learn

loss = tf.losses.get_total_loss
