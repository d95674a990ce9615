"""The strategies of `tf.contrib.distribute`, with the arguments that they had there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from bridge.estimator.errors import EstimatorError

_v1: Any = tf.compat.v1.distribute
_MirroredStrategy: Any = _v1.MirroredStrategy
_CentralStorageStrategy: Any = _v1.experimental.CentralStorageStrategy

OneDeviceStrategy: Any = _v1.OneDeviceStrategy


class DistributeConfig(NamedTuple):
    """The strategies of a `RunConfig`, as its `experimental_distribute` (`tf.contrib.distribute.DistributeConfig`).

    Attributes:
      train_distribute: The strategy of the training, or None.
      eval_distribute: The strategy of the evaluations, or None.
      remote_cluster: None: processes are started with TF_CONFIG, each on its own.
    """

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


class MirroredStrategy(_MirroredStrategy):
    """TensorFlow's strategy with the arguments that it had as `tf.contrib.distribute.MirroredStrategy`."""

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
    ) -> None:
        """Takes the devices.

        Args:
          devices: The devices, by name; None for a number of GPUs, or for all of them.
          num_gpus: How many GPUs; 0 is for the CPU.
          num_gpus_per_worker: Is an older name of `num_gpus`.
          cross_device_ops: How gradients are joined: a `tf.distribute.CrossDeviceOps`.
          auto_shard_dataset: Has no effect: it was for several workers.
          cross_tower_ops: Is an older name of `cross_device_ops`.

        Raises:
          EstimatorError: (a ValueError) something is given twice.
        """
        del auto_shard_dataset
        count = _once(num_gpus=num_gpus, num_gpus_per_worker=num_gpus_per_worker)
        if count is not None:
            devices = _once(devices=devices, num_gpus=_gpus(count))
        joined = _once(cross_device_ops=cross_device_ops, cross_tower_ops=cross_tower_ops)
        # An eager program would have to have the devices. In a session, operations go where there are some.
        with tf.Graph().as_default():
            super().__init__(devices, joined)


class CollectiveAllReduceStrategy(MirroredStrategy):
    """`tf.contrib.distribute.CollectiveAllReduceStrategy` in one process, where it computes what `MirroredStrategy` does."""

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        """Takes the number of GPUs.

        Args:
          num_gpus_per_worker: How many GPUs; 0 is for the CPU.
        """
        super().__init__(num_gpus=num_gpus_per_worker)


class ParameterServerStrategy(_CentralStorageStrategy):
    """`tf.contrib.distribute.ParameterServerStrategy` in one process: the variables are on one device, replicas on several."""

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        """Takes the number of GPUs.

        Args:
          num_gpus_per_worker: How many GPUs; 0 is for the CPU.
        """
        devices = _gpus(num_gpus_per_worker)
        super().__init__(devices, devices[0] if len(devices) == 1 else "/cpu:0")


def all_reduce(
    all_reduce_alg: str = "nccl",
    num_packs: int = 1,
    agg_small_grads_max_bytes: int = 0,
    agg_small_grads_max_group: int = 10,
) -> Any:
    """Returns what joins gradients by an algorithm.

    It stands for `tf.contrib.distribute.AllReduceCrossDeviceOps` and `AllReduceCrossTowerOps`.

    Args:
      all_reduce_alg: "nccl" or "hierarchical_copy".
      num_packs: In how many packs gradients go.
      agg_small_grads_max_bytes: Has no effect.
      agg_small_grads_max_group: Has no effect.

    Returns:
      A `tf.distribute.CrossDeviceOps`.

    Raises:
      EstimatorError: (a ValueError) there is no such algorithm.
    """
    del agg_small_grads_max_bytes, agg_small_grads_max_group
    kinds = {
        "nccl": tf.distribute.NcclAllReduce,
        "hierarchical_copy": tf.distribute.HierarchicalCopyAllReduce,
    }
    if all_reduce_alg not in kinds:
        raise EstimatorError(
            f"all_reduce_alg must be one of {', '.join(kinds)}, but it is {all_reduce_alg!r}."
        )
    return kinds[all_reduce_alg](num_packs)


def _gpus(count: int) -> list[str]:
    return [f"/gpu:{index}" for index in range(count)] or ["/cpu:0"]


def _once(**given: Any) -> Any:
    """Returns that of the arguments which was given, or None."""
    there = {name: value for name, value in given.items() if value is not None}
    if len(there) > 1:
        raise EstimatorError(f"Only one of {' and '.join(there)} can be given. Leave the other out.")
    return next(iter(there.values()), None)
