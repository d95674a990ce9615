"""Hooks of one's own, imported from TensorFlow's inner modules, with arguments of other names."""
import json
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.training import basic_session_run_hooks
from tensorflow.python.training import session_run_hook
from tensorflow.python.training import training_util
from tensorflow.python.training.monitored_session import MonitoredTrainingSession
from tensorflow.python.training.session_run_hook import SessionRunArgs


class LossHistoryHook(session_run_hook.SessionRunHook):
    """Keeps the loss of every step; `ctx` and `vals` are what others call run_context and run_values."""

    def __init__(self, loss):
        self._loss = loss
        self.history = []

    def begin(self):
        self._step = training_util.get_global_step()
        if self._step is None:
            raise RuntimeError("a global step is needed")

    def after_create_session(self, sess, coordinator):
        self.first_step = sess.run(self._step)
        self.coordinated = not coordinator.should_stop()

    def before_run(self, ctx):
        return SessionRunArgs([self._loss, self._step])

    def after_run(self, ctx, vals):
        loss, step = vals.results
        self.history.append((int(step), float(loss)))

    def end(self, s):
        self.last_step = int(s.run(self._step))


class StopWhenLowHook(session_run_hook.SessionRunHook):
    """Asks for a stop when the loss has been under a bound for some steps."""

    def __init__(self, loss, bound, patience):
        self._loss, self._bound, self._patience = loss, bound, patience
        self._below = 0

    def before_run(self, rc):
        assert rc.original_args.fetches is not None
        return session_run_hook.SessionRunArgs({"loss": self._loss})

    def after_run(self, rc, rv):
        self._below = self._below + 1 if rv.results["loss"] < self._bound else 0
        if self._below >= self._patience:
            logging.info("Loss under %s: stop.", self._bound)
            rc.request_stop()


class QuietSaver(basic_session_run_hooks.CheckpointSaverHook):
    """Saves only when asked to by its superclass's timer, and counts."""

    saves = 0

    def _save(self, session, step):
        QuietSaver.saves += 1
        return super(QuietSaver, self)._save(session, step)


def main():
    rng = np.random.RandomState(4)
    x_data = rng.randn(90, 6).astype(np.float32)
    y_data = np.sign(x_data[:, :1] + x_data[:, 1:2]).astype(np.float32)

    with ops.Graph().as_default() as graph:
        features, target = tf.data.Dataset.from_tensor_slices(
            (x_data, y_data)).batch(15).repeat().make_one_shot_iterator().get_next()
        weights = tf.get_variable("weights", (6, 1), initializer=tf.zeros_initializer())
        margin = target * tf.matmul(features, weights)
        loss = tf.reduce_mean(tf.maximum(0.0, 1.0 - margin), name="hinge")
        step = training_util.get_or_create_global_step(graph)
        train_op = tf.train.FtrlOptimizer(0.05).minimize(loss, global_step=step)

        history = LossHistoryHook(loss)
        hooks = [
            history,
            StopWhenLowHook(loss, bound=0.42, patience=3),
            QuietSaver(sys.argv[1], save_steps=10),
            basic_session_run_hooks.StopAtStepHook(last_step=200),
            basic_session_run_hooks.NanTensorHook(loss),
        ]
        with MonitoredTrainingSession(hooks=hooks, checkpoint_dir=sys.argv[1], save_checkpoint_secs=None,
                                      save_summaries_steps=None, save_summaries_secs=None) as sess:
            while not sess.should_stop():
                sess.run(train_op)

    print(json.dumps({
        "step": history.last_step, "loss": history.history[-1][1], "runs": len(history.history),
        "first_step": int(history.first_step), "coordinated": history.coordinated, "saves": QuietSaver.saves,
        "losses": [loss for _, loss in history.history[::8]]}))


if __name__ == "__main__":
    main()
