import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

x = tf.placeholder(tf.float32)
mnist = input_data.read_data_sets("MNIST_data", one_hot=True)
