"""Early stopping hooks of tf.estimator.experimental over evaluations in model_dir."""
import json
import os
import sys

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer(params["start"]))
    logits = tf.matmul(features["x"], w)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=logits)
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(0).randn(30, 2).astype(np.float32)
    y = x.dot([[1.0], [2.0]]).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(10)


def repeated_input_fn():
    return input_fn().repeat()


def evaluated_estimator(model_dir):
    """Trains in rounds with an evaluation after each, until the hook has seen enough."""
    estimator = tf.estimator.Estimator(
        model_fn, model_dir, params={"rate": 0.05, "start": [[0.0], [0.0]]},
        config=tf.estimator.RunConfig(save_checkpoints_steps=5))
    os.makedirs(estimator.eval_dir())
    hook = tf.estimator.experimental.stop_if_lower_hook(
        estimator, metric_name="loss", threshold=0.4, min_steps=10, run_every_secs=None, run_every_steps=1)
    steps = []
    for _ in range(10):
        estimator.train(repeated_input_fn, hooks=[hook], steps=5)
        result = estimator.evaluate(input_fn, steps=3)
        steps.append(int(result["global_step"]))
        if len(steps) > 1 and steps[-1] < steps[-2] + 5:
            break
    return steps, float(result["loss"])


def no_decrease(model_dir):
    """A rate that is too high: the loss grows, and the hook stops."""
    estimator = tf.estimator.Estimator(
        model_fn, model_dir, params={"rate": 1.2, "start": [[1.1], [2.1]]},
        config=tf.estimator.RunConfig(save_checkpoints_steps=2))
    os.makedirs(estimator.eval_dir())
    hook = tf.estimator.experimental.stop_if_no_decrease_hook(
        estimator, "loss", max_steps_without_decrease=4, run_every_secs=None, run_every_steps=1)
    for _ in range(6):
        estimator.train(repeated_input_fn, hooks=[hook], steps=2)
        estimator.evaluate(input_fn)
    return int(estimator.get_variable_value("global_step"))


def custom(model_dir):
    estimator = tf.estimator.Estimator(
        model_fn, model_dir, params={"rate": 0.05, "start": [[0.0], [0.0]]})
    os.makedirs(estimator.eval_dir())
    calls = []

    def should_stop():
        calls.append(1)
        return len(calls) > 4

    hook = tf.estimator.experimental.make_early_stopping_hook(
        estimator, should_stop, run_every_secs=None, run_every_steps=3)
    estimator.train(repeated_input_fn, hooks=[hook], max_steps=100)
    return int(estimator.get_variable_value("global_step")), len(calls)


def main():
    steps, loss = evaluated_estimator(os.path.join(sys.argv[1], "lower"))
    no_decrease_step = no_decrease(os.path.join(sys.argv[1], "no_decrease"))
    custom_step, calls = custom(os.path.join(sys.argv[1], "custom"))
    print(json.dumps({"step": steps[-1], "loss": loss, "steps": steps, "no_decrease_step": no_decrease_step,
                      "custom_step": custom_step, "calls": calls}))


if __name__ == "__main__":
    main()
