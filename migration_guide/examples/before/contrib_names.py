"""Names that are gone: contrib's global step and hyperparameters, old reductions, a session made of a creator."""
import json
import sys

import numpy as np
import tensorflow as tf

hparams = tf.contrib.training.HParams(rate=0.1, steps=40, batch=10)
hparams.parse("rate=0.2")

rng = np.random.RandomState(4)
data = rng.rand(50, 3).astype("float32")
x = tf.data.Dataset.from_tensor_slices(data).apply(
    tf.contrib.data.shuffle_and_repeat(1)).batch(hparams.batch).make_one_shot_iterator().get_next()
w = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.reduce_sum(tf.square(x - w), reduction_indices=[1]))
global_step = tf.contrib.framework.get_or_create_global_step()
train_op = tf.train.AdagradOptimizer(hparams.rate).minimize(loss, global_step=global_step)

saver = tf.train.CheckpointSaverHook(sys.argv[1], save_steps=20)
with tf.train.MonitoredSession(
        session_creator=tf.train.ChiefSessionCreator(checkpoint_dir=sys.argv[1]),
        hooks=[saver, tf.train.StopAtStepHook(num_steps=hparams.steps)]) as sess:
    while not sess.should_stop():
        sess.run(train_op)

w_value = tf.train.load_variable(sys.argv[1], "w")
print(json.dumps({"step": int(tf.train.load_variable(sys.argv[1], "global_step")),
                  "loss": float(np.mean(np.sum((data - w_value) ** 2, axis=1)))}))
