import tensorflow.compat.v1 as tf
from tensorflow.compat.v1.train import SessionRunHook


class Hook(SessionRunHook):
    def begin(self):
        self.step = tf.train.get_global_step()
