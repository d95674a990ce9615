# codemod: --unsafe-fixes
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data
from tensorflow.contrib.learn.python.learn.datasets.mnist import read_data_sets
import tensorflow.examples.tutorials.mnist.input_data as reader

x = tf.placeholder(tf.float32)
input_data.read_data_sets("MNIST_data", one_hot=True)
read_data_sets("MNIST_data")
reader.read_data_sets("MNIST_data")
tf.contrib.learn.datasets.mnist.read_data_sets("MNIST_data")
