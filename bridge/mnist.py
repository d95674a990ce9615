"""The MNIST reader of the TensorFlow 1 tutorials, `tensorflow.examples.tutorials.mnist.input_data`.

Hundreds of small programs begin with `input_data.read_data_sets(folder, one_hot=True)` and call `next_batch`. TensorFlow
no longer ships the module. This one reads the same four files if the folder has them, and otherwise the data set that
`keras.datasets.mnist` downloads, which holds the same pictures in the same order.
"""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

_FILES = {
    "train_images": "train-images-idx3-ubyte.gz",
    "train_labels": "train-labels-idx1-ubyte.gz",
    "test_images": "t10k-images-idx3-ubyte.gz",
    "test_labels": "t10k-labels-idx1-ubyte.gz",
}
_CLASSES = 10


class Datasets(NamedTuple):
    """The three parts of the data.

    Attributes:
      train: What is left of the training pictures.
      validation: The first `validation_size` training pictures.
      test: The test pictures.
    """

    train: DataSet
    validation: DataSet
    test: DataSet


class DataSet:
    """Pictures and labels, handed out in batches.

    Args:
      images: Bytes of shape (count, height, width, 1).
      labels: One row or one number a picture.
      dtype: `uint8` for pixels from 0 to 255, `float32` for pixels from 0 to 1.
      reshape: Whether a picture is one row of pixels.
      seed: Of the order; None for TensorFlow's graph seed. It seeds NumPy's global generator, as TensorFlow 1 did.

    Raises:
      TypeError: If `dtype` is another.
      ValueError: If there are more pictures than labels, or fewer.
    """

    def __init__(
        self,
        images: np.ndarray,
        labels: np.ndarray,
        *,
        dtype: Any = tf.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        graph_seed, own_seed = tf.compat.v1.get_seed(seed)
        np.random.seed(graph_seed if seed is None else own_seed)
        kind = tf.as_dtype(dtype).base_dtype
        if kind not in (tf.uint8, tf.float32):
            raise TypeError(f"MNIST pictures are of uint8 or float32, not {dtype!r}. Cast the batches.")
        if len(images) != len(labels):
            raise ValueError(
                f"There are {len(images)} pictures and {len(labels)} labels. They must be as many."
            )
        if reshape:
            images = images.reshape(len(images), images.shape[1] * images.shape[2])
        if kind == tf.float32:
            images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images = images
        self._labels = labels
        self._epochs_completed = 0
        self._position = 0

    @property
    def images(self) -> np.ndarray:
        """All pictures, in their present order."""
        return self._images

    @property
    def labels(self) -> np.ndarray:
        """All labels, in their present order."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """How many pictures there are."""
        return len(self._images)

    @property
    def epochs_completed(self) -> int:
        """How often all pictures have been handed out."""
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Hands out the next pictures and labels; at the end it goes on from the beginning.

        Args:
          batch_size: How many.
          fake_data: Not supported; must be False.
          shuffle: Whether each round has a new order.

        Raises:
          ValueError: If `fake_data` is asked for.
        """
        _refuse_fake_data(fake_data)
        start, count = self._position, self.num_examples
        if start == 0 and self._epochs_completed == 0 and shuffle:
            self._shuffle()
        if start + batch_size <= count:
            self._position = start + batch_size
            return self._images[start : self._position], self._labels[start : self._position]
        self._epochs_completed += 1
        images, labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._position = batch_size - (count - start)
        return (
            np.concatenate([images, self._images[: self._position]]),
            np.concatenate([labels, self._labels[: self._position]]),
        )

    def _shuffle(self) -> None:
        order = np.arange(self.num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = tf.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str | None = None,
) -> Datasets:
    """Reads MNIST, in three parts.

    Stands for `tensorflow.examples.tutorials.mnist.input_data.read_data_sets` of TensorFlow 1.

    Args:
      train_dir: A folder with the four files of MNIST, as they are published. If one is missing, the pictures are those
        of `keras.datasets.mnist`, which Keras keeps in a folder of its own.
      fake_data: Not supported; must be False.
      one_hot: Whether a label is a row with a one in it, instead of a number.
      dtype: `float32` for pixels from 0 to 1, `uint8` for pixels from 0 to 255.
      reshape: Whether a picture is one row of 784 pixels.
      validation_size: How many of the training pictures are set aside.
      seed: Of the batches' order.
      source_url: Not used: Keras knows where its data are.

    Raises:
      ValueError: If `validation_size` is more than there are, or a file is not of MNIST's format.
    """
    del source_url
    _refuse_fake_data(fake_data)
    train_images, train_labels, test_images, test_labels = _read(Path(train_dir))
    if one_hot:
        train_labels, test_labels = _one_hot(train_labels), _one_hot(test_labels)
    if not 0 <= validation_size <= len(train_images):
        raise ValueError(f"validation_size must be between 0 and {len(train_images)}, not {validation_size}.")

    def part(images: np.ndarray, labels: np.ndarray) -> DataSet:
        return DataSet(images, labels, dtype=dtype, reshape=reshape, seed=seed)

    return Datasets(
        train=part(train_images[validation_size:], train_labels[validation_size:]),
        validation=part(train_images[:validation_size], train_labels[:validation_size]),
        test=part(test_images, test_labels),
    )


def _refuse_fake_data(fake_data: bool) -> None:
    if fake_data:
        raise ValueError(
            "fake_data is not supported. Make arrays of ones with NumPy where a test needs them."
        )


def _read(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    paths = {part: folder / name for part, name in _FILES.items()}
    if all(path.is_file() for path in paths.values()):
        return (
            _images(paths["train_images"]),
            _labels(paths["train_labels"]),
            _images(paths["test_images"]),
            _labels(paths["test_labels"]),
        )
    (train_images, train_labels), (test_images, test_labels) = keras.datasets.mnist.load_data()
    return train_images[..., None], train_labels, test_images[..., None], test_labels


def _images(path: Path) -> np.ndarray:
    content = gzip.decompress(path.read_bytes())
    magic, count, rows, columns = struct.unpack(">IIII", content[:16])
    if magic != 2051:
        raise ValueError(
            f"{path} is no file of MNIST pictures: it begins with {magic}, not 2051. Download it again."
        )
    return np.frombuffer(content, np.uint8, offset=16).reshape(count, rows, columns, 1)


def _labels(path: Path) -> np.ndarray:
    content = gzip.decompress(path.read_bytes())
    magic, count = struct.unpack(">II", content[:8])
    if magic != 2049:
        raise ValueError(
            f"{path} is no file of MNIST labels: it begins with {magic}, not 2049. Download it again."
        )
    return np.frombuffer(content, np.uint8, count=count, offset=8)


def _one_hot(labels: np.ndarray) -> np.ndarray:
    return np.eye(_CLASSES)[labels]
