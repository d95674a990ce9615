"""Trains the network on handwritten digits of eight by eight points."""
import json
import os

import numpy as np
import tensorflow as tf

from digits import hooks, model

flags = tf.app.flags
flags.DEFINE_integer("steps", 120, "The last step")
flags.DEFINE_float("rate", 0.01, "The learning rate of Adam")
FLAGS = flags.FLAGS


def synthetic_digits():
    """Ten pictures, each of them 40 times with noise."""
    rng = np.random.RandomState(0)
    labels = np.arange(400) % 10
    pictures = rng.rand(10, 8, 8) > 0.6
    images = pictures[labels] + rng.normal(0, 0.3, (400, 8, 8))
    return images.astype("float32")[..., np.newaxis], labels.astype("int64")


def main(argv):
    model_dir = argv[1]
    images, labels = synthetic_digits()
    iterator = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(40).make_one_shot_iterator()
    x, y = iterator.get_next()
    logits = model.network(x)
    loss = model.loss(logits, y)
    tf.summary.scalar("loss", loss)
    global_step = tf.contrib.framework.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(FLAGS.rate, epsilon=1e-6).minimize(loss, global_step=global_step)

    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=model_dir,
            hooks=[tf.train.StopAtStepHook(last_step=FLAGS.steps), hooks.Progress(loss, 40)],
            chief_only_hooks=[tf.train.NanTensorHook(loss)],
            save_checkpoint_steps=60,
            save_summaries_steps=20) as sess:
        while not sess.should_stop():
            sess.run(train_op)

    with tf.Session() as sess:
        tf.train.Saver().restore(sess, tf.train.latest_checkpoint(model_dir))
        loss_value, step = sess.run([loss, global_step], {x: images, y: labels})
    saved = sorted(name for name in os.listdir(model_dir) if name.endswith(".index"))
    print(json.dumps({"step": int(step), "loss": float(loss_value), "checkpoints": saved}))


if __name__ == "__main__":
    tf.app.run()
