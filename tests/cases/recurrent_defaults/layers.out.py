import tensorflow.compat.v1 as tf

L = tf.keras.layers


def network(words):
    # TODO(codemod TFB702): tf.keras.layers.LSTM has another recurrent_activation in Keras 3. Pass recurrent_activation=lambda x: tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0) to compute as before, or import bridge.legacy_keras first
    net = L.Bidirectional(L.LSTM(8, return_sequences=True))(words)
    # TODO(codemod TFB702): tf.keras.layers.GRU has another reset_after in Keras 3. Pass reset_after=False to compute as before, or import bridge.legacy_keras first
    net = L.GRU(8, recurrent_activation="sigmoid", return_sequences=True)(net)
    # TODO(codemod TFB702): tf.keras.layers.GRU has another recurrent_activation and reset_after in Keras 3. Pass recurrent_activation=lambda x: tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0) and reset_after=False to compute as before, or import bridge.legacy_keras first
    return tf.to_float(L.GRU(4)(net))
