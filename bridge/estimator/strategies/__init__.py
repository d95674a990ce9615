"""Strategies for `RunConfig`: those of `tf.contrib.distribute`, under the names and arguments that they had there."""

from bridge.estimator.strategies.contrib import (
    CollectiveAllReduceStrategy,
    DistributeConfig,
    MirroredStrategy,
    OneDeviceStrategy,
    ParameterServerStrategy,
    all_reduce,
)

__all__ = [
    "CollectiveAllReduceStrategy",
    "DistributeConfig",
    "MirroredStrategy",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
    "all_reduce",
]
