"""A loop of every form that only runs."""
import bridge
import tensorflow.compat.v1 as tf

STEPS = 1000


class Trainer(object):
    def __init__(self, train_op, update_ops, loss):
        self.train_op, self.update_ops, self.loss = train_op, update_ops, loss

    def train(self, hooks, verbose):
        with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
            sess.run(self.update_ops)
            if verbose:
                # Until the hook says so.
                # forever
                # One step.
                # and nothing else
                sess.fit(bridge.GraphModel([self.train_op, self.update_ops]), verbose=0)
            else:
                sess.fit(bridge.GraphModel([self.train_op, self.loss]), verbose=0)


def by_rounds(train_op):
    with bridge.MonitoredTrainingSession(checkpoint_dir="logs") as sess:
        sess.fit(bridge.GraphModel(train_op), steps_per_epoch=STEPS, initial_step=0, verbose=0)
    with tf.Graph().as_default(), bridge.MonitoredTrainingSession(hooks=[tf.train.NanTensorHook("loss:0")]) as sess:
        with tf.device("/cpu:0"):
            sess.fit(bridge.GraphModel("train"), steps_per_epoch=100, initial_step=0, verbose=0)


def followed(train_op):
    with bridge.MonitoredTrainingSession(checkpoint_dir="logs") as sess:
        try:
            sess.fit(bridge.GraphModel(train_op, raise_at_end=True), verbose=0)
        except tf.errors.OutOfRangeError:
            print("the input has ended")
    with bridge.MonitoredTrainingSession(checkpoint_dir="logs") as sess:
        sess.fit(bridge.GraphModel(train_op, raise_at_end=True), verbose=0)
        print("not printed when the input ends")
