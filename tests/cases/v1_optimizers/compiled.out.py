import tensorflow.compat.v1 as tf


def train(model, other, rate):
    optimizer = tf.train.AdamOptimizer(rate)
    # TODO(codemod TFB505): Keras 3 does not take tf.train.AdamOptimizer. Use keras.optimizers.Adam(rate, epsilon=1e-8)
    model.compile(optimizer, "mse")
    # TODO(codemod TFB505): Keras 3 does not take tf.train.GradientDescentOptimizer. Use keras.optimizers.SGD(rate)
    other.compile(loss="mse", optimizer=tf.train.GradientDescentOptimizer(learning_rate=rate))
