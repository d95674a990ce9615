"""A regression whose loop prints what it fetched; nothing of it is needed after the loop."""
import json
import os
import sys
import time

import numpy as np
import tensorflow as tf

work_dir = sys.argv[1]
train_dir = os.path.join(work_dir, "train")

rng = np.random.RandomState(7)
features = rng.uniform(-1, 1, size=(256, 4)).astype("float32")
targets = features.dot(np.array([[1.5], [-2.0], [0.5], [3.0]], "float32")) + 0.25
targets += rng.normal(0, 0.5, size=targets.shape).astype("float32")

dataset = tf.data.Dataset.from_tensor_slices((features, targets)).repeat().batch(16)
iterator = tf.data.make_one_shot_iterator(dataset)
x, y = iterator.get_next()

w = tf.get_variable("w", initializer=np.zeros((4, 1), np.float32))
b = tf.get_variable("b", initializer=np.zeros((1,), np.float32))
prediction = tf.matmul(x, w) + b
loss = tf.losses.mean_squared_error(labels=y, predictions=prediction)

global_step = tf.train.create_global_step()
learning_rate = tf.train.exponential_decay(0.2, global_step, decay_steps=20, decay_rate=0.9, staircase=True)
train_op = tf.train.MomentumOptimizer(learning_rate, 0.5).minimize(loss, global_step=global_step)

with tf.train.MonitoredTrainingSession(
        checkpoint_dir=train_dir,
        save_checkpoint_secs=600,
        save_summaries_steps=None,
        save_summaries_secs=None,
        hooks=[tf.train.StopAtStepHook(last_step=50)]) as sess:
    start = time.time()
    while not sess.should_stop():
        _, loss_value, step_value = sess.run([train_op, loss, global_step])
        if step_value % 10 == 0:
            print("step %d: loss = %.4f (%.1f s)" % (step_value, loss_value, time.time() - start))

reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(train_dir))
w_value, b_value = reader.get_tensor("w"), reader.get_tensor("b")
final = float(np.mean(np.square(features.dot(w_value) + b_value - targets)))
print(json.dumps({
    "step": int(reader.get_tensor("global_step")),
    "loss": final,
    "weights": w_value.ravel().tolist(),
    "variables": sorted(reader.get_variable_to_shape_map()),
}))
