"""WarmStartSettings: some variables from an older model_dir, one under another name; the rest from initializers."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

base = sys.argv[1]
rng = np.random.RandomState(3)
X = rng.randn(48, 5).astype(np.float32)
Y = np.tanh(X[:, :1] - X[:, 1:2]).astype(np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(12).repeat()


def make_model_fn(body, rate):
    def model_fn(features, labels, mode):
        with tf.variable_scope(body):
            kernel = tf.get_variable("kernel", [5, 4], initializer=tf.constant_initializer(0.1 * np.eye(5, 4)))
        with tf.variable_scope("head"):
            out = tf.get_variable("kernel", [4, 1], initializer=tf.constant_initializer(0.5))
        predictions = tf.matmul(tf.tanh(tf.matmul(features, kernel)), out)
        loss = None
        train_op = None
        if mode != tf.estimator.ModeKeys.PREDICT:
            loss = tf.losses.mean_squared_error(labels, predictions)
            optimizer = tf.train.MomentumOptimizer(rate, 0.9)
            train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op)

    return model_fn


first = tf.estimator.Estimator(make_model_fn("old_body", 0.1), model_dir=os.path.join(base, "first"))
first.train(input_fn, max_steps=25)
first_loss = first.evaluate(input_fn, steps=4)["loss"]

settings = tf.estimator.WarmStartSettings(
    ckpt_to_initialize_from=os.path.join(base, "first"), vars_to_warm_start=".*body.*",
    var_name_to_prev_var_name={"new_body/kernel": "old_body/kernel"})
second = tf.estimator.Estimator(
    make_model_fn("new_body", 0.02), model_dir=os.path.join(base, "second"), warm_start_from=settings)
second.train(input_fn, steps=1)
after_one = second.get_variable_value("head/kernel")
second.train(input_fn, steps=14)
result = second.evaluate(input_fn, steps=4)

third = tf.estimator.Estimator(
    make_model_fn("old_body", 0.02), model_dir=os.path.join(base, "third"), warm_start_from=os.path.join(base, "first"))
third.train(input_fn, steps=1)

print(json.dumps({"step": int(result["global_step"]), "loss": float(result["loss"]), "first_loss": float(first_loss),
                  "after_one": after_one.ravel().tolist(),
                  "third": third.get_variable_value("head/kernel").ravel().tolist(),
                  "third_step": int(third.get_variable_value("global_step")),
                  "names": second.get_variable_names()}))
