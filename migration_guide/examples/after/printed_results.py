"""A loop that looks at what it fetched: it prints the loss every now and then."""
import json
import sys

import numpy as np
import bridge
import keras
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

model_dir = sys.argv[1]
rng = np.random.RandomState(1)
features = rng.uniform(-1, 1, (160, 3)).astype("float32")
targets = features.dot([[2.0], [-1.0], [0.5]]).astype("float32") + 0.25

x, y = tf.data.Dataset.from_tensor_slices((features, targets)).repeat().batch(16).make_one_shot_iterator().get_next()
w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
loss = tf.losses.mean_squared_error(y, tf.matmul(x, w) + b)
global_step = tf.train.get_or_create_global_step()
train_op = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, global_step=global_step)

with bridge.MonitoredTrainingSession(
        checkpoint_dir=model_dir, hooks=[tf.train.StopAtStepHook(last_step=50)]) as sess:
    def after_step(step, loss_value):
        if step % 10 == 0:
            print("step %d: loss %.4f" % (step, loss_value))

    sess.fit(
        bridge.GraphModel(train_op, fetches={"step": global_step, "loss_value": loss}),
        callbacks=[
            keras.callbacks.LambdaCallback(
                on_train_batch_end=lambda batch, logs: after_step(**logs)
            )
        ],
        verbose=0,
    )

w_value, b_value = (tf.train.load_variable(model_dir, name) for name in ("w", "b"))
print(json.dumps({"step": int(tf.train.load_variable(model_dir, "global_step")),
                  "loss": float(np.mean((features.dot(w_value) + b_value - targets) ** 2))}))
