"""run_step_fn: a step that looks at the raw session first, then runs with hooks or stops."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

directory = os.path.join(sys.argv[1], "run_step_fn")


class StepsSeen(tf.train.SessionRunHook):
    seen = 0

    def after_run(self, run_context, run_values):
        self.seen += 1


def build():
    data = np.random.RandomState(6).rand(30, 3).astype(np.float32)
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", shape=[3], initializer=tf.constant_initializer([1.0, 2.0, 3.0]))
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(x * w, axis=1) - 1.0))
    step = tf.train.get_or_create_global_step()
    train = tf.train.ProximalGradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    return data, x, loss, step, train


def main():
    data, x, loss, step, train = build()
    hook = StepsSeen()
    looked = []

    def step_fn(step_context):
        # The raw session runs no hooks: peeking is not a step.
        current = step_context.session.run(step)
        peek = step_context.session.run(loss, feed_dict={x: data})
        looked.append(float(peek))
        if peek < 0.09 or current >= 60:
            step_context.request_stop()
        start = int(current) * 10 % 30
        return step_context.run_with_hooks([train, loss], feed_dict={x: data[start:start + 10]})[1]

    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=directory, save_checkpoint_steps=1000, hooks=[hook]) as session:
        while not session.should_stop():
            value = session.run_step_fn(step_fn)

    print(json.dumps({"step": int(tf.train.load_variable(directory, "global_step")), "loss": float(value),
                      "looked": looked[::5], "seen": hook.seen}))


if __name__ == "__main__":
    main()
