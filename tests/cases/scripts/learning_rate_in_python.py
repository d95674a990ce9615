"""Rates that Python sets: by an assign op at epoch borders and by a feed at each step; `break` on a target."""
import json
import sys

import numpy as np
import tensorflow as tf

LOGDIR = sys.argv[1]
ASSIGN_EVERY = 12


def make_data():
    rng = np.random.RandomState(31)
    x = rng.randn(96, 7).astype(np.float32)
    coefficients = np.arange(1, 8, dtype=np.float32)[:, None] / 4
    return x, x.dot(coefficients) + rng.randn(96, 1).astype(np.float32) * 0.1


def main():
    x_all, y_all = make_data()
    x = tf.placeholder(tf.float32, [None, 7])
    y = tf.placeholder(tf.float32, [None, 1])
    lr_var = tf.get_variable("lr", initializer=0.05, trainable=False)
    new_lr = tf.placeholder(tf.float32, [])
    set_lr = tf.assign(lr_var, new_lr)
    momentum = tf.placeholder_with_default(0.0, [])

    w = tf.get_variable("w", initializer=np.full([7, 1], -0.1, np.float32))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    global_step = tf.train.get_or_create_global_step()
    opt = tf.train.MomentumOptimizer(lr_var, momentum)
    grads_and_vars = opt.compute_gradients(loss)
    norm = tf.global_norm([g for g, _ in grads_and_vars])
    train_op = opt.apply_gradients(grads_and_vars, global_step)

    previous = np.inf
    lr = 0.05
    steps = 0
    with tf.train.MonitoredTrainingSession(checkpoint_dir=LOGDIR, save_summaries_steps=None, save_summaries_secs=None,
                                           hooks=[tf.train.StopAtStepHook(last_step=200)]) as sess:
        while not sess.should_stop():
            i = steps * 12 % 96
            feed = {x: x_all[i:i + 12], y: y_all[i:i + 12], momentum: min(0.9, steps / 100.0)}
            _, value, norm_value = sess.run([train_op, loss, norm], feed)
            steps += 1
            if steps % ASSIGN_EVERY == 0:
                if value > previous:
                    lr *= 0.5
                    sess.run(set_lr, feed_dict={new_lr: lr})
                previous = value
            if value < 5e-3:
                break
        stored_lr = sess.run(lr_var)

    print(json.dumps({"step": steps, "loss": float(value), "lr": lr, "stored_lr": float(stored_lr),
                      "norm": float(norm_value),
                      "saved_step": int(tf.train.load_variable(LOGDIR, "global_step"))}))


if __name__ == "__main__":
    main()
