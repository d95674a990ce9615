"""Hook lists that grow under `if is_chief`, and chief_only_hooks; horovod is used where it is installed."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

try:
    import horovod.tensorflow as hvd
    hvd.init()
except ImportError:
    hvd = None

rank = hvd.rank() if hvd else 0
is_chief = rank == 0
work_dir = sys.argv[1]
checkpoint_dir = os.path.join(work_dir, "ckpt") if is_chief else None
summary_dir = os.path.join(work_dir, "summaries")


class CountHook(tf.train.SessionRunHook):
    """Notes the order in which hooks come."""

    log = []

    def __init__(self, name):
        self.name = name
        self.count = 0

    def begin(self):
        self.log.append(self.name)

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(None)

    def after_run(self, run_context, run_values):
        self.count += 1

    def end(self, session):
        self.log.append("%s:%d" % (self.name, self.count))


def model_fn(x, y):
    w = tf.get_variable("w", shape=[2, 1], initializer=tf.constant_initializer([[0.5], [-0.5]]))
    return tf.reduce_sum(tf.pow(tf.matmul(x, w) - y, 2))


def main():
    rng = np.random.RandomState(9)
    xs = rng.rand(40, 2).astype(np.float32)
    ys = (xs[:, :1] - 3 * xs[:, 1:]).astype(np.float32)
    x, y = tf.data.Dataset.from_tensor_slices((xs, ys)).batch(8).repeat(6).make_one_shot_iterator().get_next()
    loss = model_fn(x, y)
    tf.summary.scalar("loss", loss)
    global_step = tf.train.get_or_create_global_step()
    opt = tf.train.GradientDescentOptimizer(0.05 * (hvd.size() if hvd else 1))
    if hvd:
        opt = hvd.DistributedOptimizer(opt)
    train_op = opt.minimize(loss, global_step=global_step)

    hooks = [hvd.BroadcastGlobalVariablesHook(0)] if hvd else []
    hooks += [tf.train.StopAtStepHook(last_step=20)]
    hooks.append(CountHook("everyone"))
    chief_hooks = []
    if is_chief:
        chief_hooks.append(tf.train.SummarySaverHook(
            save_steps=5, output_dir=summary_dir, summary_op=tf.summary.merge_all()))
        chief_hooks.extend([CountHook("chief")])
    logging_hook = tf.train.LoggingTensorHook([loss], every_n_iter=10) if is_chief else None

    with tf.train.MonitoredTrainingSession(
            is_chief=is_chief,
            checkpoint_dir=checkpoint_dir,
            hooks=hooks + ([logging_hook] if logging_hook else []),
            chief_only_hooks=chief_hooks,
            save_summaries_steps=None,
            save_summaries_secs=None,
            stop_grace_period_secs=10,
            log_step_count_steps=None) as sess:
        while not sess.should_stop():
            sess.run(train_op)

    written = sum(
        1
        for path in tf.gfile.Glob(os.path.join(summary_dir, "events*"))
        for event in tf.train.summary_iterator(path)
        if any(value.tag == "loss" for value in event.summary.value))
    w = tf.train.load_variable(checkpoint_dir, "w")
    print(json.dumps({
        "step": int(tf.train.load_variable(checkpoint_dir, "global_step")),
        "loss": float(np.sum((xs.dot(w) - ys) ** 2)),
        "order": CountHook.log, "summaries_written": written > 2}))


if __name__ == "__main__":
    main()
