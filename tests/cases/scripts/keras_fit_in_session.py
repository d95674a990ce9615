"""A tf.keras model trained by fit, in a session that was configured and handed to Keras."""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Model

config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
config.gpu_options.allow_growth = True
sess = tf.Session(config=config)
K.set_session(sess)


def weights(seed, *shape):
    return tf.constant_initializer(np.random.RandomState(seed).normal(0, 0.3, shape).astype("float32"))


def build_model():
    inputs = Input(shape=(12,))
    x = Dense(16, activation="relu", kernel_initializer=weights(1, 12, 16))(inputs)
    x = Dense(8, activation="tanh", kernel_initializer=weights(2, 16, 8))(x)
    outputs = Dense(3, activation="softmax", kernel_initializer=weights(3, 8, 3))(x)
    return Model(inputs=inputs, outputs=outputs)


def main():
    rng = np.random.RandomState(10)
    y = rng.randint(0, 3, 210)
    x = rng.randn(210, 12).astype("float32")
    x[np.arange(210), y] += 2.0

    model = build_model()
    model.compile(optimizer=tf.keras.optimizers.SGD(lr=0.1, momentum=0.9),
                  loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(x[:160], y[:160], batch_size=20, epochs=4, shuffle=False, verbose=0,
                        validation_data=(x[160:], y[160:]))
    loss, accuracy = model.evaluate(x[160:], y[160:], batch_size=50, verbose=0)
    predictions = model.predict(x[:2])
    model.save_weights(os.path.join(sys.argv[1], "final.weights.h5"))

    print(json.dumps({
        "step": len(history.history["loss"]) * (160 // 20), "loss": float(loss), "accuracy": float(accuracy),
        "val_loss": [float(v) for v in history.history["val_loss"]],
        "predictions": predictions.ravel().tolist(), "files": os.listdir(sys.argv[1])}))


if __name__ == "__main__":
    main()
