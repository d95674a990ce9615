"""Loops that are not plain: a condition with `and`, `break` inside, `continue`, an inner counter, else."""
import json
import os
import sys

import numpy as np
import tensorflow as tf


def graph():
    x = tf.get_variable("x", initializer=[4.0, -3.0, 2.0])
    target = tf.placeholder_with_default([1.0, 1.0, 1.0], [3])
    loss = tf.reduce_sum(tf.square(x - target) * [1.0, 0.5, 0.1])
    step = tf.train.get_or_create_global_step()
    return target, loss, step, tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)


def with_condition(directory):
    _, loss, step, train_op = graph()
    value, count = 100.0, 0
    with tf.train.MonitoredTrainingSession(checkpoint_dir=directory,
                                           hooks=[tf.train.StopAtStepHook(last_step=100)]) as sess:
        while not sess.should_stop() and value > 0.5:
            value, _ = sess.run([loss, train_op])
            count += 1
    return count, float(value)


def with_break(directory):
    _, loss, step, train_op = graph()
    with tf.train.MonitoredTrainingSession(checkpoint_dir=directory, save_checkpoint_steps=5) as sess:
        while True:
            if sess.should_stop():
                break
            _, value = sess.run([train_op, loss])
            if value < 0.1:
                print("low enough")
                break
    return int(tf.train.load_variable(directory, "global_step")), float(value)


def with_for_else(directory):
    target, loss, step, train_op = graph()
    rng = np.random.RandomState(0)
    skipped = 0
    with tf.train.MonitoredTrainingSession(checkpoint_dir=directory,
                                           hooks=[tf.train.StopAtStepHook(num_steps=10)]) as sess:
        for i in range(50):
            if rng.rand() < 0.2:
                skipped += 1
                continue
            if sess.should_stop():
                break
            sess.run(train_op, feed_dict={target: rng.randn(3)})
        else:
            raise AssertionError("the hook stops it before")
    return i, skipped, tf.train.load_variable(directory, "x").tolist()


results = []
for number, function in enumerate([with_condition, with_break, with_for_else]):
    with tf.Graph().as_default():
        results.append(function(os.path.join(sys.argv[1], str(number))))
print(json.dumps({"step": results[0][0], "loss": results[0][1], "break": results[1], "for_else": results[2]}))
