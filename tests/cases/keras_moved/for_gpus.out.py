# TODO(codemod TFB901): tf.keras.layers.CuDNNLSTM does not exist any more. Use keras.layers.LSTM, which runs on cuDNN by itself
from tensorflow.keras.layers import CuDNNLSTM, Dense

# TODO(codemod TFB504): tf.keras.layers.CuDNNLSTM is tf.keras.layers.LSTM (--unsafe-fixes rewrites it)
layers = [CuDNNLSTM(3), Dense(3)]
