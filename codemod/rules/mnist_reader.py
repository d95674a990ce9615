"""The MNIST reader of the tutorials is `bridge.mnist`.

## What it does
Writes `bridge.mnist` for `tensorflow.examples.tutorials.mnist.input_data` and for `tf.contrib.learn.datasets.mnist`.

## Why
TensorFlow no longer ships its tutorials. `bridge.mnist.read_data_sets` takes the same arguments and returns the same
object with `train.next_batch`.

## Before
```python
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets("MNIST_data/", one_hot=True)
images = tf.placeholder(tf.float32, [None, 784])
```

## After
```python
import tensorflow.compat.v1 as tf
from bridge import mnist as input_data

mnist = input_data.read_data_sets("MNIST_data/", one_hot=True)
images = tf.placeholder(tf.float32, [None, 784])
```

## Is it safe?
Unsafe: where the folder does not hold the files yet, they are not downloaded into it; the pictures are then those of
`keras.datasets.mnist`, which Keras keeps in its own folder.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.proposals import Proposal
from codemod.rules._moved import Target, moves

CODE = "TFB305"
TRIGGER = r"mnist"

_HOMES = (
    "tf.examples.tutorials.mnist.input_data",
    "tf.contrib.learn.python.learn.datasets.mnist",
    "tf.contrib.learn.datasets.mnist",
    "tensorflow.examples.tutorials.mnist.input_data",
)
_NAMES = ("read_data_sets", "DataSet")
_WHY = "What is not in the folder yet is fetched by keras.datasets.mnist, into Keras's own folder."


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the bridge's reader."""
    yield from moves(file, lambda name: name.startswith(_HOMES), _find)


def _find(name: str) -> Target | None:
    for home in _HOMES:
        if name == home:
            return Target("bridge.mnist", "bridge.mnist", "unsafe", _WHY, namespace=True)
        if name.startswith(f"{home}.") and name[len(home) + 1 :] in _NAMES:
            return Target(f"bridge.mnist.{name[len(home) + 1 :]}", "bridge.mnist", "unsafe", _WHY)
    return None
