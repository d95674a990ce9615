"""TF1 name-based checkpoints and Keras models: `load_v1`, `save_v1`, and what goes into `name_map`."""

from bridge.checkpoint.converters import Converted, gru, lstm
from bridge.checkpoint.loading import load_v1, restore_into
from bridge.checkpoint.report import CheckpointEntry, CheckpointReport
from bridge.checkpoint.saving import save_v1

__all__ = [
    "CheckpointEntry",
    "CheckpointReport",
    "Converted",
    "gru",
    "load_v1",
    "lstm",
    "restore_into",
    "save_v1",
]
