import tensorflow.compat.v1 as tf


def deconv2d(input_, output_shape, name="deconv2d"):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [5, 5, output_shape[-1], input_.get_shape()[-1]])
        try:
            # TODO(codemod TFB703): the result of tf.nn.conv2d_transpose has no static batch size if its input has none. Add deconv.set_shape(output_shape) behind it, if output_shape holds numbers only
            deconv = tf.nn.conv2d_transpose(input_, w, output_shape=output_shape, strides=[1, 2, 2, 1])
        except AttributeError:
            deconv = tf.nn.deconv2d(input_, w, output_shape=output_shape, strides=[1, 2, 2, 1])
        biases = tf.get_variable("biases", [output_shape[-1]])
        return tf.reshape(tf.nn.bias_add(deconv, biases), deconv.get_shape())
