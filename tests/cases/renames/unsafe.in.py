# codemod: --unsafe-fixes
import tensorflow as tf


def losses(loss):
    tf.scalar_summary("loss", loss)
    return tf.keras.losses.cosine_proximity
