"""tf.contrib.layers and slim with batch_norm, optimize_loss, smart_cond and a local variable: what tf_slim looks for in moved places."""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers as contrib_layers
from tensorflow.contrib.framework import arg_scope, local_variable
from tensorflow.contrib.layers.python.layers import utils

slim = tf.contrib.slim
WORK_DIR = os.path.join(sys.argv[1], "slim_batch_norm")


def initial(seed, *shape):
    return tf.constant_initializer(np.random.RandomState(seed).normal(0, 0.35, shape))


def network(images, training):
    normalized = {"normalizer_fn": slim.batch_norm, "normalizer_params": {"is_training": training, "decay": 0.8}}
    with arg_scope([slim.conv2d], activation_fn=tf.nn.relu, **normalized):
        net = slim.conv2d(images, 4, [3, 3], weights_initializer=initial(1, 3, 3, 1, 4), scope="conv1")
    net = utils.smart_cond(training, lambda: net * 1.0, lambda: net)
    net = contrib_layers.flatten(slim.avg_pool2d(net, [2, 2], scope="pool1"))
    net = contrib_layers.batch_norm(net, scale=True, is_training=training, scope="norm2", decay=0.8)
    return contrib_layers.linear(net, 3, weights_initializer=initial(2, 36, 3), scope="fc")


def data():
    rng = np.random.RandomState(3)
    labels = rng.randint(0, 3, 60)
    images = rng.rand(60, 6, 6, 1).astype(np.float32)
    for image, label in zip(images, labels):
        image[2 * label:2 * label + 2] += 1.0
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    return dataset.apply(tf.contrib.data.batch_and_drop_remainder(15)).repeat().make_one_shot_iterator().get_next()


def train():
    images, labels = data()
    loss = tf.losses.sparse_softmax_cross_entropy(labels, network(images, True))
    seen = local_variable(tf.constant(0), name="seen")
    train_op = contrib_layers.optimize_loss(
        loss, tf.train.get_or_create_global_step(), 0.05, "SGD", clip_gradients=1.0,
        summaries=["loss", "gradient_norm"])
    count = tf.assign_add(seen, 1)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=WORK_DIR, save_checkpoint_steps=10,
                                           hooks=[tf.train.StopAtStepHook(last_step=20)]) as sess:
        while not sess.should_stop():
            value, number = sess.run([train_op, count])
    return float(value), int(number)


def evaluate():
    images, labels = data()
    logits = network(images, False)
    total = slim.losses.sparse_softmax_cross_entropy(logits, labels)
    with tf.train.SingularMonitoredSession(checkpoint_dir=WORK_DIR) as sess:
        return float(sess.run(total))


def main():
    with tf.Graph().as_default():
        loss, seen = train()
    with tf.Graph().as_default():
        tested = evaluate()
    names = sorted(name for name, _ in tf.train.list_variables(WORK_DIR))
    print(json.dumps({"step": int(tf.train.load_variable(WORK_DIR, "global_step")), "loss": loss, "tested": tested,
                      "seen": seen, "names": names}))


if __name__ == "__main__":
    main()
