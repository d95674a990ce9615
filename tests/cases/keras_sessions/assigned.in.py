"""Trains a model."""
import tensorflow as tf
from keras.backend import set_session
from tensorflow.keras import backend as K

sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
K.set_session(sess)
sess.run(tf.global_variables_initializer())
K.set_learning_phase(1)


def train(model, x, y):
    model.compile("sgd", "mse")
    model.fit(x, y)
    if model.built:
        sess.close()


if __name__ == "__main__":
    set_session(tf.InteractiveSession())
    train(tf.keras.Sequential([tf.keras.layers.Dense(1)]), [[1.0]], [1.0])
