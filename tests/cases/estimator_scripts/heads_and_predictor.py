"""Heads of tf.contrib.estimator and of tf.estimator in a model_fn, keys forwarded, and tf.contrib.predictor."""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib import predictor
from tensorflow.contrib.estimator import multi_head
from tensorflow.python.estimator.canned import head as head_lib

rng = np.random.RandomState(12)
N = 80
x = rng.randn(N, 3).astype(np.float32)
bought = (x[:, 0] + x[:, 1] > 0).astype(np.int64)
price = (x.dot(np.array([[1.0], [2.0], [-1.0]], np.float32)) + 3).astype(np.float32)
ids = np.arange(N).astype(np.int64)


def input_fn(training):
    features = {"x": x, "id": ids}
    dataset = tf.data.Dataset.from_tensor_slices((features, {"bought": bought, "price": price}))
    if training:
        dataset = dataset.repeat()
    return dataset.batch(20)


def model_fn(features, labels, mode, params):
    head = multi_head([
        tf.contrib.estimator.binary_classification_head(name="bought", thresholds=[0.3]),
        tf.estimator.RegressionHead(name="price")], head_weights=[1.0, 0.1])
    columns = [tf.feature_column.numeric_column("x", shape=[3])]
    logits = tf.feature_column.linear_model(features, columns, units=head.logits_dimension)
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(
        tf.train.GradientDescentOptimizer(params["rate"]), 2.0)

    def train_op_fn(loss):
        return optimizer.minimize(loss, global_step=tf.train.get_global_step())

    return head.create_estimator_spec(
        features=features, mode=mode, labels=labels, logits=logits, train_op_fn=train_op_fn)


def one_head(features, labels, mode):
    head = head_lib._binary_logistic_or_multi_class_head(
        n_classes=2, weight_column=None, label_vocabulary=None, loss_reduction=tf.losses.Reduction.SUM)
    logits = tf.layers.dense(features["x"], 1, kernel_initializer=tf.zeros_initializer())
    return head.create_estimator_spec(
        features, mode, logits, labels=None if labels is None else labels["bought"],
        optimizer=tf.train.AdamOptimizer(0.1))


def serving_input_fn():
    inputs = {"x": tf.placeholder(tf.float32, [None, 3]), "id": tf.placeholder(tf.int64, [None])}
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)


def main():
    work = sys.argv[1]
    config = tf.estimator.RunConfig(save_summary_steps=10, tf_random_seed=1)
    estimator = tf.estimator.Estimator(model_fn, os.path.join(work, "two"), config, {"rate": 0.1})
    estimator.train(lambda: input_fn(True), steps=40)
    result = estimator.evaluate(lambda: input_fn(False))
    first = next(estimator.predict(lambda: input_fn(False)))

    single = tf.contrib.estimator.forward_features(
        tf.estimator.Estimator(one_head, os.path.join(work, "one"), config), keys=["id"])
    single.train(lambda: input_fn(True), steps=40)
    keyed = [[int(p["id"]), int(p["class_ids"][0])] for p in single.predict(lambda: input_fn(False))][:6]

    feed = {"x": x[:3], "id": ids[:3]}
    served = predictor.from_saved_model(
        single.export_savedmodel(os.path.join(work, "export"), serving_input_fn).decode(), "predict")(feed)
    asked = predictor.from_estimator(estimator, serving_input_fn, output_key="predict")(feed)

    print(json.dumps({
        "step": int(result["global_step"]), "loss": float(result["loss"]),
        "metrics": {name: float(value) for name, value in sorted(result.items())},
        "price": float(first[("price", "predictions")][0]), "keyed": keyed,
        "served_ids": served["id"].tolist(), "logistic": served["logistic"].ravel().tolist(),
        "asked": asked["price/predictions"].ravel().tolist(),
        "variables": estimator.get_variable_names(), "single_variables": single.get_variable_names()}))


if __name__ == "__main__":
    main()
