import tensorflow as tf


class Config(tf.contrib.learn.RunConfig):
    pass


def make(arguments, directory):
    tf.contrib.learn.RunConfig(model_dir=directory)
    tf.contrib.learn.RunConfig("grpc://chief:2222")
    tf.contrib.learn.RunConfig(gpu_memory_fraction=0.5)
    tf.contrib.learn.RunConfig(**arguments)
    tf.contrib.learn.io.numpy_input_fn(**arguments)
