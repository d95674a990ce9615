"""Sessions that are assigned, and loops that ask in other ways."""
import bridge
import tensorflow.compat.v1 as tf

flags = tf.app.flags
flags.DEFINE_integer("max_steps", 1000, "how many")
FLAGS = flags.FLAGS


def by_hand(train_op, hooks, is_chief):
    if is_chief:
        sess = bridge.MonitoredTrainingSession(checkpoint_dir="logs", hooks=hooks)
    else:
        sess = bridge.MonitoredTrainingSession(is_chief=False, hooks=hooks)
    # Until a hook says so.
    sess.fit(bridge.GraphModel(train_op, raise_at_end=True), verbose=0)
    sess.close()


def closed_by_a_with(train_op, hooks):
    session = bridge.MonitoredTrainingSession(hooks=hooks)
    with session as sess:
        sess.fit(bridge.GraphModel(train_op), verbose=0)


def asked_in_the_loop(train_op, hooks):
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        if FLAGS.max_steps > 0:
            sess.fit(
                bridge.GraphModel(train_op),
                steps_per_epoch=FLAGS.max_steps,
                initial_step=0,
                verbose=0,
            )


def until_the_input_ends(train_op, x, batches):
    hooks = []
    with bridge.MonitoredTrainingSession(hooks=[tf.train.LoggingTensorHook(["loss:0"], every_n_iter=10)]) as sess:
        try:
            sess.fit(bridge.GraphModel(train_op, raise_at_end=True), verbose=0)
        except tf.errors.OutOfRangeError:
            # Said once.
            print("that was all")
        print("and now?")
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        number = 0

        def next_feed():
            nonlocal number
            number += 1
            images = next(batches)
            return {x: images / number}

        sess.fit(bridge.GraphModel(train_op, feed_fn=next_feed), verbose=0)
    with bridge.MonitoredTrainingSession() as sess:
        if FLAGS.max_steps > 0:
            sess.fit(
                bridge.GraphModel(train_op),
                steps_per_epoch=FLAGS.max_steps,
                initial_step=0,
                verbose=0,
            )
