"""Loops that are left early, whose values outlive them, and that do things before the run."""
import time

import tensorflow as tf

MAX_STEPS = 500


def show(step, loss_value, seconds=None):
    line = "step %d: loss = %.3f" % (step, loss_value)
    if seconds is not None:
        line += " (%.3f s)" % seconds
    print(line)


def train(train_op, loss, accuracy, global_step, hooks):
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            _, step, accuracy_value = sess.run([train_op, global_step, accuracy])
            if step % 100 == 0:
                print(step, accuracy_value)
    return accuracy_value


def train_for_a_while(train_op, loss, global_step, hooks):
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            start_time = time.time()
            _, step, loss_value = sess.run([train_op, global_step, loss])
            seconds = time.time() - start_time
            show(step, loss_value, seconds)
            if step >= MAX_STEPS or loss_value < 0.01:
                print("good enough")
                break
        print("done")


def train_in_rounds(train_op, losses, names, hooks):
    total = 0.0
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        for step in range(1, MAX_STEPS):
            if sess.should_stop():
                break
            _, values = sess.run([train_op, losses])
            if step % 10:
                continue
            # Now and then.
            for name, value in zip(names, values):
                print(name, value)
                total += value
            with open("log.txt", "a") as log:
                log.write("%d %s\n" % (step, values))
    return total


def go_on(train_op, loss, start_step, hooks):
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        for step in range(start_step, MAX_STEPS + start_step):
            if sess.should_stop():
                break
            _, value = sess.run([train_op, loss])
            show(step, value)


def go_on_to_the_end(train_op, args):
    with tf.train.MonitoredTrainingSession() as sess:
        for _ in range(args.first, MAX_STEPS):
            sess.run(train_op)
