import numpy as np
import tensorflow.compat.v1 as tf
from array import array
from PIL import Image


def write(writer, picture, mask, numbers):
    image = np.array(Image.open(picture))
    image = image.reshape([-1])
    flat = image.astype(np.uint8)
    for data in (image.tobytes(), flat.tobytes(), np.asarray(mask)[0].tobytes(), np.float32(1).tobytes()):
        writer.write(data)
    # TODO(codemod TFB306): an array's tostring is its tobytes (--unsafe-fixes rewrites it)
    writer.write(mask.tostring())
    # TODO(codemod TFB306): an array's tostring is its tobytes (--unsafe-fixes rewrites it)
    writer.write(array("f", numbers).tostring())
    return tf.placeholder(tf.string)


def read(text, words):
    image = np.frombuffer(text, dtype=np.uint8).copy().reshape(4, 4)
    vector = np.fromstring(words, dtype="float32", sep=" ")
    other = np.fromstring(words, float, -1, " ")
    return image, vector, other
