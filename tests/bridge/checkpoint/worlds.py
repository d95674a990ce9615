"""What the programs of TensorFlow 1.15.5 and the tests share: the numbers that both train on.

Runs on Python 3.7 and NumPy 1.18 too: keep its syntax that old.
"""

from __future__ import annotations

import numpy as np

X = ((np.arange(12) * 5 % 11 - 5).reshape(4, 3) / 8).astype(np.float32)
Y = ((np.arange(4) * 3 % 7 - 3).reshape(4, 1) / 4).astype(np.float32)
KERNEL = np.array([[0.5], [-0.25], [0.125]], np.float32)
BIAS = np.array([0.25], np.float32)

SEQUENCES = ((np.arange(24) * 7 % 13 - 6).reshape(2, 4, 3) / 8).astype(np.float32)
IMAGES = ((np.arange(50) * 3 % 17 - 8).reshape(2, 5, 5, 1) / 8).astype(np.float32)

STEPS_BEFORE, STEPS_AFTER = 4, 3
RATE, MOMENTUM, DECAY, EPSILON, WEIGHT_DECAY = 0.1, 0.9, 0.75, 1e-4, 0.01
UNITS = 2
FORGET_BIAS = 1.0


def weights(*shape: int) -> np.ndarray:
    """Small different numbers of this shape, the same in every process."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 11 % 19 - 9).reshape(shape) / 16).astype(np.float32)
