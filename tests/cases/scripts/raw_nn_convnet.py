"""tf.nn by hand, with the old names and argument names that later versions dropped."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

WORK_DIR = sys.argv[1]


def weight_variable(shape, seed):
    initial = np.random.RandomState(seed).normal(scale=0.1, size=shape).astype(np.float32)
    return tf.Variable(initial, name="w")


def bias_variable(shape):
    return tf.Variable(tf.constant(0.1, shape=shape), name="b")


def conv2d(x, W):
    return tf.nn.conv2d(x, W, strides=[1, 1, 1, 1], padding="SAME")


def max_pool_2x2(x):
    return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


rng = np.random.RandomState(20)
classes = rng.randint(0, 4, 80)
images = rng.rand(80, 36).astype(np.float32) * 0.3
for i, c in enumerate(classes):
    images[i].reshape(6, 6)[(c // 2) * 3:(c // 2) * 3 + 3, (c % 2) * 3:(c % 2) * 3 + 3] += 0.7

graph = tf.Graph()
with graph.as_default():
    x = tf.placeholder(tf.float32, shape=[None, 36])
    y_ = tf.placeholder(tf.int32, shape=[None])
    keep_prob = tf.placeholder(tf.float32)
    x_image = tf.reshape(x, [-1, 6, 6, 1])
    with tf.name_scope("conv1"):
        h = tf.nn.relu(conv2d(x_image, weight_variable([3, 3, 1, 6], 1)) + bias_variable([6]))
        h = tf.nn.lrn(max_pool_2x2(h), 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)
    with tf.name_scope("fc1"):
        h = tf.reshape(h, [-1, 3 * 3 * 6])
        h = tf.nn.relu6(tf.matmul(h, weight_variable([54, 20], 2)) + bias_variable([20]))
        h = tf.nn.dropout(h, keep_prob)
    with tf.name_scope("fc2"):
        logits = tf.matmul(h, weight_variable([20, 4], 3)) + bias_variable([4])
    probabilities = tf.nn.softmax(logits, dim=-1)
    one_hot = tf.one_hot(y_, 4)
    cross_entropy = -tf.reduce_sum(one_hot * tf.log(probabilities + 1e-8), reduction_indices=[1])
    loss = tf.reduce_mean(cross_entropy)
    weight_decay = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "w" in v.op.name])
    total = loss + 1e-3 * weight_decay
    correct = tf.equal(tf.cast(tf.arg_max(logits, 1), tf.int32), y_)
    accuracy = tf.reduce_mean(tf.to_float(correct))
    entropy = tf.div(tf.reduce_sum(cross_entropy, keep_dims=True), tf.to_float(tf.shape(y_)[0]))

    global_step = tf.contrib.framework.get_or_create_global_step()
    rate = tf.train.inverse_time_decay(0.01, global_step, 10, 0.5)
    train_step = tf.train.AdamOptimizer(rate, epsilon=1e-6).minimize(total, global_step=global_step)

    with tf.train.MonitoredTrainingSession(checkpoint_dir=os.path.join(WORK_DIR, "conv"), save_checkpoint_secs=60,
                                           save_summaries_secs=0, save_summaries_steps=0) as sess:
        for i in range(40):
            batch = slice((i % 5) * 16, (i % 5) * 16 + 16)
            if i % 10 == 0:
                train_accuracy = sess.run(accuracy, feed_dict={x: images, y_: classes, keep_prob: 1.0})
                print("step %d, training accuracy %g" % (i, train_accuracy))
            sess.run(train_step, feed_dict={x: images[batch], y_: classes[batch], keep_prob: 1.0})
        loss_value, accuracy_value, entropy_value, step = sess.run(
            [loss, accuracy, entropy, global_step], feed_dict={x: images, y_: classes, keep_prob: 1.0})

print(json.dumps({"step": int(step), "loss": float(loss_value), "accuracy": float(accuracy_value),
                  "entropy": float(entropy_value[0])}))
