import bridge.legacy_keras
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tensorflow.keras import backend as K
from tensorflow.keras.layers import LSTM, Dense
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import SGD

tf.keras.backend.set_session(tf.Session())
print(tf.keras.backend.get_session().graph)
model = Sequential([tf.keras.layers.LSTM(3, input_shape=(2, 2)), Dense(1)])
model.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(lr=0.01, decay=1e-6, momentum=0.9))
