import tensorflow as tf

try:
    image_summary = tf.image_summary
    scalar_summary = tf.scalar_summary
    SummaryWriter = tf.train.SummaryWriter
except:
    image_summary = tf.summary.image
    scalar_summary = tf.summary.scalar
    SummaryWriter = tf.summary.FileWriter

if "concat_v2" in dir(tf):

    def concat(tensors, axis):
        return tf.concat_v2(tensors, axis)

else:

    def concat(tensors, axis):
        return tf.concat(tensors, axis)


def deconv2d(images, weights, shape):
    try:
        return tf.nn.conv2d_transpose(images, weights, output_shape=shape, strides=[1, 2, 2, 1])
    except AttributeError:
        return tf.nn.deconv2d(images, weights, output_shape=shape, strides=[1, 2, 2, 1])


def train(steps):
    try:
        for _ in range(steps):
            tf.contrib.nothing(tf.placeholder(tf.float32))
    except Exception:
        tf.logging.error("failed")
    try:
        tf.contrib.nothing(steps)
    except Exception as error:
        print(error)
