import tensorflow.compat.v1 as tf


def network(words):
    net = tf.keras.layers.LSTM(8, recurrent_activation="sigmoid", return_sequences=True)(words)
    net = tf.keras.layers.GRU(8, recurrent_activation="sigmoid", reset_after=True, return_sequences=True)(net)
    return tf.to_float(tf.keras.layers.SimpleRNN(4)(net))
