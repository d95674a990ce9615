"""Between-graph replication: a parameter server, a chief and a worker, each its own process."""
import json
import os
import time

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("ps_hosts", "", "Comma-separated host:port of the parameter servers")
flags.DEFINE_string("worker_hosts", "", "Comma-separated host:port of the workers")
flags.DEFINE_string("job_name", "", "'ps' or 'worker'")
flags.DEFINE_integer("task_index", 0, "Index of the task within its job")
flags.DEFINE_string("work_dir", "", "Where the chief writes")
flags.DEFINE_integer("steps_per_worker", 20, "Each worker makes that many steps, one worker after the other")
FLAGS = flags.FLAGS


class TurnHook(tf.train.SessionRunHook):
    """Lets the workers train one after the other, so that the result is the same each time."""

    def __init__(self, first_step):
        self._first_step = first_step

    def begin(self):
        self._waiter = tf.train.GlobalStepWaiterHook(self._first_step)
        self._waiter.begin()

    def before_run(self, run_context):
        return self._waiter.before_run(run_context)


def main(_):
    ps_hosts = FLAGS.ps_hosts.split(",")
    worker_hosts = FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": ps_hosts, "worker": worker_hosts})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
        return

    is_chief = FLAGS.task_index == 0
    rng = np.random.RandomState(100 + FLAGS.task_index)
    x_data = rng.randn(64, 4).astype(np.float32)
    y_data = (x_data.dot([[1.0], [-1.0], [2.0], [0.0]]) + 0.5).astype(np.float32)

    with tf.device(tf.train.replica_device_setter(
            worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)):
        x, y = tf.data.Dataset.from_tensor_slices(
            (x_data, y_data)).repeat().batch(16).make_one_shot_iterator().get_next()
        w = tf.get_variable("w", [4, 1], initializer=tf.zeros_initializer())
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        loss = tf.losses.mean_squared_error(y, tf.matmul(x, w) + b)
        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.AdagradOptimizer(0.2).minimize(loss, global_step=global_step)
    devices = sorted({v.device for v in tf.global_variables()})

    mine = FLAGS.steps_per_worker
    hooks = [tf.train.StopAtStepHook(last_step=mine * len(worker_hosts))]
    if not is_chief:
        hooks.append(TurnHook(mine * FLAGS.task_index))
    losses = []
    with tf.train.MonitoredTrainingSession(
            master=server.target, is_chief=is_chief, checkpoint_dir=FLAGS.work_dir, hooks=hooks,
            save_checkpoint_steps=mine, save_summaries_steps=None, save_summaries_secs=None,
            config=tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % FLAGS.task_index])) as sess:
        for _ in range(mine):
            if sess.should_stop():
                break
            _, value = sess.run([train_op, loss])
            losses.append(float(value))
        # The chief keeps its session open until the others are done, and so writes the last checkpoint.
        while is_chief and sess.run_step_fn(lambda step_context: step_context.session.run(global_step)) < (
                mine * len(worker_hosts)):
            time.sleep(0.05)
    print(json.dumps({"step": int(tf.train.load_variable(FLAGS.work_dir, "global_step")) if is_chief else len(losses),
                      "loss": losses[-1], "count": len(losses), "devices": devices,
                      "w": tf.train.load_variable(FLAGS.work_dir, "w").ravel().tolist() if is_chief else None}))


if __name__ == "__main__":
    tf.app.run()
