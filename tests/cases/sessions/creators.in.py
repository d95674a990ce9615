import tensorflow as tf
from tensorflow.python.training import monitored_session as ms


def sessions(hooks, scaffold, config, c):
    yield tf.train.MonitoredSession()
    yield tf.train.MonitoredSession(hooks=hooks)
    yield tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold, config=config), hooks)
    yield ms.MonitoredSession(session_creator=ms.ChiefSessionCreator(checkpoint_dir="logs"), hooks=hooks)
    yield tf.train.MonitoredSession(hooks=hooks, session_creator=tf.train.WorkerSessionCreator(master="grpc://a"))
    yield tf.train.MonitoredSession(
        session_creator=tf.train.ChiefSessionCreator(),
        hooks=hooks,
    )
    yield tf.train.SingularMonitoredSession(hooks, checkpoint_dir="logs")
    yield tf.train.SingularMonitoredSession(scaffold=scaffold)
