# codemod: --unsafe-fixes
import bridge
import tensorflow.compat.v1 as tf


def strategy(num_gpus):
    if num_gpus == 0:
        return bridge.estimator.strategies.OneDeviceStrategy("device:CPU:0")
    return bridge.estimator.strategies.MirroredStrategy(num_gpus=num_gpus)
