"""Other people's names."""
from dataclasses import dataclass

import keras


@dataclass
class RunConfig:
    steps: int


def numpy_input_fn(x):
    return RunConfig(steps=len(x)), keras.Input((3,))
