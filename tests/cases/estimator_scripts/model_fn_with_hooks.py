"""A custom model_fn with training hooks, chief hooks and evaluation hooks; train twice, evaluate, predict."""
import json
import os
import sys

import numpy as np
import tensorflow as tf


class StepsHook(tf.estimator.SessionRunHook):
    """Notes its life; several of them show the order."""

    journal = []

    def __init__(self, name):
        self.name = name
        self.steps = 0

    def begin(self):
        self.journal.append(self.name + " begin")

    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(tf.train.get_global_step())

    def after_run(self, run_context, run_values):
        self.steps += 1

    def end(self, session):
        self.journal.append("%s end after %d" % (self.name, self.steps))


def data(seed, n=60):
    rng = np.random.RandomState(seed)
    x = rng.randn(n, 4).astype(np.float32)
    return x, (x[:, 0] * x[:, 1] > 0).astype(np.int32)


def train_input_fn():
    x, y = data(0)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat().batch(20)


def eval_input_fn():
    x, y = data(1, 40)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(10)


def predict_input_fn():
    x, _ = data(2, 5)
    return tf.data.Dataset.from_tensor_slices({"x": x}).batch(2)


def model_fn(features, labels, mode, params):
    net = features["x"]
    for i, units in enumerate(params["units"]):
        with tf.variable_scope("hidden%d" % i):
            value = np.random.RandomState(i).randn(int(net.shape[1]), units).astype(np.float32) * 0.7
            w = tf.get_variable("w", initializer=value)
            b = tf.get_variable("b", shape=[units], initializer=tf.zeros_initializer())
        net = tf.nn.relu(tf.matmul(net, w) + b)
    with tf.variable_scope("logits"):
        value = np.random.RandomState(9).randn(int(net.shape[1]), 2).astype(np.float32) * 0.4
        logits = tf.matmul(net, tf.get_variable("w", initializer=value))

    classes = tf.argmax(logits, axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"classes": classes, "probabilities": tf.nn.softmax(logits)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)

    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels=labels, predictions=classes)}
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops=metrics, evaluation_hooks=[StepsHook("evaluation")])

    optimizer = tf.train.AdamOptimizer(learning_rate=params["learning_rate"])
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op,
        training_hooks=[StepsHook("training"), tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=10)],
        training_chief_hooks=[StepsHook("chief")])


def main():
    tf.logging.set_verbosity(tf.logging.INFO)
    config = tf.estimator.RunConfig(
        model_dir=os.path.join(sys.argv[1], "model"), tf_random_seed=1, save_checkpoints_steps=15,
        save_summary_steps=10, keep_checkpoint_max=2, log_step_count_steps=10)
    classifier = tf.estimator.Estimator(
        model_fn=model_fn, config=config, params={"units": [8, 6], "learning_rate": 0.03})
    classifier.train(input_fn=train_input_fn, steps=20, hooks=[StepsHook("user")])
    classifier.train(input_fn=train_input_fn, steps=20)
    classifier.train(input_fn=train_input_fn, max_steps=30)
    result = classifier.evaluate(input_fn=eval_input_fn)
    predictions = list(classifier.predict(input_fn=predict_input_fn))
    print(json.dumps({
        "step": int(result["global_step"]), "loss": float(result["loss"]), "accuracy": float(result["accuracy"]),
        "classes": [int(p["classes"]) for p in predictions],
        "probabilities": [p["probabilities"].tolist() for p in predictions],
        "journal": StepsHook.journal, "variables": classifier.get_variable_names(),
        "latest": os.path.basename(classifier.latest_checkpoint())}))


if __name__ == "__main__":
    main()
