import bridge.legacy_keras
import tensorflow as tf
from tensorflow.keras import backend as K

K.set_learning_phase(0)
model = tf.keras.models.load_model("model")
model.fit([[1.0]], [1.0])
