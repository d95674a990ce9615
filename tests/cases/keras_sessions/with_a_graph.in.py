import tensorflow as tf
from tensorflow.keras import backend as K

sess = tf.Session()
K.set_session(sess)
x = tf.placeholder(tf.float32, [None, 3])
y = tf.keras.layers.Dense(1)(x)
with K.get_session().as_default():
    sess.run(y, feed_dict={x: [[1, 2, 3]], K.learning_phase(): 0})
