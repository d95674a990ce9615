from tensorflow.examples.tutorials.mnist import input_data

import sys

import tensorflow as tf


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
