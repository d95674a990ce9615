"""Metrics of every kind in eval_metric_ops, one of them made by hand, and add_metrics; summaries in model_fn."""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.estimator import estimator as estimator_lib
from tensorflow.python.estimator import model_fn as model_fn_lib
from tensorflow.python.estimator import run_config as run_config_lib

MODE = model_fn_lib.ModeKeys


def geometric_mean(values, name):
    """A metric of two variables: the mean of logarithms."""
    with tf.variable_scope(name):
        total = tf.get_variable("total", [], initializer=tf.zeros_initializer(), trainable=False,
                                collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES])
        count = tf.get_variable("count", [], initializer=tf.zeros_initializer(), trainable=False,
                                collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES])
    update = tf.group(tf.assign_add(total, tf.reduce_sum(tf.log(values))),
                      tf.assign_add(count, tf.to_float(tf.size(values))))
    value = tf.exp(total / tf.maximum(count, 1.0))
    with tf.control_dependencies([update]):
        update_op = tf.exp(total.read_value() / tf.maximum(count.read_value(), 1.0))
    return value, update_op


def model_fn(features, labels, mode):
    w = tf.get_variable("w", initializer=np.linspace(-0.4, 0.4, 18).reshape(6, 3).astype(np.float32))
    logits = tf.matmul(features, w)
    probabilities = tf.nn.softmax(logits)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    tf.summary.scalar("largest", tf.reduce_max(probabilities))
    tf.summary.histogram("probabilities", probabilities)
    if mode == MODE.TRAIN:
        train_op = tf.train.AdagradOptimizer(0.3).minimize(loss, tf.train.get_global_step())
        return model_fn_lib.EstimatorSpec(mode, loss=loss, train_op=train_op)
    predicted = tf.argmax(logits, 1)
    is_zero = tf.equal(labels, 0)
    metrics = {
        "accuracy": tf.metrics.accuracy(labels, predicted),
        "per_class": tf.metrics.mean_per_class_accuracy(labels, predicted, num_classes=3),
        "precision": tf.metrics.precision(is_zero, tf.equal(predicted, 0)),
        "recall": tf.metrics.recall(is_zero, tf.equal(predicted, 0)),
        "auc": tf.metrics.auc(is_zero, probabilities[:, 0], num_thresholds=60),
        "geometric": geometric_mean(tf.reduce_max(probabilities, axis=1), "geometric"),
    }
    return model_fn_lib.EstimatorSpec(mode, predictions={"predicted": predicted}, loss=loss, eval_metric_ops=metrics)


def input_fn():
    rng = np.random.RandomState(6)
    labels = rng.randint(0, 3, 66)
    x = rng.randn(66, 6)
    x[np.arange(66), labels] += 1
    return tf.data.Dataset.from_tensor_slices((x.astype(np.float32), labels.astype(np.int64))).batch(11)


def main():
    config = run_config_lib.RunConfig(save_summary_steps=5, save_checkpoints_secs=None, save_checkpoints_steps=12)
    estimator = estimator_lib.Estimator(model_fn, model_dir=sys.argv[1] + "/metrics", config=config)
    estimator = tf.contrib.estimator.add_metrics(
        estimator, lambda labels, predictions: {"wrong": tf.metrics.mean(
            tf.to_float(tf.not_equal(labels, predictions["predicted"])))})
    for _ in range(4):
        estimator.train(input_fn)
    result = estimator.evaluate(input_fn, name="holdout")
    tags = sorted({value.tag for path in tf.gfile.Glob(estimator.eval_dir("holdout") + "/*")
                   for event in tf.train.summary_iterator(path) for value in event.summary.value})
    train_tags = sorted({value.tag for path in tf.gfile.Glob(estimator.model_dir + "/events*")
                         for event in tf.train.summary_iterator(path) for value in event.summary.value})
    print(json.dumps(dict({name: float(value) for name, value in result.items()}, step=int(result["global_step"]),
                          tags=tags, train_tags=train_tags)))


if __name__ == "__main__":
    main()
