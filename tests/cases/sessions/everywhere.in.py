import tensorflow as tf
from tensorflow.train import MonitoredTrainingSession as MTS


class Trainer:
    def __init__(self, hooks):
        self.sess = tf.train.MonitoredTrainingSession("", True, "logs", hooks=hooks)

    def make(self, **kwargs):
        return tf.train.MonitoredTrainingSession(**kwargs)

    def other(self):
        sess = MTS()
        with tf.Graph().as_default(), tf.train.MonitoredTrainingSession(
            checkpoint_dir="logs",  # where
            save_checkpoint_secs=None,
        ) as mon_sess:
            while not mon_sess.should_stop():
                mon_sess.run(sess)
