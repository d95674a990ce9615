import bridge.legacy_keras
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tensorflow.keras import backend as K

sess = tf.Session()
tf.keras.backend.set_session(sess)
x = tf.placeholder(tf.float32, [None, 3])
y = tf.keras.layers.Dense(1)(x)
with tf.keras.backend.get_session().as_default():
    sess.run(y, feed_dict={x: [[1, 2, 3]], K.learning_phase(): 0})
