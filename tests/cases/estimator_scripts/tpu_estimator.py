"""tf.contrib.tpu.TPUEstimator with use_tpu=False, as most public scripts run it: batch sizes from params, scaffold_fn."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

tf.app.flags.DEFINE_bool("use_tpu", False, "Use TPUs rather than plain CPUs")
tf.app.flags.DEFINE_string("tpu_name", None, "Name of the TPU")
tf.app.flags.DEFINE_integer("iterations", 5, "Steps a call")
tf.app.flags.DEFINE_integer("train_steps", 40, "Steps")
FLAGS = tf.app.flags.FLAGS


def metric_fn(labels, predictions):
    return {"mae": tf.metrics.mean_absolute_error(labels, predictions)}


def model_fn(features, labels, mode, config, params):
    del config
    x = features["x"]
    w = tf.get_variable("w", [x.shape[1], 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    predictions = tf.matmul(x, w) + b
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, predictions={"y": predictions})
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op, host_call = None, None
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.AdagradOptimizer(params["rate"])
        if params["use_tpu"]:
            optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())

    def scaffold_fn():
        return tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=1))

    return tf.contrib.tpu.TPUEstimatorSpec(
        mode=mode, loss=loss, train_op=train_op, eval_metrics=(metric_fn, [labels, predictions]),
        scaffold_fn=scaffold_fn, host_call=host_call)


def make_input_fn(seed, training):
    def input_fn(params):
        batch_size = params["batch_size"]
        x = np.random.RandomState(seed).randn(64, 3).astype(np.float32)
        y = x.dot([[1.0], [0.5], [-0.5]]).astype(np.float32) + 2
        dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
        if training:
            dataset = dataset.repeat()
        return dataset.batch(batch_size, drop_remainder=True)

    return input_fn


def main(_):
    run_config = tf.contrib.tpu.RunConfig(
        model_dir=os.path.join(sys.argv[1], "tpu"), save_checkpoints_steps=20,
        tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=FLAGS.iterations, num_shards=8))
    estimator = tf.contrib.tpu.TPUEstimator(
        use_tpu=FLAGS.use_tpu, model_fn=model_fn, config=run_config, train_batch_size=16, eval_batch_size=8,
        predict_batch_size=4, params={"rate": 0.5, "use_tpu": FLAGS.use_tpu})
    estimator.train(input_fn=make_input_fn(0, True), max_steps=FLAGS.train_steps)
    result = estimator.evaluate(input_fn=make_input_fn(1, False), steps=6)
    predictions = estimator.predict(input_fn=make_input_fn(2, False))
    first = [float(next(predictions)["y"][0]) for _ in range(3)]
    state = tf.train.get_checkpoint_state(estimator.model_dir)
    print(json.dumps({"step": int(result["global_step"]), "loss": float(result["loss"]), "mae": float(result["mae"]),
                      "first": first, "kept": [os.path.basename(p) for p in state.all_model_checkpoint_paths]}))


if __name__ == "__main__":
    tf.app.run()
