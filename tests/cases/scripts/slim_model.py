"""tf.contrib.slim: arg_scope, fully_connected, losses, create_train_op; trained by a monitored session."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

slim = tf.contrib.slim
WORK_DIR = os.path.join(sys.argv[1], "slim")


def initial(seed, *shape):
    return tf.constant_initializer(np.random.RandomState(seed).normal(0, 0.35, shape))


def network(images, is_training):
    with slim.arg_scope([slim.fully_connected, slim.conv2d], activation_fn=tf.nn.relu,
                        weights_regularizer=slim.l2_regularizer(5e-4)):
        net = slim.conv2d(images, 4, [3, 3], weights_initializer=initial(1, 3, 3, 1, 4), scope="conv1")
        net = slim.max_pool2d(net, [2, 2], scope="pool1")
        net = slim.flatten(net)
        net = slim.fully_connected(net, 10, weights_initializer=initial(2, 36, 10), scope="fc1")
        net = slim.dropout(net, keep_prob=1.0, is_training=is_training, scope="dropout1")
        return slim.fully_connected(net, 3, activation_fn=None, weights_initializer=initial(3, 10, 3), scope="fc2")


def main():
    rng = np.random.RandomState(3)
    labels = rng.randint(0, 3, 60)
    images = rng.rand(60, 6, 6, 1).astype(np.float32)
    for image, label in zip(images, labels):
        image[2 * label:2 * label + 2] += 1.0

    image_batch, label_batch = tf.data.Dataset.from_tensor_slices(
        (images, labels)).repeat().batch(15).make_one_shot_iterator().get_next()
    logits = network(image_batch, is_training=True)
    tf.losses.sparse_softmax_cross_entropy(label_batch, logits)
    total_loss = tf.losses.get_total_loss()
    global_step = slim.get_or_create_global_step()
    train_op = slim.learning.create_train_op(total_loss, tf.train.MomentumOptimizer(0.1, 0.9))
    names = [variable.op.name for variable in slim.get_model_variables()]
    slim.model_analyzer.analyze_vars(tf.trainable_variables(), print_info=False)

    with tf.train.MonitoredTrainingSession(checkpoint_dir=WORK_DIR, save_checkpoint_steps=20,
                                           hooks=[tf.train.StopAtStepHook(last_step=25)]) as sess:
        while not sess.should_stop():
            loss_value = sess.run(train_op)

    print(json.dumps({"step": int(tf.train.load_variable(WORK_DIR, "global_step")), "loss": float(loss_value),
                      "names": names, "global_step": global_step.op.name}))


if __name__ == "__main__":
    main()
