import sys

import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()


def train(folder):
    with tf.Session() as sess:
        sess.run(tf.constant(folder))


def main():
    train(sys.argv[1])


main()
