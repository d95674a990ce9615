import tensorflow as tf


def train(model, other, rate):
    optimizer = tf.train.AdamOptimizer(rate)
    model.compile(optimizer, "mse")
    other.compile(loss="mse", optimizer=tf.train.GradientDescentOptimizer(learning_rate=rate))
