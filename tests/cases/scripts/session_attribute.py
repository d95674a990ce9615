"""A trainer class that keeps its session as an attribute and closes it by hand."""
import json
import os
import sys

import numpy as np
import tensorflow as tf


class LinearModel(object):
    def __init__(self, size):
        self.x = tf.placeholder(tf.float32, shape=(None, size), name="x")
        self.y = tf.placeholder(tf.float32, shape=(None,), name="y")
        with tf.variable_scope("linear", initializer=tf.constant_initializer(0.1)):
            self.w = tf.get_variable("w", (size, 1))
            self.b = tf.get_variable("b", ())
        self.prediction = tf.squeeze(tf.matmul(self.x, self.w), axis=1) + self.b
        self.loss = tf.losses.huber_loss(self.y, self.prediction)


class Trainer(object):
    def __init__(self, model, work_dir, max_steps):
        self.model = model
        self.global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        self.train_op = optimizer.minimize(model.loss, global_step=self.global_step)
        self.hooks = [tf.train.StopAtStepHook(last_step=max_steps)]
        scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=2))
        self.hooks.append(tf.train.CheckpointSaverHook(work_dir, save_steps=15, scaffold=scaffold))
        self.sess = tf.train.MonitoredTrainingSession(
            master="", is_chief=True, scaffold=scaffold, hooks=self.hooks,
            checkpoint_dir=work_dir, save_checkpoint_secs=None)

    def train_on_batch(self, x, y):
        _, loss = self.sess.run([self.train_op, self.model.loss], {self.model.x: x, self.model.y: y})
        return loss

    def predict(self, x):
        return self.sess.run(self.model.prediction, feed_dict={self.model.x: x})

    @property
    def done(self):
        return self.sess.should_stop()

    def close(self):
        self.sess.close()


def main(argv):
    work_dir = os.path.join(argv[1], "trainer")
    rng = np.random.RandomState(2)
    x = rng.randn(120, 3).astype(np.float32)
    y = x[:, 0] * 2 - x[:, 1] + 0.5

    trainer = Trainer(LinearModel(3), work_dir, max_steps=40)
    position = 0
    while not trainer.done:
        if position % 20 == 0:
            predicted = trainer.predict(x[:2])
        batch = slice(position * 10 % 120, position * 10 % 120 + 10)
        loss = trainer.train_on_batch(x[batch], y[batch])
        position += 1
    trainer.close()

    kept = tf.train.get_checkpoint_state(work_dir).all_model_checkpoint_paths
    print(json.dumps({"step": position, "loss": float(loss), "predicted": predicted.tolist(),
                      "kept": [os.path.basename(p) for p in kept]}))


if __name__ == "__main__":
    main(sys.argv)
