"""A small convolutional net of tf.layers: batch normalisation with UPDATE_OPS, dropout with a seed, pooling, flatten."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

OUT = os.path.join(sys.argv[1], "digits")
SIDE = 8


def pictures(n, seed):
    """Bars: class 0 horizontal, 1 vertical, 2 both."""
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 3, n)
    images = rng.rand(n, SIDE, SIDE, 1).astype(np.float32) * 0.5
    for image, label in zip(images, labels):
        place = rng.randint(SIDE)
        if label in (0, 2):
            image[place, :, 0] += 1
        if label in (1, 2):
            image[:, place, 0] += 1
    return images, labels.astype(np.int64)


def kernel(*shape):
    rng = np.random.RandomState(sum(shape))
    return tf.constant_initializer((rng.randn(*shape) / np.sqrt(np.prod(shape[:-1]))).astype(np.float32))


def conv_block(inputs, filters, training, name):
    with tf.variable_scope(name):
        net = tf.layers.conv2d(inputs, filters, kernel_size=3, padding="same", use_bias=False,
                               kernel_initializer=kernel(3, 3, int(inputs.shape[-1]), filters), name="conv")
        net = tf.layers.batch_normalization(net, momentum=0.9, training=training, name="bn")
        net = tf.nn.relu(net)
        return tf.layers.max_pooling2d(net, pool_size=2, strides=2)


def model(images, training, reuse=None):
    with tf.variable_scope("net", reuse=reuse):
        net = conv_block(images, 4, training, "block1")
        net = conv_block(net, 8, training, "block2")
        net = tf.layers.flatten(net)
        net = tf.layers.dense(net, 16, activation=tf.nn.relu, kernel_initializer=kernel(32, 16), name="dense",
                              kernel_regularizer=tf.contrib.layers.l2_regularizer(0.001))
        net = tf.layers.dropout(net, rate=0.25, training=training, seed=17)
        return tf.layers.dense(net, 3, kernel_initializer=kernel(16, 3), name="logits")


def main():
    tf.set_random_seed(1)
    images, labels = pictures(96, seed=0)
    test_images, test_labels = pictures(48, seed=1)
    x = tf.placeholder(tf.float32, [None, SIDE, SIDE, 1])
    y = tf.placeholder(tf.int64, [None])
    is_training = tf.placeholder_with_default(False, [], name="is_training")

    logits = model(x, is_training)
    tf.losses.sparse_softmax_cross_entropy(y, logits)
    loss = tf.losses.get_total_loss()
    data_loss = tf.losses.get_losses()[0]
    accuracy = tf.reduce_mean(tf.cast(tf.equal(y, tf.argmax(logits, 1)), tf.float32))
    global_step = tf.train.get_or_create_global_step()
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        train_op = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, global_step=global_step)

    count = 0
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=OUT, save_checkpoint_steps=100,
            hooks=[tf.train.StopAtStepHook(last_step=30)]) as sess:
        test_loss, test_accuracy = None, None
        while not sess.should_stop():
            batch = np.arange(count * 16, count * 16 + 16) % 96
            _, loss_value = sess.run([train_op, loss], {x: images[batch], y: labels[batch], is_training: True})
            count += 1
            if count % 10 == 0 and not sess.should_stop():
                test_loss, test_accuracy = sess.run([data_loss, accuracy], {x: test_images, y: test_labels})
                print(count, loss_value, test_loss, test_accuracy)

    reader = tf.train.load_checkpoint(OUT)
    print(json.dumps({
        "step": int(reader.get_tensor("global_step")), "loss": float(loss_value), "test_loss": float(test_loss),
        "updates": len(update_ops), "moving_mean": reader.get_tensor("net/block1/bn/moving_mean").tolist(),
        "moving_variance": reader.get_tensor("net/block1/bn/moving_variance").tolist(),
        "variables": sorted(reader.get_variable_to_shape_map())}))


if __name__ == "__main__":
    main()
