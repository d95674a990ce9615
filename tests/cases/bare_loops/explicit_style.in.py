# codemod: --style explicit
import tensorflow as tf

with tf.train.MonitoredTrainingSession() as sess:
    while not sess.should_stop():
        sess.run("train")
