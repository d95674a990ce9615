import bridge
import tensorflow.compat.v1 as tf


def sessions(hooks, scaffold, config, c):
    yield bridge.MonitoredTrainingSession()
    yield bridge.MonitoredTrainingSession(hooks=hooks)
    yield bridge.MonitoredTrainingSession(scaffold=scaffold, config=config, hooks=hooks)
    yield bridge.MonitoredTrainingSession(checkpoint_dir="logs", hooks=hooks, save_checkpoint_secs=None, save_summaries_steps=None, log_step_count_steps=None)
    yield bridge.MonitoredTrainingSession(hooks=hooks, master="grpc://a", is_chief=False)
    yield bridge.MonitoredTrainingSession(
        hooks=hooks,
    )
    yield bridge.MonitoredTrainingSession(hooks=hooks, checkpoint_dir="logs", save_checkpoint_secs=None, save_summaries_steps=None, log_step_count_steps=None)
    yield bridge.MonitoredTrainingSession(scaffold=scaffold)
