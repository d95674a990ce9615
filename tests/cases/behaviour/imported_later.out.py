# TODO(codemod TFB305): tf.examples.tutorials.mnist.input_data is bridge.mnist: from bridge import mnist as input_data (--unsafe-fixes rewrites it)
from tensorflow.examples.tutorials.mnist import input_data

import sys

import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()


def once():
    with tf.Session() as sess:
        sess.run(tf.constant(1))


def twice():
    once()
    once()


def main():
    ways = {"once": once, "twice": twice}
    ways[sys.argv[1]]()
    print(input_data)


main()
