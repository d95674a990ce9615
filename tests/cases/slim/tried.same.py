try:
    import tensorflow.contrib.slim as slim
except ImportError:
    import tf_slim as slim


def network(x):
    return slim.conv2d(x, 3, [3, 3])
