import tensorflow as tf
from keras import backend as K

K.set_session(tf.Session())
session = K.get_session()
