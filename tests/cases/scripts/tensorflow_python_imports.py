"""A script written like TensorFlow's own code: everything from tensorflow.python.…, nothing from the top."""
import json
import os
import sys

import numpy as np
from tensorflow.core.framework import summary_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session as session_lib
from tensorflow.python.framework import constant_op, dtypes, ops
from tensorflow.python.framework import random_seed
from tensorflow.python.ops import array_ops
from tensorflow.python.ops import init_ops
from tensorflow.python.ops import math_ops
from tensorflow.python.ops import nn_ops
from tensorflow.python.ops import variable_scope
from tensorflow.python.ops.losses import losses
from tensorflow.python.summary import summary
from tensorflow.python.training import checkpoint_utils
from tensorflow.python.training import gradient_descent
from tensorflow.python.training import monitored_session
from tensorflow.python.training import saver as saver_lib
from tensorflow.python.training import training_util
from tensorflow.python.training.basic_session_run_hooks import StopAtStepHook, LoggingTensorHook
from tensorflow.python.training.session_run_hook import SessionRunArgs, SessionRunHook


class GradientNorm(SessionRunHook):
    def __init__(self, norm):
        self._norm = norm
        self.largest = 0.0

    def before_run(self, run_context):
        return SessionRunArgs(self._norm)

    def after_run(self, run_context, run_values):
        self.largest = max(self.largest, float(run_values.results))


def main():
    logdir = os.path.join(sys.argv[1], "inner")
    with ops.Graph().as_default():
        random_seed.set_random_seed(5)
        data = np.random.RandomState(5).randn(16, 4).astype(np.float32)
        x = constant_op.constant(data, dtype=dtypes.float32)
        target = constant_op.constant(np.tanh(data[:, :2] * data[:, 2:]))
        with variable_scope.variable_scope("layer"):
            w = variable_scope.get_variable("w", [4, 8], initializer=init_ops.random_uniform_initializer(-0.4, 0.4, seed=3))
            v = variable_scope.get_variable("v", [8, 2], initializer=init_ops.constant_initializer(0.1))
        prediction = math_ops.matmul(nn_ops.relu(math_ops.matmul(x, w)), v)
        prediction = array_ops.identity(prediction, name="prediction")
        loss = losses.mean_squared_error(target, prediction)
        summary.scalar("loss", loss)
        step = training_util.get_or_create_global_step()
        optimizer = gradient_descent.GradientDescentOptimizer(0.1)
        pairs = optimizer.compute_gradients(loss)
        norm = math_ops.sqrt(math_ops.add_n([math_ops.reduce_sum(math_ops.square(g)) for g, _ in pairs]))
        train_op = optimizer.apply_gradients(pairs, global_step=step)

        hook = GradientNorm(norm)
        scaffold = monitored_session.Scaffold(saver=saver_lib.Saver(max_to_keep=1))
        with monitored_session.MonitoredTrainingSession(
                checkpoint_dir=logdir, scaffold=scaffold, save_checkpoint_steps=10, save_summaries_steps=10,
                hooks=[hook, StopAtStepHook(last_step=30), LoggingTensorHook({"loss": loss}, every_n_iter=15)],
                config=config_pb2.ConfigProto(allow_soft_placement=True)) as sess:
            while not sess.should_stop():
                sess.run(train_op)

        with session_lib.Session() as sess:
            saver_lib.Saver().restore(sess, checkpoint_utils._get_checkpoint_filename(logdir))
            loss_value, step_value = sess.run([loss, step])
    proto = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="t", simple_value=2.0)])
    print(json.dumps({"step": int(step_value), "loss": float(loss_value), "largest": hook.largest,
                      "proto": proto.value[0].simple_value,
                      "variables": [name for name, _ in checkpoint_utils.list_variables(logdir)]}))


if __name__ == "__main__":
    main()
