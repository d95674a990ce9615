import tensorflow as tf
from tensorflow.estimator import SessionRunHook, SessionRunArgs as Args


class Log(SessionRunHook):
    def before_run(self, run_context):
        return Args(tf.train.get_global_step())


class Save(tf.estimator.CheckpointSaverHook):
    def end(self, session):
        super().end(session)
        tf.logging.info("saved")


def hooks():
    return [Log(), Save("logs", save_steps=10), tf.estimator.StopAtStepHook(10)]
