"""Train, restore into another graph, evaluate by Saver.restore and by a session without a chief's duties; resume."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

TRAIN_DIR = os.path.join(sys.argv[1], "train")
EVAL_DIR = os.path.join(sys.argv[1], "eval")


def data(training):
    rng = np.random.RandomState(0 if training else 1)
    x = rng.uniform(-1, 1, (100, 2)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.float32)
    return x, y


def graph(training):
    x, y = data(training)
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        dataset = dataset.repeat()
    x, y = dataset.batch(20).make_one_shot_iterator().get_next()
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        w1 = tf.get_variable("w1", initializer=np.random.RandomState(2).randn(2, 10).astype(np.float32))
        b1 = tf.get_variable("b1", shape=[10], initializer=tf.zeros_initializer())
        w2 = tf.get_variable("w2", initializer=np.random.RandomState(3).randn(10).astype(np.float32) * 0.2)
    logits = tf.tensordot(tf.nn.relu(tf.nn.xw_plus_b(x, w1, b1)), w2, axes=1)
    loss = tf.losses.sigmoid_cross_entropy(y, logits)
    return y, logits, loss


def train(last_step):
    with tf.Graph().as_default():
        _, _, loss = graph(True)
        step = tf.train.get_or_create_global_step()
        ema = tf.train.ExponentialMovingAverage(0.95)
        optimize = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=step)
        with tf.control_dependencies([optimize]):
            train_op = ema.apply(tf.trainable_variables())
        with tf.train.MonitoredTrainingSession(
                checkpoint_dir=TRAIN_DIR, save_checkpoint_steps=15,
                hooks=[tf.train.StopAtStepHook(last_step=last_step)]) as sess:
            while not sess.should_stop():
                sess.run(train_op)


def evaluate(averaged):
    with tf.Graph().as_default():
        y, logits, loss = graph(False)
        labels = tf.cast(y, tf.int64)
        predicted = tf.cast(logits > 0, tf.int64)
        metrics = {
            "accuracy": tf.metrics.accuracy(labels, predicted),
            "auc": tf.metrics.auc(labels, tf.sigmoid(logits), num_thresholds=50),
            "loss": tf.metrics.mean(loss),
        }
        values = {name: value for name, (value, _) in metrics.items()}
        updates = tf.group(*[update for _, update in metrics.values()])
        step = tf.train.get_or_create_global_step()
        if averaged:
            variables = tf.train.ExponentialMovingAverage(0.95).variables_to_restore()
        else:
            variables = tf.global_variables()
        saver = tf.train.Saver(variables)
        newest = os.path.basename(tf.train.latest_checkpoint(TRAIN_DIR))
        # Two files of the same second would have the same name.
        writer = tf.summary.FileWriter(EVAL_DIR, filename_suffix="." + newest)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(tf.local_variables_initializer())
            saver.restore(sess, tf.train.latest_checkpoint(TRAIN_DIR))
            while True:
                try:
                    sess.run(updates)
                except tf.errors.OutOfRangeError:
                    break
            results = sess.run(values)
            results["step"] = sess.run(step)
        summary = tf.Summary()
        for name in sorted(values):
            summary.value.add(tag="eval/" + name, simple_value=float(results[name]))
        writer.add_summary(summary, results["step"])
        writer.close()
        return {name: float(value) for name, value in results.items()}


train(30)
first = evaluate(averaged=False)
train(60)
second = evaluate(averaged=False)
average = evaluate(averaged=True)
events = sorted({(e.step, v.tag) for path in tf.gfile.Glob(EVAL_DIR + "/*")
                 for e in tf.train.summary_iterator(path) for v in e.summary.value})
print(json.dumps({"step": int(second["step"]), "loss": second["loss"], "first": first, "second": second,
                  "averaged": average, "events": [list(e) for e in events]}))
