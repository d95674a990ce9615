import tensorflow.compat.v1 as tf


class Count(tf.train.SessionRunHook):
    def begin(self):
        self.graph = tf.get_default_graph()
