import tensorflow.compat.v1 as tf


class Log(tf.train.SessionRunHook):
    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.train.get_global_step())
