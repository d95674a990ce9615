import tensorflow as tf


def run(tf, session):
    return tf.Session(tf.placeholder, session)


class Holder:
    def __init__(self):
        self.tf = [tf.get_variable for tf in (1, 2)]

    def call(self, x):
        tf = x.tf
        return tf.get_collection("a")
