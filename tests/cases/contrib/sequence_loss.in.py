import tensorflow as tf
from tensorflow.contrib.seq2seq import sequence_loss


def losses(logits, targets):
    weights = tf.to_float(targets > 0)
    return sequence_loss(logits, targets, weights), tf.contrib.seq2seq.sequence_loss(logits, targets, weights)
