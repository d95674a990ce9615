import argparse
import os

parser = argparse.ArgumentParser()
args = parser.parse_args()

if __name__ == "__main__":
    import tensorflow as tf
    with tf.train.MonitoredTrainingSession(checkpoint_dir=args.x) as sess:
        sess.run(tf.placeholder(tf.float32))
