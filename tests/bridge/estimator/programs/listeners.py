"""Listeners of checkpoints: of the config's saver, and of a saver of the user's own."""

import numpy as np

from tests.bridge.estimator.world import data, job, linear, tf


class Listener(tf.train.CheckpointSaverListener):
    def __init__(self, calls):
        self.calls = calls

    def begin(self):
        self.calls.append("begin")

    def before_save(self, session, global_step_value):
        b = session.run(next(v for v in tf.global_variables() if v.op.name == "b"))
        self.calls.append(f"before {global_step_value} {np.squeeze(b):.4f}")

    def after_save(self, session, global_step_value):
        self.calls.append(f"after {global_step_value}")
        return global_step_value == 12

    def end(self, session, global_step_value):
        self.calls.append(f"end {global_step_value}")


def main(work):
    first, second = [], []
    made = linear(work + "/first", save_checkpoints_steps=4)
    made.train(data, steps=30, saving_listeners=[Listener(first)])
    other = linear(work + "/second")
    saver = tf.train.CheckpointSaverHook(work + "/second", save_steps=3, listeners=[Listener(second)])
    other.train(data, hooks=[saver], steps=7, saving_listeners=[Listener(first)])
    return {"first": first, "second": second, "jobs": [job(made), job(other)]}
