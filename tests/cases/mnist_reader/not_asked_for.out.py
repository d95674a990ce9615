import tensorflow.compat.v1 as tf
# TODO(codemod TFB305): tf.examples.tutorials.mnist.input_data is bridge.mnist: from bridge import mnist as input_data (--unsafe-fixes rewrites it)
from tensorflow.examples.tutorials.mnist import input_data

x = tf.placeholder(tf.float32)
mnist = input_data.read_data_sets("MNIST_data", one_hot=True)
