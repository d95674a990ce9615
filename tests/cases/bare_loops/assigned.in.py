"""Sessions that are assigned, and loops that ask in other ways."""
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("max_steps", 1000, "how many")
FLAGS = flags.FLAGS


def by_hand(train_op, hooks, is_chief):
    if is_chief:
        sess = tf.train.MonitoredTrainingSession(checkpoint_dir="logs", hooks=hooks)
    else:
        sess = tf.train.MonitoredTrainingSession(is_chief=False, hooks=hooks)
    # Until a hook says so.
    while not sess.should_stop():
        sess.run(train_op)
    sess.close()


def closed_by_a_with(train_op, hooks):
    session = tf.train.SingularMonitoredSession(hooks=hooks)
    with session as sess:
        while not sess.should_stop():
            sess.run(train_op)


def asked_in_the_loop(train_op, hooks):
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        for _ in range(FLAGS.max_steps):
            if sess.should_stop():
                break
            else:
                sess.run(train_op)


def until_the_input_ends(train_op, x, batches):
    hooks = []
    with tf.train.MonitoredTrainingSession(hooks=[tf.train.LoggingTensorHook(["loss:0"], every_n_iter=10)]) as sess:
        while True:
            try:
                sess.run(train_op)
            except tf.errors.OutOfRangeError:
                # Said once.
                print("that was all")
                break
        print("and now?")
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        number = 0
        while not sess.should_stop():
            number += 1
            images = next(batches)
            sess.run(train_op, feed_dict={x: images / number})
    with tf.train.MonitoredTrainingSession() as sess:
        for step in range(1, FLAGS.max_steps + 1):
            sess.run(train_op)
