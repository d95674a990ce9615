import tensorflow.compat.v1 as tf
from keras.layers import Dense

layer = Dense(1)
# TODO(codemod TFB501): a session's configuration goes to TensorFlow itself: bridge.apply_session_config (--unsafe-fixes rewrites it)
tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto()))
layer([[1.0]])
