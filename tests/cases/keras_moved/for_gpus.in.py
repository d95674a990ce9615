from tensorflow.keras.layers import CuDNNLSTM, Dense

layers = [CuDNNLSTM(3), Dense(3)]
