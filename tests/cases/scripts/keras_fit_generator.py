"""fit_generator, the learning phase, a callback that sets the rate, and get_session: Keras 2 in a v1 session."""
from __future__ import print_function

import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K

session_config = tf.ConfigProto(allow_soft_placement=True)
tf.keras.backend.set_session(tf.Session(config=session_config))
K.set_learning_phase(1)
work_dir = os.environ.get("WORK_DIR", ".")


def batches(x, y, batch_size):
    while True:
        for start in range(0, len(x), batch_size):
            yield x[start:start + batch_size], y[start:start + batch_size]


def ramp(*shape):
    return keras.initializers.Constant(np.linspace(-0.5, 0.5, np.prod(shape)).reshape(shape))


rng = np.random.RandomState(77)
x_train = rng.rand(120, 5).astype(np.float32)
y_train = (x_train ** 2).sum(axis=1, keepdims=True)

model = keras.Sequential()
model.add(keras.layers.Dense(6, activation="elu", input_shape=(5,), kernel_initializer=ramp(5, 6)))
model.add(keras.layers.BatchNormalization(momentum=0.8))
model.add(keras.layers.Dense(1, kernel_initializer=ramp(6, 1)))
model.compile(loss="mse", optimizer=keras.optimizers.SGD(0.05))

rates = []


def schedule(epoch):
    rates.append(0.05 * 0.8 ** epoch)
    return rates[-1]


class History(keras.callbacks.Callback):
    def __init__(self):
        super(History, self).__init__()
        self.batches = 0

    def on_batch_end(self, batch, logs=None):
        self.batches += 1


counter = History()
history = model.fit_generator(
    batches(x_train, y_train, 20), steps_per_epoch=6, epochs=5, verbose=0, workers=1,
    callbacks=[counter, keras.callbacks.LearningRateScheduler(schedule)])

print("rates", rates)
print(json.dumps({"step": counter.batches, "loss": float(history.history["loss"][-1]),
                  "losses": [float(v) for v in history.history["loss"]], "rates": rates}))
