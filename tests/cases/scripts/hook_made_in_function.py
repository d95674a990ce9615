"""Hooks made inside functions, one that subclasses a built-in, a hook of a hook, lists summed; keyword in positions."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

WORK = sys.argv[1]


def make_recorder(tensors, every):
    """Returns a hook; its class lives only here."""

    class Recorder(tf.train.LoggingTensorHook):
        records = []

        def __init__(self):
            super(Recorder, self).__init__(tensors, every_n_iter=every)

        def _log_tensors(self, tensor_values):
            self.records.append({name: float(value) for name, value in tensor_values.items()})
            super(Recorder, self)._log_tensors(tensor_values)

    return Recorder()


class Both(tf.train.SessionRunHook):
    """Passes every call on to the hooks that it holds."""

    def __init__(self, *hooks):
        self._hooks = hooks
        self._arguments = []

    def begin(self):
        for hook in self._hooks:
            hook.begin()

    def after_create_session(self, session, coord):
        for hook in self._hooks:
            hook.after_create_session(session, coord)

    def before_run(self, run_context):
        requests = [hook.before_run(run_context) for hook in self._hooks]
        self._asked = [request is not None for request in requests]
        return tf.train.SessionRunArgs([request.fetches for request in requests if request is not None])

    def after_run(self, run_context, run_values):
        results = iter(run_values.results)
        for hook, asked in zip(self._hooks, self._asked):
            values = tf.train.SessionRunValues(next(results) if asked else None, run_values.options,
                                               run_values.run_metadata)
            hook.after_run(run_context, values)

    def end(self, session):
        for hook in self._hooks:
            hook.end(session)


def main():
    tf.logging.set_verbosity(tf.logging.ERROR)
    rng = np.random.RandomState(21)
    data = rng.rand(50, 2).astype(np.float32)
    value = tf.data.Dataset.from_tensor_slices(data).repeat().batch(10).make_one_shot_iterator().get_next()
    mean = tf.get_variable("mean", shape=[2], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.reduce_sum((value - mean) ** 2, -1))
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
    tf.summary.scalar("loss", loss)

    recorder = make_recorder({"loss": loss, "largest": tf.reduce_max(value)}, 8)
    base_hooks = [Both(recorder, tf.train.StopAtStepHook(last_step=33))]
    more_hooks = [tf.train.SummarySaverHook(10, output_dir=WORK, scaffold=tf.train.Scaffold(
        summary_op=tf.summary.merge_all()))]
    with tf.train.MonitoredTrainingSession('', True, WORK, None, base_hooks + more_hooks, None, 60,
                                           save_summaries_steps=None, save_summaries_secs=None) as sess:
        while not sess.should_stop():
            sess.run(train_op)

    print(json.dumps({"step": int(tf.train.load_variable(WORK, "global_step")), "loss": recorder.records[-1]["loss"],
                      "records": recorder.records, "mean": tf.train.load_variable(WORK, "mean").tolist()}))


if __name__ == "__main__":
    main()
