import bridge
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

dataset = tf.data.TextLineDataset(["words.txt"])
line = dataset.make_one_shot_iterator().get_next()

count = 0
with bridge.MonitoredTrainingSession() as sess:
    while not sess.should_stop():
        count += len(sess.run(line).decode("utf-8").split(" "))
