import tensorflow.compat.v1 as tf


class Log(tf.train.SessionRunHook):
    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.train.get_global_step())


class Save(tf.train.CheckpointSaverHook):
    def end(self, session):
        super().end(session)
        tf.logging.info("saved")


def hooks():
    return [Log(), Save("logs", save_steps=10), tf.train.StopAtStepHook(10)]
