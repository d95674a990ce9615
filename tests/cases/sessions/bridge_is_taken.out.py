import bridge as bridge_module
import tensorflow.compat.v1 as tf


def over(bridge, hooks):
    return bridge, bridge_module.MonitoredTrainingSession(hooks=hooks)
