"""tf.train.Supervisor with managed_session, its own summaries and saves, and a looper."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

logdir = os.path.join(sys.argv[1], "supervised")
STEPS = 35


def main():
    rng = np.random.RandomState(12)
    x_np = rng.randn(100, 8).astype(np.float32)
    y_np = np.tanh(x_np.dot(rng.randn(8, 1))).astype(np.float32)

    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 8])
        y = tf.placeholder(tf.float32, [None, 1])
        w = tf.get_variable("w", [8, 1], initializer=tf.constant_initializer(0.05))
        loss = tf.reduce_mean(tf.abs(tf.tanh(tf.matmul(x, w)) - y))
        loss_summary = tf.summary.scalar("loss", loss)
        global_step = tf.Variable(0, name="global_step", trainable=False)
        train_op = tf.train.AdamOptimizer(0.03).minimize(loss, global_step=global_step)
        with tf.control_dependencies([train_op]):
            new_step = global_step.read_value()
        init_op = tf.global_variables_initializer()
        saver = tf.train.Saver(max_to_keep=3)

    sv = tf.train.Supervisor(
        graph=graph, logdir=logdir, init_op=init_op, saver=saver, summary_op=None, global_step=global_step,
        save_model_secs=0, save_summaries_secs=0, is_chief=True)
    with sv.managed_session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        while not sv.should_stop():
            start = int(sess.run(global_step)) * 10 % 100
            feed = {x: x_np[start:start + 10], y: y_np[start:start + 10]}
            _, summary, loss_value, step = sess.run([train_op, loss_summary, loss, new_step], feed)
            if step % 10 == 0:
                sv.summary_computed(sess, summary)
                sv.saver.save(sess, sv.save_path, global_step=step)
            if step >= STEPS:
                sv.request_stop()
        whole = sess.run(loss, {x: x_np, y: y_np})
    sv.stop()

    steps = [event.step for path in tf.gfile.Glob(os.path.join(logdir, "events*"))
             for event in tf.train.summary_iterator(path)
             for value in event.summary.value if value.tag == "loss"]
    print(json.dumps({"step": int(step), "loss": float(loss_value), "whole": float(whole), "summaries": sorted(steps),
                      "checkpoints": sorted(n for n in os.listdir(logdir) if n.endswith(".index"))}))


if __name__ == "__main__":
    main()
