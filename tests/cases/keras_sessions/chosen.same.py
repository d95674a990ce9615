import bridge.legacy_keras
import tensorflow.compat.v1 as tf
from tensorflow.keras import backend as K

tf.disable_v2_behavior()
tf.keras.backend.set_session(tf.Session())
phase = K.learning_phase()
