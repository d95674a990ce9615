"""`bridge.mnist` reads what the reader of TensorFlow 1's tutorials read, in the same order."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from bridge import mnist


def write(folder: Path, train: int = 10, test: int = 4) -> None:
    for kind, count in (("train", train), ("t10k", test)):
        labels = np.arange(count, dtype=np.uint8) % 10
        images = np.arange(count * 784, dtype=np.uint32).astype(np.uint8)
        with gzip.open(folder / f"{kind}-images-idx3-ubyte.gz", "wb") as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28) + images.tobytes())
        with gzip.open(folder / f"{kind}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(struct.pack(">II", 2049, count) + labels.tobytes())


def test_the_files_of_a_folder_are_read_in_three_parts(tmp_path: Path) -> None:
    write(tmp_path)
    data = mnist.read_data_sets(str(tmp_path), validation_size=3)
    assert [part.num_examples for part in data] == [7, 3, 4]
    assert data.validation.labels.tolist() == [0, 1, 2]
    assert data.train.labels.tolist() == [3, 4, 5, 6, 7, 8, 9]
    assert data.train.images.shape == (7, 784)
    assert data.train.images.dtype == np.float32
    assert data.train.images.max() == 1.0


def test_pictures_may_keep_their_shape_and_bytes_and_labels_be_one_hot(tmp_path: Path) -> None:
    write(tmp_path)
    data = mnist.read_data_sets(str(tmp_path), one_hot=True, dtype=tf.uint8, reshape=False, validation_size=0)
    assert data.test.images.shape == (4, 28, 28, 1)
    assert data.test.images.dtype == np.uint8
    assert data.test.labels.tolist() == np.eye(10)[:4].tolist()


def test_batches_go_round_in_the_order_of_the_files_without_shuffling(tmp_path: Path) -> None:
    write(tmp_path)
    train = mnist.read_data_sets(str(tmp_path), validation_size=0).train
    labels = [train.next_batch(4, shuffle=False)[1].tolist() for _ in range(3)]
    assert labels == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]]
    assert train.epochs_completed == 1


def test_a_seed_gives_the_order_that_tensorflow_1_had(tmp_path: Path) -> None:
    write(tmp_path)
    train = mnist.read_data_sets(str(tmp_path), validation_size=0, seed=3).train
    labels = [train.next_batch(5)[1].tolist() for _ in range(4)]
    assert sorted(labels[0] + labels[1]) == list(range(10))
    # What TensorFlow 1.15.5's read_data_sets gives for these files.
    assert labels == GOLDEN_ORDER


GOLDEN_ORDER = [[5, 4, 1, 2, 9], [6, 7, 0, 3, 8], [2, 3, 1, 4, 8], [9, 5, 7, 0, 6]]


def test_without_the_files_the_pictures_are_those_of_keras(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_data() -> Any:
        images = np.full((6, 28, 28), 51, np.uint8)
        return (images, np.arange(6, dtype=np.uint8)), (images[:2], np.array([7, 8], np.uint8))

    monkeypatch.setattr(keras.datasets.mnist, "load_data", load_data)
    data = mnist.read_data_sets(str(tmp_path), validation_size=1)
    assert [part.num_examples for part in data] == [5, 1, 2]
    assert float(data.train.images[0, 0]) == pytest.approx(0.2)
    assert data.test.labels.tolist() == [7, 8]


def test_files_of_another_kind_are_named(tmp_path: Path) -> None:
    write(tmp_path)
    name = "train-images-idx3-ubyte.gz"
    (tmp_path / name).write_bytes((tmp_path / "train-labels-idx1-ubyte.gz").read_bytes())
    with pytest.raises(ValueError, match=f"{name} is no file of MNIST pictures"):
        mnist.read_data_sets(str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"validation_size": 11}, ValueError, "between 0 and 10"),
        ({"fake_data": True, "validation_size": 0}, ValueError, "fake_data"),
        ({"dtype": tf.float64, "validation_size": 0}, TypeError, "uint8 or float32"),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    write(tmp_path)
    with pytest.raises(error, match=message):
        mnist.read_data_sets(str(tmp_path), **arguments)


def test_pictures_and_labels_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="3 pictures and 2 labels"):
        mnist.DataSet(np.zeros((3, 28, 28, 1), np.uint8), np.zeros(2, np.uint8))
