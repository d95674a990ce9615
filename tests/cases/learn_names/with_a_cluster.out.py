import bridge
import tensorflow.compat.v1 as tf


# TODO(codemod TFB604): tf.contrib.learn.RunConfig does not exist any more. Use bridge.estimator.RunConfig: the cluster comes from TF_CONFIG, and what was said of devices and memory from session_config
class Config(tf.contrib.learn.RunConfig):
    pass


def make(arguments, directory):
    bridge.estimator.RunConfig(model_dir=directory)
    # TODO(codemod TFB604): tf.contrib.learn.RunConfig does not exist any more. Use bridge.estimator.RunConfig: the cluster comes from TF_CONFIG, and what was said of devices and memory from session_config
    tf.contrib.learn.RunConfig("grpc://chief:2222")
    # TODO(codemod TFB604): tf.contrib.learn.RunConfig does not exist any more. Use bridge.estimator.RunConfig: the cluster comes from TF_CONFIG, and what was said of devices and memory from session_config
    tf.contrib.learn.RunConfig(gpu_memory_fraction=0.5)
    # TODO(codemod TFB604): tf.contrib.learn.RunConfig does not exist any more. Use bridge.estimator.RunConfig: the cluster comes from TF_CONFIG, and what was said of devices and memory from session_config
    tf.contrib.learn.RunConfig(**arguments)
    # TODO(codemod TFB604): tf.contrib.learn.numpy_input_fn does not exist any more. Use those of bridge.estimator.inputs
    tf.contrib.learn.io.numpy_input_fn(**arguments)
