import tensorflow.compat.v1 as tf


def fit(build, data):
    # TODO(codemod TFB605): tf.contrib.distribute.MirroredStrategy is bridge.estimator.strategies.MirroredStrategy (--unsafe-fixes rewrites it)
    with tf.contrib.distribute.MirroredStrategy(num_gpus=2).scope():
        model = build()
    model.fit(data)
