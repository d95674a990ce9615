"""Input functions over data in memory (`tf.estimator.inputs`)."""

from bridge.estimator.inputs.numpy_input import numpy_input_fn
from bridge.estimator.inputs.pandas_input import pandas_input_fn

__all__ = ["numpy_input_fn", "pandas_input_fn"]
