"""A compiled tf.keras model turned into an Estimator, only to be trained with hooks."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

MODEL_DIR = os.path.join(sys.argv[1], "keras_model")


class LossesHook(tf.train.SessionRunHook):
    """Counts the steps and the global step at both ends."""

    def begin(self):
        self.steps = 0
        self.global_step = tf.train.get_global_step()

    def after_create_session(self, session, coord):
        self.first = int(session.run(self.global_step))

    def after_run(self, run_context, run_values):
        self.steps += 1

    def end(self, session):
        self.last = int(session.run(self.global_step))


def data():
    rng = np.random.RandomState(14)
    x = rng.randn(80, 6).astype(np.float32)
    return x, (x[:, :1] - x[:, 1:2] * x[:, 2:3]).astype(np.float32)


def input_fn():
    x, y = data()
    return tf.data.Dataset.from_tensor_slices(({"features": x}, y)).repeat().batch(16)


def init(seed, *shape):
    return tf.keras.initializers.Constant(np.random.RandomState(seed).normal(0, 0.4, shape))


def main():
    inputs = tf.keras.layers.Input(shape=(6,), name="features")
    x = tf.keras.layers.Dense(10, activation="relu", kernel_initializer=init(1, 6, 10))(inputs)
    outputs = tf.keras.layers.Dense(1, kernel_initializer=init(2, 10, 1))(x)
    model = tf.keras.Model(inputs=inputs, outputs=outputs)
    model.compile(optimizer=tf.keras.optimizers.SGD(0.05), loss="mse")

    hook = LossesHook()
    hooks = [hook, tf.train.LoggingTensorHook(["global_step"], every_n_iter=20)]
    estimator = tf.keras.estimator.model_to_estimator(keras_model=model, model_dir=MODEL_DIR)
    estimator.train(input_fn, hooks=hooks, steps=40)

    result = estimator.evaluate(input_fn, steps=5)
    print(json.dumps({"step": hook.last, "loss": float(result["loss"]), "steps": hook.steps, "first": hook.first}))


if __name__ == "__main__":
    main()
