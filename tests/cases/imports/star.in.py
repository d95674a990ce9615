from tensorflow import *


def model():
    return placeholder(float32, [None]), max(1, 2)
