try:
    from tensorflow.contrib import slim
except ImportError:
    import tf_slim as slim


def net(x):
    return slim.conv2d(x, 3, 3)
