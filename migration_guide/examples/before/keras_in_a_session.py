"""A tf.keras model under a session that was configured by hand."""
import json
import sys

import numpy as np
import tensorflow as tf

config = tf.ConfigProto(intra_op_parallelism_threads=1, allow_soft_placement=True)
tf.keras.backend.set_session(tf.Session(config=config))

rng = np.random.RandomState(7)
x = rng.randn(80, 5).astype("float32")
y = x[:, :1] * 2 - x[:, 1:2]

kernel = tf.constant_initializer(rng.randn(5, 1).astype("float32") * 0.1)
model = tf.keras.models.Sequential([tf.keras.layers.Dense(1, input_shape=(5,), kernel_initializer=kernel)])
model.compile(optimizer=tf.keras.optimizers.SGD(0.05), loss="mse")
history = model.fit(x, y, batch_size=16, epochs=6, shuffle=False, verbose=0)
model.save_weights(sys.argv[1] + "/model.weights.h5")

print(json.dumps({"step": 5 * len(history.history["loss"]), "loss": float(history.history["loss"][-1])}))
