"""A Scaffold with its own init_fn, local_init_op, summary_op and saver; warm weights come from an older checkpoint."""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.train import Saver

root = sys.argv[1]
pretrained_dir = os.path.join(root, "pretrained")
model_dir = os.path.join(root, "model")


def pretrain():
    """Writes the checkpoint that the second job starts from."""
    with tf.Graph().as_default(), tf.Session() as sess:
        kernel = tf.get_variable("encoder/kernel", initializer=np.full((3, 4), 0.2, np.float32))
        tf.get_variable("decoder/unused", initializer=np.ones((2,), np.float32))
        sess.run(tf.global_variables_initializer())
        sess.run(kernel.assign(kernel * np.arange(12).reshape(3, 4)))
        return Saver().save(sess, os.path.join(pretrained_dir, "model.ckpt"), global_step=7)


def main():
    checkpoint = pretrain()

    x_values = np.random.RandomState(0).randn(64, 3).astype(np.float32)
    y_values = x_values.sum(axis=1, keepdims=True) ** 2
    x_placeholder = tf.placeholder(x_values.dtype, x_values.shape)
    y_placeholder = tf.placeholder(y_values.dtype, y_values.shape)
    dataset = tf.data.Dataset.from_tensor_slices((x_placeholder, y_placeholder)).repeat().batch(16)
    iterator = dataset.make_initializable_iterator()
    x, y = iterator.get_next()

    with tf.variable_scope("encoder"):
        kernel = tf.get_variable("kernel", [3, 4], initializer=tf.ones_initializer())
    hidden = tf.nn.elu(tf.matmul(x, kernel))
    with tf.variable_scope("head"):
        out = tf.get_variable("kernel", [4, 1], initializer=tf.constant_initializer(0.1))
    predictions = tf.matmul(hidden, out)
    loss = tf.losses.mean_squared_error(y, predictions)
    mean_loss, update_mean = tf.metrics.mean(loss)
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("head", out)
    only_loss = tf.summary.scalar("mean_loss", mean_loss)

    global_step = tf.train.get_or_create_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.02).minimize(loss, global_step)
    train_op = tf.group(train_op, update_mean)

    restorer = tf.train.Saver({"encoder/kernel": kernel})
    seen = {}

    def init_fn(scaffold, session):
        restorer.restore(session, checkpoint)
        session.run(iterator.initializer, feed_dict={x_placeholder: x_values, y_placeholder: y_values})
        seen["step_at_init"] = int(session.run(global_step))

    scaffold = tf.train.Scaffold(
        init_fn=init_fn,
        local_init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer()),
        summary_op=tf.summary.merge([only_loss]),
        saver=tf.train.Saver(max_to_keep=1, save_relative_paths=True))

    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=model_dir, scaffold=scaffold, save_checkpoint_steps=10, save_summaries_steps=6,
            hooks=[tf.train.StopAtStepHook(last_step=24)]) as sess:
        while not sess.should_stop():
            _, loss_value = sess.run([train_op, loss])

    tags = set()
    for path in sorted(tf.gfile.Glob(os.path.join(model_dir, "events*"))):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                if not value.tag.startswith("global_step"):
                    tags.add(value.tag)
    print(json.dumps({
        "step": int(tf.train.load_variable(model_dir, "global_step")), "loss": float(loss_value), "tags": sorted(tags),
        "step_at_init": seen["step_at_init"],
        "checkpoints": sorted(n for n in os.listdir(model_dir) if n.endswith(".index")),
        "state": [p for p in tf.train.get_checkpoint_state(model_dir).all_model_checkpoint_paths][0].split("/")[-1],
    }))


if __name__ == "__main__":
    main()
