"""A hook that knows nothing of the model but names: tensors by name, a collection, operations of the graph."""
import collections
import json
import os
import sys

import numpy as np
import tensorflow as tf

Watched = collections.namedtuple("Watched", ["relu", "loss", "step"])


class InspectHook(tf.train.SessionRunHook):
    """Fetches `relu1/Relu:0`, the first loss of the collection and the step; adds an op of its own in begin()."""

    def __init__(self, every=10):
        self.every = every
        self.sparsity = []
        self.fetched_none = 0
        self.norms = {}

    def begin(self):
        graph = tf.get_default_graph()
        self._relu = graph.get_tensor_by_name("relu1/Relu:0")
        self._losses = tf.get_collection(tf.GraphKeys.LOSSES)
        self._step = tf.train.get_global_step(graph)
        self._zeros = tf.reduce_mean(tf.cast(tf.equal(self._relu, 0.0), tf.float32), name="inspect/zeros")
        self._norms = dict((v.op.name, tf.norm(v)) for v in tf.trainable_variables())
        self._runs = 0

    def before_run(self, run_context):
        self._runs += 1
        if self._runs % self.every:
            return None
        return tf.train.SessionRunArgs(
            fetches={"watched": Watched("inspect/zeros:0", self._losses[0], self._step), "norms": self._norms})

    def after_run(self, run_context, run_values):
        if run_values.results is None:
            self.fetched_none += 1
            return
        watched = run_values.results["watched"]
        self.sparsity.append([float(watched.relu), float(watched.loss)])
        assert watched.step >= self._runs - 1
        self.biggest = max(run_values.results["norms"].values())

    def end(self, session):
        self.norms = {name: float(value) for name, value in session.run(self._norms).items()}


def net(x):
    with tf.variable_scope("relu1"):
        w = tf.get_variable("w", initializer=np.random.RandomState(1).randn(6, 10).astype(np.float32))
        b = tf.get_variable("b", initializer=tf.zeros([10]))
        x = tf.nn.relu(tf.matmul(x, w) + b)
    with tf.variable_scope("logits"):
        w = tf.get_variable("w", initializer=np.random.RandomState(2).randn(10, 4).astype(np.float32))
        return tf.matmul(x, w)


def main():
    model_dir = os.path.join(sys.argv[1], "inspected")
    rng = np.random.RandomState(0)
    xs = rng.randn(128, 6).astype(np.float32)
    ys = np.argmax(xs[:, :4], axis=1).astype(np.int64)
    x, y = tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(32).make_one_shot_iterator().get_next()
    logits = net(x)
    tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)
    loss = tf.losses.get_total_loss()
    tf.train.create_global_step()
    train_op = tf.contrib.training.create_train_op(loss, tf.train.AdamOptimizer(0.01))

    hook = InspectHook()
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=model_dir, save_summaries_steps=None, save_summaries_secs=None,
            hooks=[tf.train.StopAtStepHook(last_step=40), hook]) as sess:
        while not sess.should_stop():
            sess.run(train_op)

    _, loss_value = hook.sparsity[-1]
    print(json.dumps({"step": int(tf.train.load_variable(model_dir, "global_step")), "loss": loss_value,
                      "watched": hook.sparsity, "none": hook.fetched_none, "norms": hook.norms}))


if __name__ == "__main__":
    main()
