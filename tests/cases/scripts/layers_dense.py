"""A bare loop over a model of tf.layers.dense, reused under one scope for training and evaluation."""
import json
import os
import sys
import tensorflow as tf
import numpy as np

FLAGS = None
directory = os.path.join(sys.argv[1], "dense")


def model_fn(features, reuse=False):
    with tf.variable_scope("mlp", reuse=reuse):
        first = np.random.RandomState(0).uniform(-0.5, 0.5, (10, 12))
        second = np.random.RandomState(1).uniform(-0.5, 0.5, (12, 1))
        net = tf.layers.dense(features, units=12, activation=tf.nn.sigmoid, name="fc1",
                              kernel_initializer=tf.constant_initializer(first))
        net = tf.layers.dense(net, 1, name="fc2", kernel_initializer=tf.constant_initializer(second))
    return tf.squeeze(net, squeeze_dims=[1])


def get_batch(features, targets, batch_size, repeat=True):
    data = tf.data.Dataset.from_tensor_slices((features, targets))
    if repeat:
        data = data.repeat()
    return data.batch(batch_size).make_one_shot_iterator().get_next()


rng = np.random.RandomState(33)
features = rng.rand(150, 10).astype(np.float32)
targets = np.log(features.sum(axis=1) + 1)

x, y = get_batch(features, targets, 25)
loss = tf.losses.mean_squared_error(y, model_fn(x))
eval_loss = tf.losses.mean_squared_error(targets, model_fn(tf.constant(features), reuse=True),
                                         loss_collection=None)
global_step = tf.train.get_or_create_global_step()
train_op = tf.train.RMSPropOptimizer(0.01).minimize(loss, global_step=global_step)

with tf.train.MonitoredTrainingSession(
        checkpoint_dir=directory,
        save_checkpoint_steps=20,
        hooks=[tf.train.StopAtStepHook(last_step=45)]) as session:
    while not session.should_stop():
        session.run(train_op)

saver = tf.train.Saver()
with tf.Session() as session:
    saver.restore(session, tf.train.latest_checkpoint(directory))
    step, value = session.run([global_step, eval_loss])
print(json.dumps({"step": int(step), "loss": float(value),
                  "variables": [name for name, _ in tf.train.list_variables(directory)]}))
