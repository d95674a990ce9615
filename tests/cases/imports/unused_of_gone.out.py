import tensorflow.compat.v1 as tf

loss = tf.losses.get_total_loss
