"""Sessions that are attributes or parameters, and epochs of rounds."""
import bridge
import tensorflow.compat.v1 as tf


class Trainer(object):
    def __init__(self, train_op, hooks):
        self.sess = None
        self.train_op = train_op
        self.sess = bridge.MonitoredTrainingSession(hooks=hooks)

    def train(self):
        if not self.sess.should_stop():
            with self.sess.graph.as_default():
                self.sess.fit(bridge.GraphModel(self.train_op, raise_at_end=True), verbose=0)
        self.sess.close()


def train_in(session, train_op, steps):
    if not session.should_stop():
        with session.graph.as_default():
            if steps > 0:
                session.fit(
                    bridge.GraphModel(train_op, raise_at_end=True),
                    steps_per_epoch=steps,
                    initial_step=0,
                    verbose=0,
                )


def train_for(session, train_op):
    for epoch in range(3):
        print("epoch", epoch)
        with session.graph.as_default():
            session.fit(
                bridge.GraphModel(train_op, raise_at_end=True),
                steps_per_epoch=100,
                initial_step=0,
                verbose=0,
            )


def main(train_op, hooks):
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        train_in(sess, train_op, 100)
        train_in(sess, train_op, steps=200)
    with bridge.MonitoredTrainingSession(save_checkpoint_secs=60) as sess:
        train_for(sess, train_op)


def train_in_epochs(train_op, x, next_batch, hooks):
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        for epoch in range(10):
            print("epoch", epoch)
            sess.fit(
                bridge.GraphModel(
                    train_op,
                    feed_fn=lambda: {x: next_batch(epoch)},
                    raise_at_end=True,
                ),
                verbose=0,
            )


class Counts(tf.train.SessionRunHook):
    def begin(self):
        self.count = 0

    def before_run(self, run_context):
        self.count += 1
        return tf.train.SessionRunArgs(run_context.session.graph.get_tensor_by_name("loss:0"))


def train_with_hooks_that_never_stop(train_op, steps):
    counts = Counts()
    with bridge.MonitoredTrainingSession(hooks=[counts]) as sess:
        if steps > 0:
            sess.fit(bridge.GraphModel(train_op), steps_per_epoch=steps, initial_step=0, verbose=0)
    return counts.count
