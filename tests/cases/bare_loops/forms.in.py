"""A loop of every form that only runs."""
import tensorflow as tf

STEPS = 1000


class Trainer(object):
    def __init__(self, train_op, update_ops, loss):
        self.train_op, self.update_ops, self.loss = train_op, update_ops, loss

    def train(self, hooks, verbose):
        with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
            sess.run(self.update_ops)
            if verbose:
                # Until the hook says so.
                while not sess.should_stop():  # forever
                    # One step.
                    sess.run([self.train_op, self.update_ops])  # and nothing else
            else:
                while True:
                    if sess.should_stop():
                        break
                    _, unread = sess.run([self.train_op, self.loss])


def by_rounds(train_op):
    with tf.train.MonitoredTrainingSession(checkpoint_dir="logs") as sess:
        for _ in range(STEPS): sess.run(train_op)
    with tf.Graph().as_default(), tf.train.MonitoredTrainingSession(hooks=[tf.train.NanTensorHook("loss:0")]) as sess:
        with tf.device("/cpu:0"):
            for i in range(100):
                if sess.should_stop():
                    break
                sess.run("train")


def followed(train_op):
    with tf.train.MonitoredTrainingSession(checkpoint_dir="logs") as sess:
        try:
            while not sess.should_stop():
                sess.run(train_op)
        except tf.errors.OutOfRangeError:
            print("the input has ended")
    with tf.train.MonitoredTrainingSession(checkpoint_dir="logs") as sess:
        while not sess.should_stop():
            sess.run(train_op)
        print("not printed when the input ends")
