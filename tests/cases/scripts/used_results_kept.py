"""A loop that keeps what it fetched: a list of losses, the best so far, the last value."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import argparse
import json
import os

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("work_dir")
parser.add_argument("--max-steps", type=int, default=40)
parser.add_argument("--batch-size", type=int, default=20)
args = parser.parse_args()


def two_moons(n):
    """Points on two half circles, and which of the two."""
    angles = np.linspace(0, np.pi, n // 2)
    outer = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    inner = np.stack([1 - np.cos(angles), 0.5 - np.sin(angles)], axis=1)
    points = np.concatenate([outer, inner]).astype(np.float32)
    labels = np.concatenate([np.zeros(n // 2), np.ones(n // 2)]).astype(np.float32)[:, None]
    order = np.random.RandomState(3).permutation(n)
    return points[order], labels[order]


def hidden(inputs, units, name, seed):
    """A layer with weights from NumPy's generator."""
    values = np.random.RandomState(seed).randn(int(inputs.shape[1]), units) * 0.5
    with tf.variable_scope(name):
        kernel = tf.get_variable("kernel", initializer=tf.constant(values, tf.float32))
        bias = tf.get_variable("bias", [units], initializer=tf.constant_initializer(0.0))
    return tf.nn.bias_add(tf.matmul(inputs, kernel), bias)


points, labels = two_moons(200)
with tf.Graph().as_default():
    dataset = tf.data.Dataset.from_tensor_slices((points, labels))
    dataset = dataset.batch(args.batch_size).repeat()
    point_batch, label_batch = dataset.make_one_shot_iterator().get_next()

    net = tf.tanh(hidden(point_batch, 8, "first", seed=1))
    logits = hidden(net, 1, "second", seed=2)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=label_batch, logits=logits))
    correct = tf.equal(tf.to_float(tf.greater(logits, 0.0)), label_batch)
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdamOptimizer(learning_rate=0.05)
    train_op = optimizer.minimize(loss, global_step=global_step)

    losses = []
    best = None
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=os.path.join(args.work_dir, "ckpt"),
            save_checkpoint_steps=10,
            hooks=[tf.train.StopAtStepHook(num_steps=args.max_steps)]) as session:
        while not session.should_stop():
            _, loss_value, accuracy_value, step = session.run([train_op, loss, accuracy, global_step])
            losses.append(loss_value)
            if best is None or loss_value < best[1]:
                best = (len(losses), loss_value)
            if step % 20 == 0:
                print("step", step, "loss", loss_value, "accuracy", accuracy_value)

print("best loss %.4f at step %d" % (best[1], best[0]))
print(json.dumps({
    "step": len(losses),
    "loss": float(losses[-1]),
    "accuracy": float(accuracy_value),
    "best_step": int(best[0]),
    "losses": [float(value) for value in losses[::10]],
}))
