import tensorflow as tf
from tensorflow.python.training import basic_session_run_hooks, session_run_hook
from tensorflow.python.training.session_run_hook import SessionRunArgs as Args
from tensorflow.python.client import timeline


class Trace(session_run_hook.SessionRunHook):
    def before_run(self, run_context):
        return Args(tf.train.get_global_step())

    def after_run(self, run_context, run_values):
        timeline.Timeline(run_values.run_metadata.step_stats)


def hooks():
    return [Trace(), basic_session_run_hooks.StopAtStepHook(last_step=10)]
