import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tensorflow.python.keras import backend as K
from tensorflow.python.keras.layers import Dense, Input

images = Input(shape=(4,))
labels = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(Dense(1)(images) - labels))
session = K.get_session()
session.run(tf.global_variables_initializer())
print(session.run(loss, {images: [[1, 2, 3, 4]], labels: [[1]]}))
