# codemod: --unsafe-fixes
import tensorflow as tf
from keras import optimizers
from tensorflow.keras.optimizers import Adam, SGD


def optimizers_of(model, rate):
    model.optimizer.learning_rate = rate
    yield Adam(learning_rate=rate, beta_1=0.9, amsgrad=False)
    yield SGD(learning_rate=tf.keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 1e-6), momentum=0.9)
    yield SGD(tf.keras.optimizers.schedules.InverseTimeDecay(rate, 1, rate / 10))
    yield tf.keras.optimizers.RMSprop(learning_rate=tf.keras.optimizers.schedules.InverseTimeDecay(0.001, 1, 0.9))
    yield optimizers.Adadelta(learning_rate=1.0)
    yield Adam(
        learning_rate=0.1,
        beta_2=0.9)
