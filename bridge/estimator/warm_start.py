"""Where an Estimator's variables get their first values from, when there is no checkpoint of its own yet."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from bridge.estimator.errors import EstimatorError

tf1 = tf.compat.v1

VocabInfo = tf1.train.VocabInfo


class _Fields(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any
    var_name_to_vocab_info: Mapping[str, Any]
    var_name_to_prev_var_name: Mapping[str, str]


class WarmStartSettings(_Fields):
    """Which variables start with another model's values (`tf.estimator.WarmStartSettings`)."""

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: str | os.PathLike[str],
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Mapping[str, Any] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        """Takes the settings.

        Args:
          ckpt_to_initialize_from: A checkpoint, or a folder of which the newest is taken.
          vars_to_warm_start: A regular expression over trainable variables; a list of them, over all variables; a list
            of variables; or None for those with a vocabulary only.
          var_name_to_vocab_info: From names to `tf.compat.v1.train.VocabInfo`, for embeddings whose vocabulary changed.
          var_name_to_prev_var_name: From names to those in the checkpoint.

        Raises:
          EstimatorError: (a ValueError) no checkpoint is named.
        """
        if not ckpt_to_initialize_from:
            raise EstimatorError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings.")
        return super().__new__(
            cls,
            os.fspath(ckpt_to_initialize_from),
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )

    def apply(self) -> None:
        """Gives the variables of the default graph initializers that read the checkpoint."""
        tf1.logging.info("Warm-starting with WarmStartSettings: %s", self)
        tf1.train.warm_start(*self)


def warm_start_settings(source: Any) -> WarmStartSettings | None:
    """Returns the settings that an Estimator's `warm_start_from` stands for.

    Args:
      source: None, settings, or the path of a checkpoint, of a folder of checkpoints, or of a SavedModel.

    Raises:
      EstimatorError: (a ValueError) it is something else.
    """
    if source is None or isinstance(source, WarmStartSettings):
        return source
    if isinstance(source, bytes):
        source = source.decode()
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        inside = f"{path}/variables/variables"
        if tf.io.gfile.exists(f"{inside}.index"):
            tf1.logging.info("Warm-starting from a SavedModel")
            path = inside
        return WarmStartSettings(path)
    raise EstimatorError(
        f"warm_start_from must be a string or a WarmStartSettings, but it is {source!r}. Give the path of a checkpoint."
    )
