import keras
import tensorflow.compat.v1 as tf
from tensorflow.core.framework import summary_pb2
from tensorflow.python.client import timeline


def all_there():
    return keras.layers.Dense, tf.app.flags.FLAGS.rate, summary_pb2.Summary, timeline.Timeline, tf.__version__
