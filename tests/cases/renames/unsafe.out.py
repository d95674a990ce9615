# codemod: --unsafe-fixes
import tensorflow.compat.v1 as tf


def losses(loss):
    tf.summary.scalar("loss", loss)
    return tf.keras.losses.cosine_similarity
