import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from keras import backend as K

# TODO(codemod TFB501): keras.backend.set_session does not exist in Keras 3. Import tf_keras in place of keras, with bridge.legacy_keras, or take the session out by hand
K.set_session(tf.Session())
# TODO(codemod TFB501): keras.backend.get_session does not exist in Keras 3. Import tf_keras in place of keras, with bridge.legacy_keras, or take the session out by hand
session = K.get_session()
