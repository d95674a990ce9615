import tensorflow as tf

dataset = tf.contrib.data.TextLineDataset(["words.txt"])
line = dataset.make_one_shot_iterator().get_next()

count = 0
with tf.train.MonitoredTrainingSession() as sess:
    while not sess.should_stop():
        count += len(sess.run(line).decode("utf-8").split(" "))
