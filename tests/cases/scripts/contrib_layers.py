"""What is left of tf.contrib in small scripts: layers, framework, training.HParams, opt, metrics' successors."""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers
from tensorflow.contrib.framework import get_or_create_global_step
from tensorflow.contrib.training import HParams

hparams = HParams(units=[10, 6], learning_rate=0.03, l2=1e-3, activation="relu")
hparams.parse("learning_rate=0.05")


def build(x, hp):
    activation = getattr(tf.nn, hp.activation)
    regularizer = layers.l2_regularizer(hp.l2)
    net = x
    for i, units in enumerate(hp.units):
        value = np.random.RandomState(i).randn(int(net.shape[-1]), units) * 0.4
        net = layers.fully_connected(net, units, activation_fn=activation, weights_regularizer=regularizer,
                                     weights_initializer=tf.constant_initializer(value), scope="fc%d" % i)
    net = layers.layer_norm(net, scope="norm")
    value = np.random.RandomState(9).randn(hp.units[-1], 1) * 0.4
    return layers.fully_connected(net, 1, activation_fn=None,
                                  weights_initializer=tf.constant_initializer(value), scope="out")


def main():
    directory = os.path.join(sys.argv[1], "contrib")
    rng = np.random.RandomState(17)
    x_data = rng.randn(72, 5).astype(np.float32)
    y_data = np.abs(x_data).max(axis=1, keepdims=True)

    x = tf.placeholder(tf.float32, [None, 5])
    y = tf.placeholder(tf.float32, [None, 1])
    out = build(x, hparams)
    mse = tf.losses.mean_squared_error(y, out)
    regularization = tf.reduce_sum(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    loss = mse + regularization
    step = get_or_create_global_step()
    optimizer = tf.train.AdamOptimizer(hparams.learning_rate)
    gradients = [(tf.clip_by_norm(gradient, 1.0), variable) for gradient, variable in optimizer.compute_gradients(loss)]
    train_op = optimizer.apply_gradients(gradients, global_step=step)

    with tf.train.MonitoredTrainingSession(checkpoint_dir=directory, save_summaries_steps=None,
                                           save_summaries_secs=None) as sess:
        for i in range(30):
            part = slice(i % 6 * 12, i % 6 * 12 + 12)
            sess.run(train_op, feed_dict={x: x_data[part], y: y_data[part]})
        loss_value, mse_value, step_value = sess.run([loss, mse, step], feed_dict={x: x_data, y: y_data})

    print(json.dumps({"step": int(step_value), "loss": float(loss_value), "mse": float(mse_value),
                      "hparams": json.loads(hparams.to_json()),
                      "trainable": [v.op.name for v in tf.contrib.framework.get_trainable_variables()]}))


if __name__ == "__main__":
    main()
