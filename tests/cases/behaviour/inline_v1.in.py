import tensorflow as tf

with tf.compat.v1.Session() as sess:
    print(sess.run(tf.constant(1)))
