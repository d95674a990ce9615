"""The loop that everybody wrote: a session, a few hooks, and nothing in the loop but the train op."""
import json
import sys

import numpy as np
import tensorflow as tf

model_dir = sys.argv[1]
rng = np.random.RandomState(0)
points = rng.randn(120, 6).astype("float32")
classes = (points[:, 0] + points[:, 1] > 0).astype("int64")

x, labels = tf.data.Dataset.from_tensor_slices((points, classes)).repeat().batch(20).make_one_shot_iterator().get_next()
weights = tf.get_variable("weights", [6, 2], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.matmul(x, weights)))
tf.summary.scalar("loss", loss)
train_op = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=tf.train.get_or_create_global_step())

hooks = [tf.train.StopAtStepHook(last_step=60), tf.train.NanTensorHook(loss)]
with tf.train.MonitoredTrainingSession(
        checkpoint_dir=model_dir, hooks=hooks, save_checkpoint_steps=30, save_summaries_steps=20) as sess:
    while not sess.should_stop():
        sess.run(train_op)

scores = points.dot(tf.train.load_variable(model_dir, "weights"))
scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
print(json.dumps({"step": int(tf.train.load_variable(model_dir, "global_step")),
                  "loss": float(-scores[np.arange(120), classes].mean())}))
