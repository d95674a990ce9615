# codemod: --unsafe-fixes
import tensorflow as tf


def train(model, batches):
    model.fit_generator(
        batches,
        workers=4,  # as many as there are cores
        epochs=3,
    )
