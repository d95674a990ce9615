import bridge
import tensorflow.compat.v1 as tf


def make(x, y, directory):
    configs = [
        bridge.estimator.RunConfig(model_dir=directory, save_checkpoints_secs=60),
        bridge.estimator.RunConfig(),
        bridge.estimator.RunConfig(session_config=tf.ConfigProto(), keep_checkpoint_max=2),
        bridge.estimator.RunConfig(tf_random_seed=3, save_summary_steps=10),  # repeatable
    ]
    functions = [
        bridge.estimator.inputs.numpy_input_fn({"x": x}, y, num_epochs=None, shuffle=True),
        bridge.estimator.inputs.numpy_input_fn({"x": x}, y, shuffle=False),
        bridge.estimator.inputs.numpy_input_fn({"x": x}, y, 8, 1, False),
        bridge.estimator.inputs.pandas_input_fn(
            x,
            y,
            shuffle=True,
        ),
    ]
    return configs, functions
