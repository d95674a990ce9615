"""Input by queues: slice_input_producer and batch with queue runners, a coordinator, and a queue of one's own."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

root = sys.argv[1]
xs = np.arange(40, dtype=np.float32).reshape(20, 2) / 40
ys = (xs.sum(axis=1) * 2 - 1).astype(np.float32)


def model(x, y):
    w = tf.get_variable('w', [2], initializer=tf.zeros_initializer)
    b = tf.get_variable('b', [], initializer=tf.zeros_initializer)
    return tf.reduce_mean(tf.square(tf.reduce_sum(x * w, 1) + b - y))


def train_by_coordinator():
    """tf.Session, Coordinator and start_queue_runners, until the epochs are used up."""
    with tf.Graph().as_default():
        x, y = tf.train.slice_input_producer([xs, ys], num_epochs=4, shuffle=False)
        x_batch, y_batch = tf.train.batch([x, y], batch_size=5, num_threads=1, capacity=20)
        loss = model(x_batch, y_batch)
        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step)
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.group(tf.global_variables_initializer(), tf.local_variables_initializer()))
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess=sess, coord=coord)
            value, count = None, 0
            try:
                while not coord.should_stop():
                    _, value = sess.run([train_op, loss])
                    count += 1
            except tf.errors.OutOfRangeError:
                print('Done training -- epoch limit reached')
            finally:
                coord.request_stop()
            coord.join(threads)
            step = sess.run(global_step)
            assert step == count
            saver.save(sess, os.path.join(root, 'first', 'model'), global_step=step)
            return int(step), float(value)


def train_by_monitored_session():
    """A FIFOQueue with its own QueueRunner; the monitored session starts and stops the threads."""
    with tf.Graph().as_default():
        counter = tf.get_variable('counter', initializer=-1, trainable=False, dtype=tf.int32)
        index = tf.assign_add(counter, 1) % 20
        queue = tf.FIFOQueue(capacity=8, dtypes=[tf.float32, tf.float32], shapes=[[2], []])
        enqueue = queue.enqueue([tf.gather(xs, index), tf.gather(ys, index)])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue]))
        x, y = queue.dequeue_many(4)
        loss = model(x, y)
        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.2).minimize(loss, global_step)
        losses = []
        with tf.train.MonitoredTrainingSession(
                hooks=[tf.train.StopAtStepHook(last_step=30)], stop_grace_period_secs=5) as sess:
            while not sess.should_stop():
                _, value = sess.run([train_op, loss])
                losses.append(float(value))
        return losses


first_step, first_loss = train_by_coordinator()
losses = train_by_monitored_session()
print(json.dumps({'step': len(losses), 'loss': losses[-1], 'first_step': first_step, 'first_loss': first_loss,
                  'losses': losses[::10],
                  'checkpoint': os.path.basename(tf.train.latest_checkpoint(os.path.join(root, 'first')))}))
