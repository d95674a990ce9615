import tensorflow as tf


def fit(build, data):
    with tf.contrib.distribute.MirroredStrategy(num_gpus=2).scope():
        model = build()
    model.fit(data)
