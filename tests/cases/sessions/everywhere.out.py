import bridge
import tensorflow.compat.v1 as tf


class Trainer:
    def __init__(self, hooks):
        self.sess = bridge.MonitoredTrainingSession("", True, "logs", hooks=hooks)

    def make(self, **kwargs):
        return bridge.MonitoredTrainingSession(**kwargs)

    def other(self):
        sess = bridge.MonitoredTrainingSession()
        with tf.Graph().as_default(), bridge.MonitoredTrainingSession(
            checkpoint_dir="logs",  # where
            save_checkpoint_secs=None,
        ) as mon_sess:
            mon_sess.fit(bridge.GraphModel(sess), verbose=0)
