import tensorflow as tf
tf.compat.v1.disable_v2_behavior()

with tf.compat.v1.Session() as sess:
    print(sess.run(tf.constant(1)))
