"""A Keras model through model_to_estimator, driven by train_and_evaluate with hooks in the specs."""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras

MODEL_DIR = os.path.join(sys.argv[1], "keras")


class Ends(tf.estimator.SessionRunHook):
    def __init__(self):
        self.ends = []

    def end(self, session):
        self.ends.append(int(session.run(tf.train.get_global_step())))


def dataset(seed, repeat):
    rng = np.random.RandomState(seed)
    x = rng.rand(60, 8).astype(np.float32)
    y = (x.mean(axis=1, keepdims=True) > 0.5).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(repeat).batch(12)


model = keras.Sequential([
    keras.layers.Dense(6, activation="relu", input_shape=(8,),
                       kernel_initializer=keras.initializers.Constant(np.linspace(-0.5, 0.5, 48).reshape(8, 6))),
    keras.layers.Dense(1, activation="sigmoid", kernel_initializer=keras.initializers.Constant(0.2)),
])
model.compile(loss="binary_crossentropy", optimizer=keras.optimizers.SGD(0.3), metrics=["accuracy"])
estimator = keras.estimator.model_to_estimator(
    model, model_dir=MODEL_DIR, config=tf.estimator.RunConfig(save_checkpoints_steps=25))
train_ends, eval_ends = Ends(), Ends()
tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(lambda: dataset(0, None), max_steps=50, hooks=[train_ends]),
    tf.estimator.EvalSpec(lambda: dataset(1, 1), steps=None, hooks=[eval_ends], throttle_secs=0, start_delay_secs=0))
result = estimator.evaluate(lambda: dataset(1, 1))
print(json.dumps({"step": int(result["global_step"]), "loss": float(result["loss"]),
                  "accuracy": float(result.get("accuracy", result.get("acc"))), "train_ends": train_ends.ends, "eval_ends": eval_ends.ends}))
