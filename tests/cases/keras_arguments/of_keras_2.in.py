import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import LSTM, Dense
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import SGD

K.set_session(tf.Session())
print(K.get_session().graph)
model = Sequential([LSTM(3, input_shape=(2, 2)), Dense(1)])
model.compile(loss="mse", optimizer=SGD(lr=0.01, decay=1e-6, momentum=0.9))
