"""SyncReplicasOptimizer: two workers whose gradients are averaged on a parameter server, TF_CONFIG gives the roles."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

STEPS = 15


def main():
    tf_config = json.loads(os.environ["TF_CONFIG"])
    task_type, task_index = tf_config["task"]["type"], tf_config["task"]["index"]
    cluster = tf.train.ClusterSpec(tf_config["cluster"])
    server = tf.train.Server(cluster, job_name=task_type, task_index=task_index)
    if task_type == "ps":
        server.join()
    is_chief = task_index == 0
    workers = cluster.num_tasks("worker")

    # Every worker has the same data: which gradients are averaged does not change the result.
    rng = np.random.RandomState(0)
    x_data = rng.randn(20, 3).astype(np.float32)
    y_data = (x_data ** 2).sum(axis=1, keepdims=True)
    device_fn = tf.train.replica_device_setter(
        cluster=cluster, worker_device="/job:worker/task:%d/cpu:0" % task_index, ps_device="/job:ps/cpu:0")
    with tf.device(device_fn):
        global_step = tf.train.get_or_create_global_step()
        w1 = tf.get_variable("w1", initializer=np.random.RandomState(1).randn(3, 8).astype(np.float32) * 0.5)
        w2 = tf.get_variable("w2", initializer=np.random.RandomState(2).randn(8, 1).astype(np.float32) * 0.5)
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x_data, w1)), w2) - y_data))
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(0.02), replicas_to_aggregate=workers, total_num_replicas=workers)
        train_op = optimizer.minimize(loss, global_step=global_step)
    sync_hook = optimizer.make_session_run_hook(is_chief, num_tokens=0)

    with tf.train.MonitoredTrainingSession(
            master=server.target, is_chief=is_chief, checkpoint_dir=sys.argv[1] if is_chief else None,
            hooks=[sync_hook, tf.train.StopAtStepHook(last_step=STEPS)], save_summaries_steps=None,
            save_summaries_secs=None, save_checkpoint_steps=10, stop_grace_period_secs=5,
            config=tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % task_index])) as sess:
        runs = 0
        while not sess.should_stop():
            sess.run(train_op)
            runs += 1
    if is_chief:
        w1_value = tf.train.load_variable(sys.argv[1], "w1")
        w2_value = tf.train.load_variable(sys.argv[1], "w2")
        final = np.mean((np.maximum(x_data.dot(w1_value), 0).dot(w2_value) - y_data) ** 2)
        print(json.dumps({"step": int(tf.train.load_variable(sys.argv[1], "global_step")), "loss": float(final)}))


if __name__ == "__main__":
    main()
