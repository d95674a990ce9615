"""Hooks in evaluate and predict, prediction_hooks in the spec, an older checkpoint, InMemoryEvaluatorHook."""
import json
import os
import sys

import numpy as np
import tensorflow as tf


class Collect(tf.train.SessionRunHook):
    """Collects a tensor by name in every run, whichever mode it is."""

    def __init__(self, name):
        self.name, self.values = name, []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.get_default_graph().get_tensor_by_name(self.name))

    def after_run(self, run_context, run_values):
        self.values.append(float(np.sum(run_values.results)))


counts = {"prediction": 0}


class Count(tf.train.SessionRunHook):
    def after_run(self, run_context, run_values):
        counts["prediction"] += 1


def model_fn(features, labels, mode, params):
    a = tf.get_variable("a", [], initializer=tf.constant_initializer(0.1))
    b = tf.get_variable("b", [], initializer=tf.constant_initializer(0.0))
    y = tf.add(a * features, b, name="y")
    spec = {"mode": mode, "predictions": y, "prediction_hooks": [Count()]}
    if mode != tf.estimator.ModeKeys.PREDICT:
        spec["loss"] = tf.reduce_mean(tf.abs(y - labels))
        spec["eval_metric_ops"] = {"mean_y": tf.metrics.mean(y)}
        spec["train_op"] = tf.train.RMSPropOptimizer(params["rate"]).minimize(spec["loss"], tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(**spec)


def input_fn(repeat=None):
    x = np.linspace(0, 2, 24).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, 3 * x - 1)).repeat(repeat).batch(8).make_one_shot_iterator().get_next()


def main():
    estimator = tf.estimator.Estimator(
        model_fn, model_dir=os.path.join(sys.argv[1], "hooks"), params=tf.contrib.training.HParams(rate=0.05).values(),
        config=tf.estimator.RunConfig(save_checkpoints_steps=10, keep_checkpoint_max=None))
    os.makedirs(estimator.eval_dir("memory"))
    memory = tf.estimator.experimental.InMemoryEvaluatorHook(
        estimator, lambda: input_fn(1), name="memory", every_n_iter=8)
    estimator.train(input_fn, hooks=[memory], max_steps=30)

    collect = Collect("y:0")
    now = estimator.evaluate(lambda: input_fn(1), hooks=[collect])
    old_path = os.path.join(estimator.model_dir, "model.ckpt-10")
    old = estimator.evaluate(lambda: input_fn(1), checkpoint_path=old_path, name="old", steps=2)
    predicting = Collect("y:0")
    predictions = list(estimator.predict(
        lambda: input_fn(1), hooks=[predicting], checkpoint_path=old_path, yield_single_examples=False))
    in_memory = [event.step for path in tf.gfile.Glob(estimator.eval_dir("memory") + "/*")
                 for event in tf.train.summary_iterator(path) for value in event.summary.value if value.tag == "loss"]
    print(json.dumps({
        "step": int(now["global_step"]), "loss": float(now["loss"]), "mean_y": float(now["mean_y"]),
        "old": {name: float(value) for name, value in old.items()}, "collected": collect.values,
        "predicting": predicting.values, "batches": [len(p) for p in predictions], "counts": counts,
        "in_memory": sorted(in_memory)}))


if __name__ == "__main__":
    main()
