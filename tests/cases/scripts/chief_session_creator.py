"""MonitoredSession over ChiefSessionCreator, with the hooks that MonitoredTrainingSession would have added."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

save_dir = os.path.join(sys.argv[1], "saved")


class DataIterator(object):
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def __iter__(self):
        return self

    def __next__(self):
        x = self.rng.randn(12, 4).astype("float32")
        return x, (x[:, :1] * x[:, 1:2] > 0).astype("float32")

    next = __next__


def main():
    with tf.Graph().as_default() as graph, tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, (None, 4), "x")
        y = tf.placeholder(tf.float32, (None, 1), "y")
        rng = np.random.RandomState(0)
        w1 = tf.get_variable("w1", initializer=rng.randn(4, 16).astype("float32"))
        w2 = tf.get_variable("w2", initializer=rng.randn(16, 1).astype("float32") * 0.25)
        logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)
        loss = tf.losses.sigmoid_cross_entropy(y, logits)
        global_step = tf.train.get_or_create_global_step()
        learning_rate = tf.train.piecewise_constant(global_step, [20, 30], [0.1, 0.05, 0.01])
        train_op = tf.train.MomentumOptimizer(learning_rate, 0.9, use_nesterov=True).minimize(loss, global_step)

        scaffold = tf.train.Scaffold(saver=tf.train.Saver(tf.global_variables()))
        session_creator = tf.train.ChiefSessionCreator(
            scaffold, master="", config=tf.ConfigProto(allow_soft_placement=True), checkpoint_dir=save_dir)
        hooks = [
            tf.train.StopAtStepHook(last_step=40),
            tf.train.CheckpointSaverHook(save_dir, save_steps=20, scaffold=scaffold),
            tf.train.NanTensorHook(loss),
        ]
        data = DataIterator(5)
        with tf.train.MonitoredSession(session_creator=session_creator, hooks=hooks) as sess:
            while not sess.should_stop():
                batch_x, batch_y = next(data)
                _, loss_value, rate = sess.run(
                    [train_op, loss, learning_rate], feed_dict={x: batch_x, y: batch_y})
            assert sess.graph is graph

    print(json.dumps({"step": int(tf.train.load_variable(save_dir, "global_step")), "loss": float(loss_value),
                      "rate": float(rate), "files": sorted(name for name in os.listdir(save_dir) if "tfevents" not in name)}))


if __name__ == "__main__":
    main()
