import bridge
import tensorflow.compat.v1 as tf


def train(train_op, folder, hooks):
    step = tf.train.get_or_create_global_step(), tf.train.get_global_step()
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        sess.fit(bridge.GraphModel(train_op), verbose=0)
    for path in tf.train.checkpoints_iterator(folder):
        print(path, step, tf.placeholder(tf.float32))
