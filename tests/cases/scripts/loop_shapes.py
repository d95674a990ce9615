"""Loops of many shapes: assigned sessions, conditions of their own, early ends, values that outlive them, things done before the run."""
import json
import os
import sys
import time

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("rounds", 6, "rounds of the loops that count")
FLAGS = flags.FLAGS

LOG = []


def log_step(step, loss, seconds=None):
    line = "step %d: loss %.3f" % (step, loss)
    if seconds is not None and seconds < 0:
        line += " (the clock was set back)"
    LOG.append(line)


def build(rows=None):
    """A line through points; an input that ends after so many rows, or a placeholder."""
    rng = np.random.RandomState(4)
    x_values = rng.uniform(-1.0, 1.0, size=(rows or 40, 2)).astype(np.float32)
    y_values = x_values.dot([1.0, -2.0]).astype(np.float32) + 0.3
    if rows is None:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.placeholder(tf.float32, [None], name="y")
    else:
        dataset = tf.data.Dataset.from_tensor_slices((x_values, y_values)).batch(4)
        x, y = dataset.make_one_shot_iterator().get_next()
    w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer(0.1))
    b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(x, w), 1) + b - y))
    global_step = tf.train.get_or_create_global_step()
    update = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=global_step)
    with tf.control_dependencies([update]):
        step = global_step.read_value()
    return x, y, x_values, y_values, loss, update, step


def assigned_and_closed_by_hand(work_dir):
    with tf.Graph().as_default():
        _, _, _, _, loss, train_op, step = build(rows=40)
        hooks = [tf.train.StopAtStepHook(last_step=7)]
        sess = tf.train.MonitoredTrainingSession(checkpoint_dir=work_dir, hooks=hooks)
        while not sess.should_stop():
            _, loss_value, step_value = sess.run([train_op, loss, step])
            log_step(step_value, loss_value)
        sess.close()
    return int(step_value), float(loss_value)


def until_the_input_ends():
    with tf.Graph().as_default():
        _, _, _, _, loss, train_op, _ = build(rows=24)
        session = tf.train.SingularMonitoredSession()
        steps = 0
        with session:
            while not session.should_stop():
                try:
                    _, last = session.run([train_op, loss])
                    steps += 1
                except tf.errors.OutOfRangeError:
                    LOG.append("no more rows after %d" % steps)
                    break
            LOG.append("closing")
    return steps, float(last)


def while_it_gets_better():
    with tf.Graph().as_default():
        x, y, x_values, y_values, loss, train_op, step = build()
        position, best = 0, 1e9
        with tf.train.MonitoredTrainingSession() as sess:
            while not sess.should_stop() and best > 0.05 and position < 400:
                begin = time.time()
                rows = slice(position % 40, position % 40 + 8)
                position += 8
                feed = {x: x_values[rows]}
                feed[y] = y_values[rows]
                _, value, number = sess.run([train_op, loss, step], feed_dict=feed)
                log_step(number, value, time.time() - begin)
                if value < best:
                    best = value
                if value > 100.0:
                    LOG.append("it explodes")
                    break
    return position, float(best)


def so_many_rounds(rounds):
    totals = []
    with tf.Graph().as_default():
        _, _, _, _, loss, train_op, step = build(rows=40)
        hooks = [tf.train.LoggingTensorHook([loss], every_n_iter=100), tf.train.NanTensorHook(loss)]
        with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
            for number in range(1, rounds + 1):
                value, _ = sess.run([loss, train_op])
                if number % 2:
                    continue
                for part in (number, value):
                    totals.append(float(part))
        with tf.train.MonitoredTrainingSession(hooks=hooks[1:]) as sess:
            for _ in range(rounds):
                if sess.should_stop():
                    break
                else:
                    sess.run(train_op)
            LOG.append("stopped: %s" % sess.should_stop())
    return totals


def main(argv):
    work_dir = os.path.join(argv[1], "assigned")
    step, loss = assigned_and_closed_by_hand(work_dir)
    results = {
        "step": step,
        "loss": loss,
        "ended": until_the_input_ends(),
        "better": while_it_gets_better(),
        "rounds": so_many_rounds(FLAGS.rounds),
        "none": so_many_rounds(0),
        "latest": os.path.basename(tf.train.latest_checkpoint(work_dir)),
        "log": LOG,
    }
    print(json.dumps(results))


if __name__ == "__main__":
    tf.app.run(main)
