"""The session is made by one function, returned, and handed to others."""
import json
import os
import sys

import numpy as np
import tensorflow as tf


def build_graph():
    ops = {}
    ops["x"] = tf.placeholder(tf.float32, [None, 5])
    ops["y"] = tf.placeholder(tf.float32, [None, 1])
    w = tf.Variable(tf.constant(0.01, shape=[5, 1]), name="weights")
    b = tf.Variable(tf.zeros([1]), name="bias")
    out = tf.nn.xw_plus_b(ops["x"], w, b, name="logits")
    ops["loss"] = tf.reduce_mean(tf.squared_difference(out, ops["y"]), name="loss")
    ops["step"] = tf.Variable(0, trainable=False, name="global_step", dtype=tf.int64,
                              collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.GLOBAL_STEP])
    ops["train"] = tf.train.AdagradOptimizer(0.3).minimize(ops["loss"], global_step=ops["step"])
    return ops


def make_session(checkpoint_dir, hooks=None):
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    config.inter_op_parallelism_threads = 2
    return tf.train.MonitoredTrainingSession(
        checkpoint_dir=checkpoint_dir, hooks=hooks, save_checkpoint_steps=20, config=config)


def train(sess, ops, data, steps):
    losses = []
    for i in range(steps):
        if sess.should_stop():
            break
        x, y = data[i % len(data)]
        _, value = sess.run([ops["train"], ops["loss"]], feed_dict={ops["x"]: x, ops["y"]: y})
        losses.append(float(value))
    return losses


def evaluate(sess, ops, data):
    values = [sess.run(ops["loss"], feed_dict={ops["x"]: x, ops["y"]: y}) for x, y in data]
    return float(np.mean(values)), int(sess.run(ops["step"]))


def main():
    directory = os.path.join(sys.argv[1], "logs")
    rng = np.random.RandomState(42)
    true = rng.randn(5, 1)
    data = []
    for _ in range(8):
        x = rng.randn(16, 5)
        data.append((x, x.dot(true)))

    tf.reset_default_graph()
    ops = build_graph()
    with make_session(directory) as sess:
        losses = train(sess, ops, data[:6], 30)
        loss, step = evaluate(sess, ops, data[6:])
    print("trained for", step)

    # The same directory again: the session goes on where the last one stopped.
    tf.reset_default_graph()
    ops = build_graph()
    with make_session(directory, hooks=[tf.train.StopAtStepHook(last_step=45)]) as sess:
        losses += train(sess, ops, data[:6], 100)
        # After a stop the monitored session cannot run; its last checkpoint can be read.
    reader = tf.train.load_checkpoint(directory)

    print(json.dumps({"step": int(reader.get_tensor("global_step")), "loss": loss, "step_between": step,
                      "count": len(losses), "last": losses[-1],
                      "weights": reader.get_tensor("weights").ravel().tolist()}))


if __name__ == "__main__":
    main()
