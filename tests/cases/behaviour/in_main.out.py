import argparse
import bridge
import os

parser = argparse.ArgumentParser()
args = parser.parse_args()

if __name__ == "__main__":
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    with bridge.MonitoredTrainingSession(checkpoint_dir=args.x) as sess:
        sess.run(tf.placeholder(tf.float32))
