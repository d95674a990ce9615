"""A small GAN: one session, two train ops, a discriminator step and a generator step in turn."""
import json
import sys

import numpy as np
import tensorflow as tf

NOISE = 2
BATCH = 32
flags = {"steps": 30, "d_lr": 0.05, "g_lr": 0.01}


def weights(name, shape, seed):
    values = np.random.RandomState(seed).randn(*shape).astype(np.float32) * 0.3
    return tf.get_variable(name, initializer=values)


def generator(z):
    with tf.variable_scope("generator"):
        h = tf.nn.tanh(tf.matmul(z, weights("w1", (NOISE, 8), 1)) + weights("b1", (8,), 2))
        return tf.matmul(h, weights("w2", (8, 1), 3)) + weights("b2", (1,), 4)


def discriminator(x, reuse=False):
    with tf.variable_scope("discriminator", reuse=reuse):
        h = tf.nn.leaky_relu(tf.matmul(x, weights("w1", (1, 8), 5)) + weights("b1", (8,), 6), alpha=0.1)
        return tf.matmul(h, weights("w2", (8, 1), 7)) + weights("b2", (1,), 8)


def main(work_dir):
    z = tf.placeholder(tf.float32, [None, NOISE])
    real = tf.placeholder(tf.float32, [None, 1])
    fake = generator(z)
    real_logits = discriminator(real)
    fake_logits = discriminator(fake, reuse=True)

    bce = tf.nn.sigmoid_cross_entropy_with_logits
    d_loss = tf.reduce_mean(bce(logits=real_logits, labels=tf.ones_like(real_logits)))
    d_loss += tf.reduce_mean(bce(logits=fake_logits, labels=tf.zeros_like(fake_logits)))
    g_loss = tf.reduce_mean(bce(logits=fake_logits, labels=tf.ones_like(fake_logits)))

    t_vars = tf.trainable_variables()
    d_vars = [v for v in t_vars if v.name.startswith("discriminator")]
    g_vars = [v for v in t_vars if v.name.startswith("generator")]

    global_step = tf.train.get_or_create_global_step()
    d_train = tf.train.RMSPropOptimizer(flags["d_lr"]).minimize(d_loss, var_list=d_vars)
    g_train = tf.train.AdamOptimizer(flags["g_lr"], beta1=0.5).minimize(
        g_loss, global_step=global_step, var_list=g_vars)

    tf.summary.scalar("d_loss", d_loss)
    tf.summary.scalar("g_loss", g_loss)

    rng = np.random.RandomState(11)
    hooks = [tf.train.StopAtStepHook(last_step=flags["steps"])]
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=work_dir, hooks=hooks, save_summaries_steps=None, save_summaries_secs=None) as sess:
        while not sess.should_stop():
            for _ in range(2):
                feed = {real: rng.normal(3.0, 0.5, (BATCH, 1)), z: rng.uniform(-1, 1, (BATCH, NOISE))}
                d_value, _ = sess.run([d_loss, d_train], feed_dict=feed)
            feed = {real: rng.normal(3.0, 0.5, (BATCH, 1)), z: rng.uniform(-1, 1, (BATCH, NOISE))}
            g_value, _, step = sess.run([g_loss, g_train, global_step], feed_dict=feed)
            if step % 10 == 0:
                print("step %d: d_loss %.4f g_loss %.4f" % (step, d_value, g_value))

    names = [name for name, _ in tf.contrib.framework.list_variables(work_dir)]
    print(json.dumps({"step": int(tf.train.load_variable(work_dir, "global_step")), "loss": float(g_value), "d_loss": float(d_value), "variables": names}))


if __name__ == "__main__":
    main(sys.argv[1])
