import os, tensorflow as T  # the framework


def model(x):
    return T.placeholder(T.float32, [None]), os.sep
