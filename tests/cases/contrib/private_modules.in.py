import tensorflow as tf
from tensorflow.contrib.framework.python.ops import variables
from tensorflow.contrib.framework.python.ops.variables import get_or_create_global_step
from tensorflow.contrib.learn.python.learn import monitored_session as ms
from tensorflow.contrib.training.python.training import evaluation


def train(train_op, folder, hooks):
    step = get_or_create_global_step(), variables.get_global_step()
    with ms.MonitoredSession(hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run(train_op)
    for path in evaluation.checkpoints_iterator(folder):
        print(path, step, tf.placeholder(tf.float32))
