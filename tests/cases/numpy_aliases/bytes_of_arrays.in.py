import numpy as np
import tensorflow as tf
from array import array
from PIL import Image


def write(writer, picture, mask, numbers):
    image = np.array(Image.open(picture))
    image = image.reshape([-1])
    flat = image.astype(np.uint8)
    for data in (image.tostring(), flat.tostring(), np.asarray(mask)[0].tostring(), np.float32(1).tostring()):
        writer.write(data)
    writer.write(mask.tostring())
    writer.write(array("f", numbers).tostring())
    return tf.placeholder(tf.string)


def read(text, words):
    image = np.fromstring(text, dtype=np.uint8).reshape(4, 4)
    vector = np.fromstring(words, dtype="float32", sep=" ")
    other = np.fromstring(words, float, -1, " ")
    return image, vector, other
