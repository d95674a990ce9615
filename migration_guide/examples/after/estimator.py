"""An Estimator with a model_fn, hooks in its spec and in train(), evaluated and used."""
import json
import sys

import numpy as np
import bridge
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

rng = np.random.RandomState(8)
x = rng.randn(90, 4).astype("float32")
y = (x[:, 0] - x[:, 2] > 0).astype("int64")


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(4).batch(15)


def model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [4, 2], initializer=tf.zeros_initializer())
    logits = tf.matmul(features["x"], w)
    classes = tf.argmax(logits, axis=1)
    if mode == bridge.estimator.ModeKeys.PREDICT:
        return bridge.estimator.EstimatorSpec(mode, predictions={"class": classes})
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == bridge.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, classes)}
        return bridge.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(params["rate"]).minimize(loss, global_step=tf.train.get_global_step())
    nan_hook = tf.train.NanTensorHook(loss)
    return bridge.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[nan_hook])


config = bridge.estimator.RunConfig(model_dir=sys.argv[1], save_checkpoints_steps=10, tf_random_seed=1)
classifier = bridge.estimator.Estimator(model_fn, config=config, params={"rate": 0.05})
classifier.train(input_fn, hooks=[tf.train.StopAtStepHook(last_step=20)])
result = classifier.evaluate(input_fn)
classes = [int(p["class"]) for p in classifier.predict(input_fn)][:90]

print(json.dumps({"step": int(result["global_step"]), "loss": float(result["loss"]),
                  "accuracy": float(result["accuracy"]), "right": int(np.sum(classes == y))}))
