"""Metrics of all kinds in eval_metric_ops: numbers, arrays, summaries; more by add_metrics."""

import numpy as np

from tests.bridge.estimator.world import IS_V1, as_json, estimator, events, linear, numbers, tf

LABELS = np.random.RandomState(3).randint(0, 2, 30)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((numbers(4, 30, 2), LABELS)).batch(10)


def model_fn(features, labels, mode):
    logits = tf.matmul(
        features, tf.get_variable("w", [2, 2], initializer=tf.constant_initializer([1.0, -1.0, 0.5, 2.0]))
    )
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss, tf.train.get_global_step())
    predicted, scores = tf.argmax(logits, 1), tf.nn.softmax(logits)[:, 1]
    metrics = {
        "accuracy": tf.metrics.accuracy(labels, predicted),
        "auc": tf.metrics.auc(labels, scores),
        "precision": tf.metrics.precision(labels, predicted),
        "recall_at": tf.metrics.recall_at_thresholds(labels, scores, [0.3, 0.6]),
        "mean_tensor": tf.metrics.mean_tensor(tf.reduce_mean(logits, 0)),
        "count": tf.metrics.true_positives(labels, predicted),
        "text": (tf.summary.text("note", tf.constant("hello")), tf.no_op()),
    }
    return estimator.EstimatorSpec(mode, {"class": predicted}, loss, train_op, metrics)


def metric_fn(labels, predictions):
    return {"wrong": tf.metrics.mean(tf.not_equal(labels, predictions["class"]))}


def main(work):
    add_metrics = tf.contrib.estimator.add_metrics if IS_V1 else estimator.add_metrics
    made = add_metrics(linear(work, model_fn).train(input_fn), metric_fn)
    result = {name: value for name, value in made.evaluate(input_fn).items() if name != "text"}
    return as_json({"result": result, "events": events(made.eval_dir())})
