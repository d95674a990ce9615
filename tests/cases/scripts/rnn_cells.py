"""Sequences: LSTM and GRU cells, dynamic_rnn with lengths, MultiRNNCell and a dropout wrapper that keeps all."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

SAVE = os.path.join(sys.argv[1], "rnn")
STEPS, UNITS = 6, 5


def sequences(n):
    rng = np.random.RandomState(n)
    lengths = rng.randint(2, STEPS + 1, n).astype(np.int32)
    x = rng.randn(n, STEPS, 2).astype(np.float32)
    mask = np.arange(STEPS)[None] < lengths[:, None]
    return x, lengths, (x[:, :, 0] * mask).sum(1).astype(np.float32)


def spread(shape, dtype=tf.float32, partition_info=None):
    """Initial values that are the same everywhere, and not symmetric."""
    return tf.constant(np.random.RandomState(sum(shape)).uniform(-0.4, 0.4, shape), dtype)


def main():
    x_data, length_data, y_data = sequences(48)
    data = tf.data.Dataset.from_tensor_slices((x_data, length_data, y_data)).repeat().batch(12)
    x, lengths, y = tf.data.make_one_shot_iterator(data).get_next()

    def cell(units):
        lstm = tf.nn.rnn_cell.LSTMCell(units, initializer=spread, forget_bias=1.0)
        return tf.nn.rnn_cell.DropoutWrapper(lstm, output_keep_prob=1.0)

    with tf.variable_scope("stack"):
        stack = tf.nn.rnn_cell.MultiRNNCell([cell(UNITS), tf.contrib.rnn.GRUCell(
            UNITS, kernel_initializer=spread)])
        outputs, state = tf.nn.dynamic_rnn(stack, x, sequence_length=lengths, dtype=tf.float32)
    w = tf.get_variable("w", initializer=np.linspace(-1, 1, UNITS).astype(np.float32))
    prediction = tf.reduce_sum(state[-1] * w, axis=1)
    loss = tf.losses.mean_squared_error(y, prediction)

    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdamOptimizer(0.02)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    train_op = optimizer.apply_gradients(zip(gradients, variables), global_step=global_step)

    losses = []
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=SAVE, hooks=[tf.train.StopAtStepHook(last_step=40)], save_checkpoint_steps=50) as sess:
        while not sess.should_stop():
            _, value = sess.run([train_op, loss])
            losses.append(float(value))

    names = [name for name, _ in tf.train.list_variables(SAVE) if "Adam" not in name]
    print(json.dumps({"step": int(tf.train.load_variable(SAVE, "global_step")), "loss": losses[-1],
                      "losses": losses[::13], "outputs": outputs.shape.as_list()[1:], "variables": names}))


if __name__ == "__main__":
    main()
