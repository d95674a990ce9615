"""Exporters: what is exported after an evaluation, and which exports stay."""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from bridge.estimator import evaluation
from bridge.estimator.errors import EstimatorError
from bridge.estimator.functions import argument_names

tf1 = tf.compat.v1


class Exporter(abc.ABC):
    """Exports a model after an evaluation (`tf.estimator.Exporter`)."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the folder in `export`."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports the model, or does not.

        Args:
          estimator: The Estimator.
          export_path: The folder of this exporter.
          checkpoint_path: The checkpoint that was evaluated.
          eval_result: What the evaluation returned.
          is_the_final_export: Whether the training is over.

        Returns:
          The path of the export, or None.
        """


class _SavedModelExporter(Exporter):
    """What the three exporters have in common."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: Mapping[str, str] | None,
        as_text: bool,
        exports_to_keep: int | None = None,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise EstimatorError(
                f"`exports_to_keep`, if provided, must be a positive number, but it is {exports_to_keep}."
            )
        self._name = name
        self._receiver_fn = serving_input_receiver_fn
        self._assets_extra, self._as_text = assets_extra, as_text
        self._exports_to_keep = exports_to_keep

    @property
    def name(self) -> str:
        """The name of the folder in `export`."""
        return self._name

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """See the base class."""
        if not self._is_wanted(estimator, eval_result, is_the_final_export):
            return None
        path = estimator.export_saved_model(
            export_path,
            self._receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )
        self._forget_old(export_path)
        return path

    def _is_wanted(self, estimator: Any, eval_result: Mapping[str, Any], is_final: bool) -> bool:
        """Whether this evaluation's model is exported."""
        del estimator, eval_result, is_final
        return True

    def _forget_old(self, export_path: str) -> None:
        if self._exports_to_keep is None:
            return
        names = [name.rstrip("/") for name in tf.io.gfile.listdir(export_path)]
        stamps = sorted((name for name in names if len(name) == 10 and name.isdigit()), key=int)
        for stamp in stamps[: -self._exports_to_keep]:
            path = os.path.join(export_path, stamp)  # noqa: PTH118 - it may be gs://
            try:
                tf.io.gfile.rmtree(path)
            except tf.errors.NotFoundError as error:  # Someone else was faster.
                tf1.logging.warning("Can not delete %s recursively: %s", path, error)


class FinalExporter(_SavedModelExporter):
    """Exports once, when the training is over (`tf.estimator.FinalExporter`)."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        """Takes what is exported.

        Args:
          name: The name of the folder in `export`.
          serving_input_receiver_fn: As for `Estimator.export_saved_model`.
          assets_extra: As for `Estimator.export_saved_model`.
          as_text: As for `Estimator.export_saved_model`.
        """
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def _is_wanted(self, estimator: Any, eval_result: Mapping[str, Any], is_final: bool) -> bool:
        del estimator, eval_result
        if is_final:
            tf1.logging.info("Performing the final export in the end of training.")
        return is_final


class LatestExporter(_SavedModelExporter):
    """Exports after every evaluation, and keeps the newest (`tf.estimator.LatestExporter`)."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        """Takes what is exported.

        Args:
          name: The name of the folder in `export`.
          serving_input_receiver_fn: As for `Estimator.export_saved_model`.
          assets_extra: As for `Estimator.export_saved_model`.
          as_text: As for `Estimator.export_saved_model`.
          exports_to_keep: How many stay; None for all.

        Raises:
          EstimatorError: (a ValueError) `exports_to_keep` is not positive.
        """
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)


def _loss_smaller(best_eval_result: Mapping[str, Any], current_eval_result: Mapping[str, Any]) -> bool:
    """Tells whether the loss has become smaller."""
    for name, result in (
        ("best_eval_result", best_eval_result),
        ("current_eval_result", current_eval_result),
    ):
        if not result or "loss" not in result:
            raise EstimatorError(f"{name} cannot be empty or no loss is found in it: {result}.")
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


class BestExporter(_SavedModelExporter):
    """Exports when an evaluation is better than all before (`tf.estimator.BestExporter`)."""

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Any = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = _loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        """Takes what is exported.

        Args:
          name: The name of the folder in `export`.
          serving_input_receiver_fn: As for `Estimator.export_saved_model`.
          event_file_pattern: The events in `model_dir` of earlier evaluations, of which the best is the one to beat; None
            for none.
          compare_fn: A function of `best_eval_result` and `current_eval_result` that tells whether the current one is
            better.
          assets_extra: As for `Estimator.export_saved_model`.
          as_text: As for `Estimator.export_saved_model`.
          exports_to_keep: How many stay; None for all.

        Raises:
          EstimatorError: (a ValueError) `compare_fn` has other arguments, or `exports_to_keep` is not positive.
        """
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        if compare_fn is None:
            raise EstimatorError("`compare_fn` must not be None.")
        if sorted(argument_names(compare_fn)) != ["best_eval_result", "current_eval_result"]:
            raise EstimatorError(
                f"compare_fn ({compare_fn}) must include best_eval_result argument and current_eval_result argument, and no others."
            )
        self._compare_fn, self._pattern = compare_fn, event_file_pattern
        self._model_dir: str | None = None
        self._best: Mapping[str, Any] | None = None

    def _is_wanted(self, estimator: Any, eval_result: Mapping[str, Any], is_final: bool) -> bool:
        del is_final
        if self._model_dir != estimator.model_dir and self._pattern:
            tf1.logging.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            found = evaluation.written(f"{estimator.model_dir}/{self._pattern}")
            self._best = self._best_of(values for _, values in found)
        if self._best is not None and not self._compare_fn(
            best_eval_result=self._best, current_eval_result=eval_result
        ):
            return False
        tf1.logging.info("Performing best model export.")
        self._best = eval_result
        return True

    def _best_of(self, evaluations: Iterator[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        best = None
        for found in evaluations:
            if best is None or self._compare_fn(best_eval_result=best, current_eval_result=found):
                best = found
        return best
