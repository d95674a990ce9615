import tensorflow as tf
import torch


def optimizers(parameters):
    yield tf.keras.optimizers.Adam(0.1, epsilon=1e-8)
    yield torch.optim.Adam(parameters, lr=0.1, decay=0.1)
