"""Where the bridge means to differ from TensorFlow 1.15.5, each place with its reason. Nothing else may differ.

A difference rewrites what the golden file says into what the bridge shall do, or takes out of the bridge's record
what the golden file cannot have.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import re
from typing import Any, Callable

from tests.oracle import scenarios

Rewrite = Callable[[dict[str, Any]], None]


def _unchanged(record: dict[str, Any]) -> None:
    pass


@dataclasses.dataclass(frozen=True)
class Difference:
    """One intended difference: in which scenarios (a name, or a pattern), why, and what it changes in place."""

    scenarios: str
    reason: str
    in_golden: Rewrite = _unchanged
    in_bridge: Rewrite = _unchanged

    def applies_to(self, name: str) -> bool:
        return fnmatch.fnmatchcase(name, self.scenarios)


def _nothing_is_trained(golden: dict[str, Any]) -> None:
    golden["trained"] = 0
    golden["global_step"] -= 1
    golden["kernel"], golden["bias"] = scenarios.KERNEL.tolist(), scenarios.BIAS.tolist()
    del golden["trace"]


def _no_call_past_the_data(golden: dict[str, Any]) -> None:
    golden["trace"].remove(["hook", "before_run", 4])


def _forget_the_last_step(record: dict[str, Any]) -> None:
    for key in ("trained", "global_step", "kernel", "bias"):
        del record[key]
    record["trace"][-1] = record["trace"][-1][:2]


def _values_before_the_update(golden: dict[str, Any]) -> None:
    golden["trace"] = [["list", [0, scenarios.KERNEL.tolist()]], *golden["trace"][:-1]]


def _steps_before_the_update(golden: dict[str, Any]) -> None:
    for entry in golden["logs"]:
        entry[1] = re.sub(
            r"^global_step = (\d+)", lambda found: f"global_step = {int(found[1]) - 1}", entry[1]
        )


def _drop_listener_lines(bridge: dict[str, Any]) -> None:
    if "logs" in bridge:
        bridge["logs"] = [entry for entry in bridge["logs"] if "Calling checkpoint listeners" not in entry[1]]


def drop_keras_variables(bridge: dict[str, Any]) -> None:
    for folder in bridge.get("checkpoints", {}).values():
        for variables in folder["kept"].values():
            variables.pop("sgd/learning_rate", None)
            variables.pop("batches_trained", None)  # Where a fit that is resumed goes on.


DIFFERENCES = [
    Difference(
        "stop_at_step/last_step_already_reached",
        "A TF1 session learns that the last step is reached from a step too many, which moves the weights past the "
        "checkpoint that it resumed from. Under the bridge a fit that has nothing left to do trains nothing, and its "
        "hooks are not begun.",
        in_golden=_nothing_is_trained,
    ),
    Difference(
        "hook_life/the_data_end",
        "In TF1 the end of the data shows inside a run, after `before_run`. Keras takes the batch from its iterator "
        "before the step, so that a run which cannot be is not begun.",
        in_golden=_no_call_past_the_data,
    ),
    Difference(
        "hook_life/a_hook's_own_data_end_in_the_step",
        "TF1 leaves it open how much of a step is still done when something else in its run fails: operations that "
        "have begun go on. That the hooks are ended, and what they saw before, is compared; the last step is not.",
        in_golden=_forget_the_last_step,
        in_bridge=_forget_the_last_step,
    ),
    Difference(
        "hook_life/reference_variables_are_read_after_the_step",
        "Fetching a reference variable gives its buffer, which the step has overwritten by the time that the value is "
        "copied. The bridge's graph has resource variables, as `tf.enable_resource_variables()` makes them in TF1, and "
        "a hook that fetches one sees the state before the step, always.",
        in_golden=_values_before_the_update,
    ),
    Difference(
        "logging_tensor/the_step_by_name",
        "The same for `global_step:0`, which in TF1 names a reference variable's buffer (with a resource variable, the "
        "bytes of its handle): by name as well, the bridge gives the value before the step.",
        in_golden=_steps_before_the_update,
    ),
    Difference(
        "*",
        "Not the bridge's doing: later TensorFlows log that the hook calls its listeners, even if it has none.",
        in_bridge=_drop_listener_lines,
    ),
    Difference(
        "*",
        "Keras optimizers keep the learning rate in a variable, and so it is in the checkpoint too.",
        in_bridge=drop_keras_variables,
    ),
]


def differences_in(name: str) -> list[Difference]:
    return [difference for difference in DIFFERENCES if difference.applies_to(name)]
