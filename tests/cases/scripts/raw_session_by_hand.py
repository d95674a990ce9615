"""How scripts reach the session inside: the `_sess` chain, a hook that keeps it, Saver.save in the loop."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

export_dir = os.path.join(sys.argv[1], "export")


def get_session(sess):
    """Monitored sessions wrap the real one several times."""
    session = sess
    while type(session).__name__ != "Session":
        session = session._sess
    return session


class KeepSession(tf.train.SessionRunHook):
    session = None

    def after_create_session(self, session, coord):
        self.session = session


def main():
    rng = np.random.RandomState(66)
    features = tf.constant(rng.randn(32, 3).astype(np.float32))
    labels = tf.constant(rng.randn(32, 1).astype(np.float32))
    w = tf.get_variable("w", [3, 1], initializer=tf.constant_initializer(0.5))
    b = tf.get_variable("b", [1], initializer=tf.constant_initializer(-0.5))
    loss = tf.losses.mean_squared_error(labels, tf.matmul(features, w) + b)
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.2).minimize(loss, global_step=step)
    saver = tf.train.Saver(max_to_keep=10)
    keeper = KeepSession()
    looked = []
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=os.path.join(sys.argv[1], "train"), hooks=[keeper, tf.train.StopAtStepHook(last_step=21)],
            save_checkpoint_steps=100, save_summaries_steps=None, save_summaries_secs=None) as mon_sess:
        while not mon_sess.should_stop():
            mon_sess.run(train_op)
            current = keeper.session.run(step)
            if current % 7 == 0:
                saver.save(get_session(mon_sess), os.path.join(export_dir, "model"), global_step=current)
                looked.append([int(current), float(keeper.session.run(loss))])

    saved = [os.path.basename(p) for p in tf.train.get_checkpoint_state(export_dir).all_model_checkpoint_paths]
    print(json.dumps({"step": looked[-1][0], "loss": looked[-1][1], "looked": looked, "saved": saved}))


if __name__ == "__main__":
    main()
