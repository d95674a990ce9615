# codemod: --unsafe-fixes
import tensorflow as tf
from keras import optimizers
from tensorflow.keras.optimizers import Adam, SGD


def optimizers_of(model, rate):
    model.optimizer.lr = rate
    yield Adam(lr=rate, beta_1=0.9, epsilon=None, decay=0.0, amsgrad=False)
    yield SGD(lr=0.1, decay=1e-6, momentum=0.9)
    yield SGD(rate, decay=rate / 10)
    yield tf.keras.optimizers.RMSprop(decay=0.9)
    yield optimizers.Adadelta(lr=1.0)
    yield Adam(
        lr=0.1,
        epsilon=None,
        beta_2=0.9)
