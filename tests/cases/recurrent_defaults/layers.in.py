import tensorflow as tf

L = tf.keras.layers


def network(words):
    net = L.Bidirectional(L.LSTM(8, return_sequences=True))(words)
    net = L.GRU(8, recurrent_activation="sigmoid", return_sequences=True)(net)
    return tf.to_float(L.GRU(4)(net))
