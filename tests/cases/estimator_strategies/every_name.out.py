import bridge
import tensorflow.compat.v1 as tf
from bridge.estimator.strategies import MirroredStrategy

distribute = bridge.estimator.strategies


def strategy(num_gpus):
    if num_gpus == 0:
        return bridge.estimator.strategies.OneDeviceStrategy("device:CPU:0")
    if num_gpus == 1:
        return bridge.estimator.strategies.OneDeviceStrategy("device:GPU:0")
    ops = bridge.estimator.strategies.all_reduce("nccl", num_packs=num_gpus)
    return MirroredStrategy(num_gpus=num_gpus, cross_device_ops=ops)


def other(name, num_gpus):
    if name == "collective":
        return bridge.estimator.strategies.CollectiveAllReduceStrategy(num_gpus_per_worker=num_gpus)
    if name == "server":
        return distribute.ParameterServerStrategy(num_gpus_per_worker=num_gpus)
    if name == "tpu":
        # TODO(codemod TFB901): tf.contrib.distribute.TPUStrategy does not exist any more. Use tf.distribute
        return tf.contrib.distribute.TPUStrategy(None)
    return distribute.MirroredStrategy(
        num_gpus=num_gpus, cross_device_ops=tf.distribute.ReductionToOneDevice()
    )


def config(name, num_gpus):
    both = bridge.estimator.strategies.DistributeConfig(
        train_distribute=strategy(num_gpus), eval_distribute=other(name, num_gpus)
    )
    return bridge.estimator.RunConfig(experimental_distribute=both)
