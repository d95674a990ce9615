import tensorflow as tf
from tensorflow.contrib.distribute import MirroredStrategy
from tensorflow.contrib.distribute.python import one_device_strategy

distribute = tf.contrib.distribute


def strategy(num_gpus):
    if num_gpus == 0:
        return tf.contrib.distribute.OneDeviceStrategy("device:CPU:0")
    if num_gpus == 1:
        return one_device_strategy.OneDeviceStrategy("device:GPU:0")
    ops = tf.contrib.distribute.AllReduceCrossDeviceOps("nccl", num_packs=num_gpus)
    return MirroredStrategy(num_gpus=num_gpus, cross_device_ops=ops)


def other(name, num_gpus):
    if name == "collective":
        return tf.contrib.distribute.CollectiveAllReduceStrategy(num_gpus_per_worker=num_gpus)
    if name == "server":
        return distribute.ParameterServerStrategy(num_gpus_per_worker=num_gpus)
    if name == "tpu":
        return tf.contrib.distribute.TPUStrategy(None)
    return distribute.MirroredStrategy(
        num_gpus=num_gpus, cross_device_ops=distribute.ReductionToOneDeviceCrossDeviceOps()
    )


def config(name, num_gpus):
    both = tf.contrib.distribute.DistributeConfig(
        train_distribute=strategy(num_gpus), eval_distribute=other(name, num_gpus)
    )
    return tf.estimator.RunConfig(experimental_distribute=both)
