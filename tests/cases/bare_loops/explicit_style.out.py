# codemod: --style explicit
import bridge
import tensorflow as tf
tf.compat.v1.disable_v2_behavior()

with bridge.MonitoredTrainingSession() as sess:
    sess.fit(bridge.GraphModel("train"), verbose=0)
