# codemod: --loops keep
import bridge

with bridge.MonitoredTrainingSession() as sess:
    while not sess.should_stop():
        sess.run("train")
