# codemod: --style explicit
import bridge
import tensorflow as tf

with bridge.MonitoredTrainingSession() as sess:
    sess.fit(bridge.GraphModel("train"), verbose=0)
