# codemod: --unsafe-fixes
import tensorflow as tf


def train(model, batches):
    model.fit(
        batches,
        epochs=3,
    )
