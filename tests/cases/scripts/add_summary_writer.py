"""Summaries written by hand beside the session's own: FileWriter, add_summary, tf.Summary, FileWriterCache."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

logs = os.path.join(sys.argv[1], "logs")
train_logs = os.path.join(logs, "train")
test_logs = os.path.join(logs, "test")

rng = np.random.RandomState(55)
x_np = rng.randn(80, 3).astype(np.float32)
y_np = (x_np.dot([[1.0], [0.0], [-1.0]]) + 0.3).astype(np.float32)

x = tf.placeholder(tf.float32, [None, 3], name="input")
y = tf.placeholder(tf.float32, [None, 1], name="label")
with tf.name_scope("model"):
    w = tf.get_variable("w", initializer=np.zeros((3, 1), np.float32))
    b = tf.get_variable("b", initializer=np.zeros((1,), np.float32))
    out = tf.add(tf.matmul(x, w), b, name="out")
with tf.name_scope("train"):
    loss = tf.losses.absolute_difference(y, out)
    global_step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=global_step)
tf.summary.scalar("loss", loss)
tf.summary.histogram("weights", w)
tf.summary.text("note", tf.constant("by hand"))
merged = tf.summary.merge_all()

writer = tf.summary.FileWriter(train_logs, tf.get_default_graph())
test_writer = tf.summary.FileWriterCache.get(test_logs)
with tf.train.MonitoredTrainingSession(
        checkpoint_dir=logs, save_summaries_steps=None, save_summaries_secs=None,
        hooks=[tf.train.StopAtStepHook(last_step=24)]) as sess:
    i = 0
    while not sess.should_stop():
        batch = slice(i % 4 * 20, i % 4 * 20 + 20)
        if i % 6 == 5:
            summary, loss_value, _ = sess.run([merged, loss, train_op], feed_dict={x: x_np[batch], y: y_np[batch]})
            writer.add_summary(summary, i)
            test_writer.add_summary(
                tf.Summary(value=[tf.Summary.Value(tag="batch_loss", simple_value=loss_value)]), i)
        else:
            sess.run(train_op, feed_dict={x: x_np[batch], y: y_np[batch]})
        i += 1
writer.close()
test_writer.flush()


def read(directory):
    found = []
    for path in sorted(tf.gfile.Glob(os.path.join(directory, "*tfevents*"))):
        for event in tf.train.summary_iterator(path):
            found += [[event.step, value.tag] for value in event.summary.value]
    return found


print(json.dumps({"step": i, "loss": float(loss_value), "train": read(train_logs), "test": read(test_logs),
                  "saved": os.path.basename(tf.train.latest_checkpoint(logs))}))
