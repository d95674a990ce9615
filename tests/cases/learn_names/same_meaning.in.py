from tensorflow.contrib import learn
from tensorflow.contrib.learn import RunConfig
from tensorflow.contrib.learn.python.learn.estimators import run_config
from tensorflow.contrib.learn.python.learn.learn_io.pandas_io import pandas_input_fn
import tensorflow as tf


def make(x, y, directory):
    configs = [
        tf.contrib.learn.RunConfig(model_dir=directory, save_checkpoints_secs=60),
        learn.RunConfig(),
        run_config.RunConfig(session_config=tf.ConfigProto(), keep_checkpoint_max=2),
        RunConfig(tf_random_seed=3, save_summary_steps=10),  # repeatable
    ]
    functions = [
        learn.io.numpy_input_fn({"x": x}, y, num_epochs=None),
        tf.contrib.learn.io.numpy_input_fn({"x": x}, y, shuffle=False),
        tf.contrib.learn.io.numpy_input_fn({"x": x}, y, 8, 1, False),
        pandas_input_fn(
            x,
            y,
        ),
    ]
    return configs, functions
