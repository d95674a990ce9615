import sys

import tensorflow as tf


def train(folder):
    with tf.Session() as sess:
        sess.run(tf.constant(folder))


def main():
    train(sys.argv[1])


main()
