"""A parameter server and two workers, each a process of its own; TF_CONFIG says which is which."""
import json
import os
import sys
import time

import numpy as np
import bridge
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

model_dir, steps = sys.argv[1], 15
settings = json.loads(os.environ["TF_CONFIG"])
job, index = settings["task"]["type"], settings["task"]["index"]
cluster = tf.train.ClusterSpec(settings["cluster"])
server = tf.train.Server(cluster, job_name=job, task_index=index)


class Turn(tf.train.SessionRunHook):
    """The workers take turns, so that the result is the same each time."""

    def begin(self):
        self._waiter = tf.train.GlobalStepWaiterHook(steps * index)
        self._waiter.begin()

    def before_run(self, run_context):
        return self._waiter.before_run(run_context)


def main():
    x = np.random.RandomState(index).randn(45, 3).astype("float32")
    y = x.sum(axis=1, keepdims=True)
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % index, cluster=cluster)):
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(9)
        inputs, targets = dataset.make_one_shot_iterator().get_next()
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        loss = tf.losses.mean_squared_error(targets, tf.matmul(inputs, w))
        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=global_step)

    is_chief = index == 0
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % index])
    with bridge.MonitoredTrainingSession(
            master=server.target, is_chief=is_chief, checkpoint_dir=model_dir, config=config, hooks=[Turn()],
            save_checkpoint_steps=steps) as sess:
        for _ in range(steps):
            _, value = sess.run([train_op, loss])
        # The chief stays until the other worker is done, and then saves the last step.
        while is_chief and sess.run_step_fn(lambda step_context: step_context.session.run(global_step)) < 2 * steps:
            time.sleep(0.05)
    print(json.dumps({"step": int(tf.train.load_variable(model_dir, "global_step")) if is_chief else steps,
                      "loss": float(value),
                      "w": tf.train.load_variable(model_dir, "w").ravel().tolist() if is_chief else None}))


if job == "ps":
    server.join()
else:
    main()
