import numpy as np
import tensorflow.compat.v1 as tf
from xml.etree import ElementTree


class Row:
    def tostring(self):
        return "row"


def texts(tree):
    return Row().tostring(), ElementTree.tostring(tree), np.zeros(2), tf.zeros([2])
