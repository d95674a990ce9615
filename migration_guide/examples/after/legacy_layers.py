"""tf.layers: dense layers, batch normalisation with its update operations, dropout that is off."""
import json
import sys

import numpy as np
import bridge
import keras
import bridge.legacy_keras
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

rng = np.random.RandomState(5)
images = rng.rand(60, 8).astype("float32")
labels = (images[:, 0] > images[:, 1]).astype("int64")


def network(x, training):
    weights = tf.constant_initializer(np.random.RandomState(6).randn(8, 16).astype("float32") * 0.3)
    net = tf.layers.dense(x, 16, kernel_initializer=weights, name="hidden")
    net = tf.nn.relu(tf.layers.batch_normalization(net, training=training, name="norm"))
    net = tf.layers.dropout(net, 0.5, training=False)
    return tf.layers.dense(net, 2, kernel_initializer=tf.zeros_initializer(), name="logits")


x, y = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(15).make_one_shot_iterator().get_next()
loss = tf.losses.sparse_softmax_cross_entropy(y, network(x, True))
global_step = tf.train.get_or_create_global_step()
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = tf.train.GradientDescentOptimizer(0.3).minimize(loss, global_step=global_step)

with bridge.MonitoredTrainingSession(
        checkpoint_dir=sys.argv[1], hooks=[tf.train.StopAtStepHook(last_step=24)]) as sess:
    def after_step(new_value):
        global value
        value = new_value

    sess.fit(
        bridge.GraphModel(train_op, fetches={"new_value": loss}),
        callbacks=[
            keras.callbacks.LambdaCallback(
                on_train_batch_end=lambda batch, logs: after_step(**logs)
            )
        ],
        verbose=0,
    )

print(json.dumps({"step": int(tf.train.load_variable(sys.argv[1], "global_step")), "loss": float(value),
                  "moving_mean": float(tf.train.load_variable(sys.argv[1], "norm/moving_mean").sum())}))
