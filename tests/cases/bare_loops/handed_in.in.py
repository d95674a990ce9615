"""Sessions that are attributes or parameters, and epochs of rounds."""
import tensorflow as tf


class Trainer(object):
    def __init__(self, train_op, hooks):
        self.sess = None
        self.train_op = train_op
        self.sess = tf.train.MonitoredTrainingSession(hooks=hooks)

    def train(self):
        while not self.sess.should_stop():
            self.sess.run(self.train_op)
        self.sess.close()


def train_in(session, train_op, steps):
    for _ in range(steps):
        if session.should_stop():
            break
        session.run(train_op)


def train_for(session, train_op):
    for epoch in range(3):
        print("epoch", epoch)
        for _ in range(100):
            session.run(train_op)


def main(train_op, hooks):
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        train_in(sess, train_op, 100)
        train_in(sess, train_op, steps=200)
    with tf.train.MonitoredTrainingSession(save_checkpoint_secs=60) as sess:
        train_for(sess, train_op)


def train_in_epochs(train_op, x, next_batch, hooks):
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        for epoch in range(10):
            print("epoch", epoch)
            while not sess.should_stop():
                sess.run(train_op, feed_dict={x: next_batch(epoch)})


class Counts(tf.train.SessionRunHook):
    def begin(self):
        self.count = 0

    def before_run(self, run_context):
        self.count += 1
        return tf.train.SessionRunArgs(run_context.session.graph.get_tensor_by_name("loss:0"))


def train_with_hooks_that_never_stop(train_op, steps):
    counts = Counts()
    with tf.train.MonitoredTrainingSession(hooks=[counts]) as sess:
        for _ in range(steps):
            sess.run(train_op)
    return counts.count
