"""The tutorial's reader for MNIST, on files of its format that this script writes first (6 pictures of each digit)."""
import argparse
import gzip
import json
import os
import struct
import sys

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

FLAGS = None


def write_idx(directory):
    """Pictures and labels in the idx format under the names that the reader looks for."""
    rng = np.random.RandomState(0)
    prototypes = (rng.rand(10, 28, 28) > 0.7) * 200
    for kind, count in (("train", 60), ("t10k", 20)):
        labels = np.arange(count) % 10
        images = np.clip(prototypes[labels] + rng.randint(0, 50, (count, 28, 28)), 0, 255)
        with gzip.open(os.path.join(directory, kind + "-images-idx3-ubyte.gz"), "wb") as f:
            f.write(struct.pack(">IIII", 2051, count, 28, 28) + images.astype(np.uint8).tobytes())
        with gzip.open(os.path.join(directory, kind + "-labels-idx1-ubyte.gz"), "wb") as f:
            f.write(struct.pack(">II", 2049, count) + labels.astype(np.uint8).tobytes())


def main(_):
    write_idx(FLAGS.data_dir)
    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True, validation_size=10, seed=3)

    x = tf.placeholder(tf.float32, [None, 784])
    W = tf.Variable(tf.zeros([784, 10]))
    b = tf.Variable(tf.zeros([10]))
    y = tf.matmul(x, W) + b
    y_ = tf.placeholder(tf.float32, [None, 10])
    cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y_, logits=y))
    global_step = tf.train.get_or_create_global_step()
    train_step = tf.train.GradientDescentOptimizer(0.05).minimize(cross_entropy, global_step=global_step)
    correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))

    hooks = [tf.train.StopAtStepHook(last_step=FLAGS.steps)]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=FLAGS.data_dir + "/model", hooks=hooks) as sess:
        while not sess.should_stop():
            batch_xs, batch_ys = mnist.train.next_batch(10, shuffle=False)
            loss_value, test, _ = sess.run([cross_entropy, accuracy, train_step], feed_dict={x: batch_xs, y_: batch_ys})

    print(json.dumps({"step": FLAGS.steps, "loss": float(loss_value), "accuracy": float(test),
                      "examples": [mnist.train.num_examples, mnist.validation.num_examples, mnist.test.num_examples]}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data_dir", type=str, help="Directory for storing input data")
    parser.add_argument("--steps", type=int, default=15)
    FLAGS, unparsed = parser.parse_known_args()
    tf.app.run(main=main, argv=[sys.argv[0]] + unparsed)
