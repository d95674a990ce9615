"""What needs a runtime that has not started: run by `test_config`, prints what it found as JSON.

Usage: config_program.py start|gpus
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import tensorflow as tf
from tensorflow.python.eager import context

import bridge.config
from bridge.config import apply_session_config
from bridge.errors import BridgeError

tf1 = tf.compat.v1
RewriterConfig = tf1.ConfigProto().graph_options.rewrite_options

CONFIG = tf1.ConfigProto(
    device_count={"CPU": 3},
    intra_op_parallelism_threads=2,
    inter_op_parallelism_threads=5,
    allow_soft_placement=True,
    log_device_placement=True,
    gpu_options=tf1.GPUOptions(allow_growth=True, allocator_type="BFC"),
    graph_options=tf1.GraphOptions(
        optimizer_options=tf1.OptimizerOptions(
            global_jit_level=tf1.OptimizerOptions.ON_1,
            do_constant_folding=True,
            do_function_inlining=True,
            do_common_subexpression_elimination=True,
        )
    ),
)
CONFIG.graph_options.rewrite_options.min_graph_nodes = 7
CONFIG.graph_options.rewrite_options.disable_model_pruning = True


def attempt(config: Any) -> dict[str, Any]:
    """Applies a config; returns the error and the warnings that it gave."""
    found: dict[str, Any] = {"error": None}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            apply_session_config(config)
        except BridgeError as error:
            found["error"] = [type(error).__name__, str(error)]
    found["warnings"] = [str(entry.message) for entry in caught if issubclass(entry.category, UserWarning)]
    return found


def in_force() -> dict[str, Any]:
    return {
        "intra": tf.config.threading.get_intra_op_parallelism_threads(),
        "inter": tf.config.threading.get_inter_op_parallelism_threads(),
        "soft": tf.config.get_soft_device_placement(),
        "log": tf.debugging.get_log_device_placement(),
        "jit": tf.config.optimizer.get_jit(),
        "options": tf.config.optimizer.get_experimental_options(),
    }


def toggles() -> dict[str, dict[str, Any]]:
    """Sets every toggle of the rewriter on, then off; returns what `tf.config` then says of each."""
    fields = [f for f in RewriterConfig.DESCRIPTOR.fields if f.enum_type and f.enum_type.name == "Toggle"]
    found: dict[str, dict[str, Any]] = {}
    for level in ("ON", "OFF"):
        config = tf1.ConfigProto()
        for field in fields:
            value = field.enum_type.values_by_name[level].number
            setattr(config.graph_options.rewrite_options, field.name, value)
        refused = "".join(attempt(config)["warnings"])
        options = tf.config.optimizer.get_experimental_options()
        for field in fields:
            path = f"graph_options.rewrite_options.{field.name} ="
            found.setdefault(field.name, {})[level] = (
                "refused" if path in refused else options.get(field.name)
            )
    return found


def start() -> dict[str, Any]:
    """Before, at and after the start of the runtime."""
    found: dict[str, Any] = {}
    tf.config.set_soft_device_placement(False)
    nothing = in_force()
    found["nothing"] = [attempt(config) for config in (None, tf1.ConfigProto())]
    found["nothing_changed"] = in_force() == nothing
    found["first"] = attempt(CONFIG)
    found["in_force"] = in_force()
    with tf.device("/GPU:7"):  # Soft placement takes another device.
        found["sum"] = float(tf.constant(1.0) + 2.0)
    found["devices"] = [device.name for device in tf.config.list_logical_devices()]
    found["again"] = attempt(CONFIG)
    found["any_time"] = attempt(
        tf1.ConfigProto(
            graph_options=tf1.GraphOptions(optimizer_options=tf1.OptimizerOptions(global_jit_level=-1))
        )
    )
    found["jit_off"] = tf.config.optimizer.get_jit()
    before = in_force()
    late = tf1.ConfigProto(
        device_count={"CPU": 2}, intra_op_parallelism_threads=2, inter_op_parallelism_threads=6
    )
    late.graph_options.rewrite_options.min_graph_nodes = 9
    found["late"] = attempt(late)
    found["late_changed_nothing"] = in_force() == before
    found["toggles"] = toggles()
    on_2 = tf1.ConfigProto()
    on_2.graph_options.optimizer_options.global_jit_level = tf1.OptimizerOptions.ON_2
    found["on_2"] = [attempt(on_2), tf.config.optimizer.get_jit()]
    found["bridge"] = mlir_bridge()
    return found


def mlir_bridge() -> list[str]:
    """Which switch of `tf.config` is called for each way to ask for the MLIR bridge."""
    with mock.patch.object(tf.config, "experimental") as experimental:
        for options in ({"enable_mlir_bridge": True}, {"mlir_bridge_rollout": 1}, {"mlir_bridge_rollout": 2}):
            attempt(tf1.ConfigProto(experimental=tf1.ConfigProto.Experimental(**options)))
    return [name for name, _, _ in experimental.method_calls]


# --- GPUs that are only listed -----------------------------------------------------------------------------------


def with_gpus(*configs: Any, before: Callable[[], object] = lambda: None) -> dict[str, Any]:
    """What `tf.config` says of two GPUs of one gigabyte after the configs were applied in a fresh runtime."""
    context._reset_context()
    devices = [b"/physical_device:CPU:0", b"/physical_device:GPU:0", b"/physical_device:GPU:1"]
    with mock.patch.object(context.pywrap_tfe, "TF_ListPhysicalDevices", return_value=devices):
        gpus = tf.config.list_physical_devices("GPU")
        before()
        found = {"attempts": [attempt(config) for config in configs]}
        found["visible"] = [gpus.index(gpu) for gpu in tf.config.get_visible_devices("GPU")]
        found["growth"] = [tf.config.experimental.get_memory_growth(gpu) for gpu in gpus]
        logical = [tf.config.get_logical_device_configuration(gpu) for gpu in gpus]
        found["logical"] = [entries and [list(entry) for entry in entries] for entries in logical]
    return found


def gpu_config(*, count: int | None = None, **options: Any) -> Any:
    counts = {} if count is None else {"GPU": count}
    return tf1.ConfigProto(device_count=counts, gpu_options=tf1.GPUOptions(**options))


def virtual(*entries: dict[str, list[int]]) -> Any:
    devices = [tf1.GPUOptions.Experimental.VirtualDevices(**entry) for entry in entries]
    return gpu_config(experimental=tf1.GPUOptions.Experimental(virtual_devices=devices))


def gpus() -> dict[str, Any]:
    def see_second() -> None:
        tf.config.set_visible_devices([tf.config.list_physical_devices("GPU")[1]], "GPU")

    bridge.config.gpu_memory = lambda index: 1 << 30
    found = {
        "none_asked": with_gpus(tf1.ConfigProto()),
        "count_0": with_gpus(gpu_config(count=0)),
        "count_1": with_gpus(gpu_config(count=1)),
        "count_9": with_gpus(gpu_config(count=9)),
        "count_of_visible": with_gpus(gpu_config(count=1), before=see_second),
        "visible": with_gpus(gpu_config(visible_device_list="1")),
        "visible_and_count": with_gpus(gpu_config(visible_device_list="0,1", count=1)),
        "other_order": with_gpus(gpu_config(visible_device_list="1,0")),
        "not_there": with_gpus(gpu_config(visible_device_list="2")),
        "no_number": with_gpus(gpu_config(visible_device_list="GPU:0")),
        "twice": with_gpus(gpu_config(visible_device_list="0,0")),
        "growth": with_gpus(gpu_config(allow_growth=True)),
        "growth_of_visible": with_gpus(gpu_config(allow_growth=True, visible_device_list="1")),
        "fraction": with_gpus(gpu_config(per_process_gpu_memory_fraction=0.25)),
        "fraction_and_growth": with_gpus(gpu_config(per_process_gpu_memory_fraction=0.25, allow_growth=True)),
        "fraction_above_1": with_gpus(gpu_config(per_process_gpu_memory_fraction=1.5)),
        "virtual": with_gpus(
            virtual({"memory_limit_mb": [100, 200], "priority": [0, 1]}, {"memory_limit_mb": [300]})
        ),
        "virtual_default": with_gpus(virtual({})),
        "virtual_uneven": with_gpus(virtual({"memory_limit_mb": [100, 200], "priority": [0]})),
        "virtual_too_many": with_gpus(virtual({}, {}, {})),
        "negative": with_gpus(gpu_config(count=-1)),
    }
    both = gpu_config(
        count=1, visible_device_list="0,1", per_process_gpu_memory_fraction=0.5, allocator_type="BFC"
    )
    found["twice_the_same"] = with_gpus(both, both)
    bridge.config.gpu_memory = lambda index: None
    found["fraction_unknown"] = with_gpus(gpu_config(per_process_gpu_memory_fraction=0.25))
    return found


print(json.dumps({"start": start, "gpus": gpus}[sys.argv[1]]()))
