import bridge.seq2seq
import tensorflow.compat.v1 as tf
from bridge.seq2seq import sequence_loss


def losses(logits, targets):
    weights = tf.to_float(targets > 0)
    return sequence_loss(logits, targets, weights), bridge.seq2seq.sequence_loss(logits, targets, weights)
