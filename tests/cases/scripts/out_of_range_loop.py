"""The loop ends when the data does: `while True`, `except OutOfRangeError`, `break`."""
import json
import os
import sys

import numpy as np
import tensorflow as tf


def input_fn(values, epochs, batch_size):
    dataset = tf.data.Dataset.from_tensor_slices(values)
    dataset = dataset.map(lambda x, y: (tf.to_float(x) / 255.0, tf.one_hot(y, 2)), num_parallel_calls=1)
    dataset = dataset.repeat(epochs).apply(tf.contrib.data.batch_and_drop_remainder(batch_size))
    return dataset.prefetch(1)


def main(work_dir):
    rng = np.random.RandomState(1)
    pixels = rng.randint(0, 256, size=(45, 9)).astype(np.uint8)
    labels = (pixels[:, 4] > 127).astype(np.int32)

    dataset = input_fn((pixels, labels), epochs=5, batch_size=8)
    iterator = dataset.make_initializable_iterator()
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    features, one_hot = iterator.get_next()

    w = tf.get_variable("w", [9, 2], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits(labels=one_hot, logits=tf.matmul(features, w)))
    global_step = tf.train.get_or_create_global_step()
    with tf.control_dependencies([tf.assert_less(loss, 100.0)]):
        train_op = tf.train.AdadeltaOptimizer(5.0, rho=0.9).minimize(loss, global_step)

    step_value, total = 0, 0.0
    session = tf.train.MonitoredTrainingSession(checkpoint_dir=work_dir, save_checkpoint_secs=3600)
    while True:
        try:
            step_value, loss_value, _ = session.run([global_step, loss, train_op])
            total += loss_value
        except tf.errors.OutOfRangeError:
            print("End of the data after", step_value)
            break
    session.close()

    checkpoint = tf.train.latest_checkpoint(work_dir)
    print(json.dumps({"step": int(tf.train.load_variable(checkpoint, "global_step")), "loss": float(loss_value),
                      "total": float(total), "checkpoint": os.path.basename(checkpoint),
                      "w": tf.train.load_variable(checkpoint, "w").tolist()}))


if __name__ == "__main__":
    main(sys.argv[1])
