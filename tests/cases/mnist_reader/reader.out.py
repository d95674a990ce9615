# codemod: --unsafe-fixes
import bridge.mnist
import tensorflow.compat.v1 as tf
from bridge import mnist as input_data
from bridge.mnist import read_data_sets
from bridge import mnist as reader

x = tf.placeholder(tf.float32)
input_data.read_data_sets("MNIST_data", one_hot=True)
read_data_sets("MNIST_data")
reader.read_data_sets("MNIST_data")
bridge.mnist.read_data_sets("MNIST_data")
