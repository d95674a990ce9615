import tensorflow.compat.v1 as tf
from tensorflow.keras import layers


def network(x):
    # TODO(codemod TFB701): the moving averages of this layer are never updated in a TF1 graph under Keras 3. Import bridge.legacy_keras first, which makes tf.keras Keras 2, or train with fit
    x = layers.BatchNormalization()(layers.Dense(3)(x), training=True)
    return tf.get_variable("w", [3]) * x
