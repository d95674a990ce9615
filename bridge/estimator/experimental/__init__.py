"""Hooks and helpers of `tf.estimator.experimental`."""

from typing import Any

from bridge.estimator.canned.headed import dnn_logit_fn_builder, linear_logit_fn_builder
from bridge.estimator.early_stopping import (
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from bridge.estimator.export.receivers import build_raw_supervised_input_receiver_fn
from bridge.estimator.in_memory_evaluator import InMemoryEvaluatorHook
from bridge.estimator.model_fn import call_logit_fn
from bridge.estimator.stop_at_checkpoint import make_stop_at_checkpoint_step_hook
from bridge.estimator.symbols import missing

__all__ = [
    "InMemoryEvaluatorHook",
    "build_raw_supervised_input_receiver_fn",
    "call_logit_fn",
    "dnn_logit_fn_builder",
    "linear_logit_fn_builder",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]


def __getattr__(name: str) -> Any:
    return missing(__name__, name, __all__)
