"""tf.keras layers as the model of a monitored session: placeholders go through layers, a v1 optimizer trains."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

layers = tf.keras.layers
CKPT = os.path.join(sys.argv[1], "keras_layers")


def constant(seed, *shape):
    return tf.keras.initializers.Constant(np.random.RandomState(seed).normal(0, 0.3, shape))


def build(x):
    h = layers.Dense(12, activation="relu", kernel_initializer=constant(1, 9, 12), name="hidden")(x)
    h = layers.Reshape((3, 4))(h)
    h = layers.Conv1D(5, 2, kernel_initializer=constant(2, 2, 4, 5), name="conv")(h)
    h = layers.GlobalAveragePooling1D()(h)
    return layers.Dense(2, kernel_initializer=constant(3, 5, 2), name="logits")(h)


def main():
    rng = np.random.RandomState(19)
    x_data = rng.randn(64, 9).astype(np.float32)
    y_data = (np.abs(x_data).sum(1) > 7).astype(np.int64)
    x = tf.placeholder(tf.float32, [None, 9])
    y = tf.placeholder(tf.int64, [None])
    logits = build(x)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, global_step=step)
    shapes = [v.shape.as_list() for v in tf.trainable_variables()]

    with tf.train.MonitoredTrainingSession(checkpoint_dir=CKPT, save_summaries_steps=None,
                                           save_summaries_secs=None) as sess:
        for i in range(36):
            part = slice(i % 4 * 16, i % 4 * 16 + 16)
            sess.run(train_op, {x: x_data[part], y: y_data[part]})
        loss_value, step_value = sess.run([loss, step], {x: x_data, y: y_data})

    print(json.dumps({"step": int(step_value), "loss": float(loss_value), "shapes": shapes}))


main()
