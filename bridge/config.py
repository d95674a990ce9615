"""`ConfigProto` for a process without sessions: each of its fields becomes a call of `tf.config`, or is named.

A `tf.compat.v1.Session` gets threads, devices and optimizer options by its `config` argument. A Keras model has no
session; the same things belong to TensorFlow's runtime, of which there is one in a process, and which takes most of
them only before it starts. `FIELDS` is the whole of `ConfigProto`, field by field.
"""

from __future__ import annotations

import ctypes
import dataclasses
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import Any

import tensorflow as tf

from bridge.errors import (
    InvalidSessionConfigError,
    NotASessionConfigError,
    SessionConfigError,
    SessionConfigWarning,
)

tf1 = tf.compat.v1

_MIB = 1 << 20


def apply_session_config(config: Any) -> None:
    """Gives TensorFlow's runtime the options of a `tf.compat.v1.ConfigProto`.

    Stands for the `config` argument of `tf.compat.v1.Session` and of `tf.compat.v1.train.MonitoredTrainingSession`,
    for models that run without a session. Call it first in the program, directly after the imports: threads and
    devices can be set only before the first tensor or model exists. Applied again it changes nothing, at any time.

    Args:
      config: The options, a `tf.compat.v1.ConfigProto`. Fields that are unset or at their default do nothing, and so
        does None.

    Raises:
      TypeError: if `config` is something else.
      ValueError: if a value cannot be, such as a GPU that is not there.
      RuntimeError: if a field comes too late, since the runtime has started with another value. Nothing was changed.

    Warns:
      SessionConfigWarning: names every field that is set and has no counterpart in `tf.config`, once for all.
    """
    if config is None:
        return
    if not isinstance(config, tf1.ConfigProto):
        raise NotASessionConfigError(_not_a_config(config))
    plan = _Plan()
    for path, value in set_fields(config):
        plan.add(path, value)
    _plan_gpus(plan)
    _apply(plan)
    if plan.without_counterpart:
        lines = [f"  {path} = {_short(value)}: {why}" for path, value, why in plan.without_counterpart]
        warnings.warn(
            "Not everything in the ConfigProto has a counterpart in tf.config, for models that run without a session:\n"
            + "\n".join(lines)
            + "\nSet what the lines say, or take the fields out.",
            SessionConfigWarning,
            stacklevel=2,
        )


def set_fields(message: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Walks a proto message.

    Args:
      message: A `ConfigProto`, or a message inside it.
      prefix: The path to the message, with a dot at its end.

    Yields:
      Path and value of every field that is set to something else than its default. Repeated fields and maps are
      values as a whole.
    """
    for field, value in message.ListFields():
        path = prefix + field.name
        if is_single_message(field):
            yield from set_fields(value, f"{path}.")
        elif _is_repeated(field) or value != field.default_value:
            yield path, value


def rule_of(path: str) -> Rule | str | None:
    """Finds what becomes of a field.

    Args:
      path: The field's path, such as `gpu_options.allow_growth`.

    Returns:
      The rule that plans it, or the text that says why there is none; that of the message around it where `FIELDS`
      has the message as a whole; None for a field that this release of the bridge does not know.
    """
    while path:
        if path in FIELDS:
            return FIELDS[path]
        path = path.rpartition(".")[0]
    return None


def is_single_message(field: Any) -> bool:
    """Tells whether a field descriptor stands for one nested message (and not for a list or map of them)."""
    return field.message_type is not None and not _is_repeated(field)


def _is_repeated(field: Any) -> bool:
    # Newer releases of protobuf warn of `label`, older ones have nothing else.
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if repeated is None else repeated)


# --- the plan --------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Change:
    """One call of `tf.config` that TensorFlow takes only before its runtime starts, for one or more fields."""

    fields: str
    is_made: Callable[[], bool]
    make: Callable[[], object]


class _Plan:
    """Collects what the fields of one config become, before anything is changed."""

    def __init__(self) -> None:
        self.at_start: list[_Change] = []
        self.any_time: list[Callable[[], object]] = []
        self.optimizer: dict[str, Any] = {}
        self.gpu: dict[str, Any] = {}  # They depend on each other: `_plan_gpus`.
        self.without_counterpart: list[tuple[str, Any, str]] = []

    def add(self, path: str, value: Any) -> None:
        rule = rule_of(path)
        if rule is None:
            self.refuse(path, value, "this release of the bridge does not know the field")
        elif isinstance(rule, str):
            self.refuse(path, value, rule)
        else:
            rule(self, path, value)

    def refuse(self, path: str, value: Any, why: str) -> None:
        self.without_counterpart.append((path, value, why))


def _apply(plan: _Plan) -> None:
    """Makes the planned changes.

    Those for the runtime's start come first: once it has started each of them raises RuntimeError unless it is made
    already, so that an error leaves everything as it was.
    """
    for change in plan.at_start:
        if not change.is_made():
            try:
                change.make()
            except RuntimeError as error:
                late = ", ".join(change.fields for change in plan.at_start if not change.is_made())
                raise SessionConfigError(_too_late(late)) from error
    for make in plan.any_time:
        make()
    if plan.optimizer:
        tf.config.optimizer.set_experimental_options(plan.optimizer)


def _too_late(fields: str) -> str:
    return (
        f"Too late for {fields}: TensorFlow's runtime has started with other values. It starts with the first tensor, "
        "variable or model. Move the line `bridge.apply_session_config(config)` to the top of the program, directly "
        "after the imports and before the first of these (a config that was applied there may be given again later, "
        "to MonitoredTrainingSession too), or take the fields out of the config."
    )


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _not_a_config(config: Any) -> str:
    given = f"The session config must be a tf.compat.v1.ConfigProto or None, not {type(config).__name__}. "
    if isinstance(config, type) and issubclass(config, tf1.ConfigProto):
        return given + "That is the class: pass an instance, tf.compat.v1.ConfigProto(...)."
    if isinstance(config, dict):
        return given + "Pass tf.compat.v1.ConfigProto(**options), with the dictionary's entries as arguments."
    if isinstance(config, (bytes, bytearray)):
        return given + "Pass tf.compat.v1.ConfigProto.FromString(data)."
    if isinstance(config, str):
        return given + "Pass google.protobuf.text_format.Parse(text, tf.compat.v1.ConfigProto())."
    if hasattr(config, "session_config"):
        return given + "Pass its `session_config`."
    if callable(getattr(config, "run", None)):
        return given + "Pass the ConfigProto that the session was made with."
    return given + "Make one with tf.compat.v1.ConfigProto(...)."


# --- rules -----------------------------------------------------------------------------------------------------

Rule = Callable[[_Plan, str, Any], None]


def _threads(kind: str) -> Rule:
    def rule(plan: _Plan, path: str, value: Any) -> None:
        get = getattr(tf.config.threading, f"get_{kind}_op_parallelism_threads")
        make = getattr(tf.config.threading, f"set_{kind}_op_parallelism_threads")
        plan.at_start.append(_Change(f"{path} = {value}", lambda: get() == value, lambda: make(value)))

    return rule


def _any_time(make: Callable[[], Callable[[Any], object]]) -> Rule:
    """A switch that can be set again at any time."""

    def rule(plan: _Plan, path: str, value: Any) -> None:
        plan.any_time.append(lambda: make()(value))

    return rule


def _option(name: str | None = None) -> Rule:
    """An entry of `tf.config.optimizer.set_experimental_options` that is a bool or a number here too."""

    def rule(plan: _Plan, path: str, value: Any) -> None:
        plan.optimizer[name or path.rpartition(".")[2]] = value

    return rule


def _toggle(plan: _Plan, path: str, value: Any) -> None:
    switch = {1: True, 2: False}.get(value)  # RewriterConfig.ON and OFF.
    if switch is None:
        plan.refuse(path, value, "tf.config knows on and off only; use RewriterConfig.ON or OFF")
    else:
        plan.optimizer[path.rpartition(".")[2]] = switch


def _jit(plan: _Plan, path: str, value: Any) -> None:
    plan.any_time.append(lambda: tf.config.optimizer.set_jit("autoclustering" if value > 0 else False))
    if value > 1:
        plan.refuse(path, "ON_2", "tf.config.optimizer.set_jit knows one level; ON_1 was set")


def _mlir_bridge(plan: _Plan, path: str, value: Any) -> None:
    wanted = value if isinstance(value, bool) else value == 1  # MLIR_BRIDGE_ROLLOUT_ENABLED.
    switch = (
        tf.config.experimental.enable_mlir_bridge if wanted else tf.config.experimental.disable_mlir_bridge
    )
    plan.any_time.append(switch)


def _gpu(plan: _Plan, path: str, value: Any) -> None:
    plan.gpu[path] = value


def _allocator(plan: _Plan, path: str, value: Any) -> None:
    if value.upper() != "BFC":  # The default by its name.
        plan.refuse(path, value, "set the environment variable TF_GPU_ALLOCATOR")


def _device_count(plan: _Plan, path: str, counts: Any) -> None:
    kinds = {device.device_type for device in tf.config.list_physical_devices()}
    for kind, count in sorted(counts.items()):
        field = f"{path}[{kind!r}]"
        if count < 0:
            raise InvalidSessionConfigError(f"{field} is {count}; a number of devices cannot be negative.")
        if kind == "GPU":
            plan.gpu[field] = count
        elif kind == "CPU":
            _count_cpus(plan, field, count)
        elif kind in kinds:
            _show_devices(plan, f"{field} = {count}", kind, tf.config.get_visible_devices(kind)[:count])
        elif count:
            plan.refuse(field, count, "this machine has no device of the kind")


def _count_cpus(plan: _Plan, field: str, count: int) -> None:
    if count == 0:
        plan.refuse(field, 0, "nothing runs without a CPU device, in TensorFlow 1 neither; leave it out")
        return
    cpu = tf.config.list_physical_devices("CPU")[0]
    wanted = [tf.config.LogicalDeviceConfiguration() for _ in range(count)]

    def is_made() -> bool:
        found = tf.config.get_logical_device_configuration(cpu)
        return len(found or [None]) == count

    plan.at_start.append(
        _Change(
            f"{field} = {count}", is_made, lambda: tf.config.set_logical_device_configuration(cpu, wanted)
        )
    )


def _show_devices(plan: _Plan, field: str, kind: str, devices: list[Any]) -> None:
    plan.at_start.append(
        _Change(
            field,
            lambda: tf.config.get_visible_devices(kind) == devices,
            lambda: tf.config.set_visible_devices(devices, kind),
        )
    )


# --- GPUs ------------------------------------------------------------------------------------------------------

_COUNT = "device_count['GPU']"
_VISIBLE = "gpu_options.visible_device_list"
_GROWTH = "gpu_options.allow_growth"
_FRACTION = "gpu_options.per_process_gpu_memory_fraction"
_VIRTUAL = "gpu_options.experimental.virtual_devices"


def _plan_gpus(plan: _Plan) -> None:
    """Plans the fields about GPUs together. Without a GPU they do nothing, as in a session."""
    gpus = tf.config.list_physical_devices("GPU")
    if not gpus:
        return
    visible = _visible_gpus(plan, gpus)
    limits = _limits(plan, visible, gpus)
    for gpu, (field, configurations) in limits.items():
        _limit_gpu(plan, field, gpu, configurations)
    if _GROWTH in plan.gpu:
        _plan_growth(plan, visible, limits)


def _plan_growth(plan: _Plan, visible: list[Any], limited: Collection[Any]) -> None:
    fixed = [gpu for gpu in visible if gpu in limited or tf.config.get_logical_device_configuration(gpu)]
    if fixed:
        why = (
            f"tf.config cannot limit the memory of a GPU ({', '.join(gpu.name for gpu in fixed)}) and let it grow as "
            "well; set the environment variable TF_FORCE_GPU_ALLOW_GROWTH=true"
        )
        plan.refuse(_GROWTH, True, why)
    for gpu in visible:
        if gpu not in fixed:
            _grow(plan, gpu)


def _visible_gpus(plan: _Plan, gpus: list[Any]) -> list[Any]:
    """Plans which GPUs the process sees, and returns them."""
    visible, fields = tf.config.get_visible_devices("GPU"), []
    if _VISIBLE in plan.gpu:
        text = plan.gpu[_VISIBLE]
        indices = _gpu_indices(text, len(gpus))
        if indices != sorted(indices):
            plan.refuse(_VISIBLE, text, "the GPUs are taken, but tf.config keeps them in their own order")
        visible = [gpus[index] for index in sorted(indices)]
        fields.append(f"{_VISIBLE} = {text!r}")
    if _COUNT in plan.gpu:
        visible = visible[: plan.gpu[_COUNT]]
        fields.append(f"{_COUNT} = {plan.gpu[_COUNT]}")
    if fields:
        _show_devices(plan, ", ".join(fields), "GPU", visible)
    return list(visible)


def _gpu_indices(text: str, count: int) -> list[int]:
    try:
        indices = [int(part) for part in text.split(",")]
    except ValueError:
        indices = [-1]
    if not all(0 <= index < count for index in indices) or len(set(indices)) < len(indices):
        raise InvalidSessionConfigError(
            f"{_VISIBLE} is {text!r}; it must list different numbers of GPUs from 0 to {count - 1}, such as '0'."
        )
    return indices


def _limits(plan: _Plan, visible: list[Any], gpus: list[Any]) -> dict[Any, tuple[str, list[Any]]]:
    """Returns the logical devices that each visible GPU is to have, where the config says any."""
    if _VIRTUAL in plan.gpu:
        if _FRACTION in plan.gpu:
            plan.refuse(_FRACTION, plan.gpu[_FRACTION], f"{_VIRTUAL} says the memory of each")
        return _virtual_devices(plan.gpu[_VIRTUAL], visible)
    if _FRACTION not in plan.gpu:
        return {}
    fraction = plan.gpu[_FRACTION]
    if not 0 < fraction <= 1:
        plan.refuse(_FRACTION, fraction, "tf.config gives at most the memory that the GPU has")
        return {}
    found = {}
    for gpu in visible:
        memory = gpu_memory(gpus.index(gpu))
        if memory is None:
            plan.refuse(
                _FRACTION,
                fraction,
                f"the driver does not tell the memory of {gpu.name}; give the limit in megabytes by "
                "tf.config.set_logical_device_configuration",
            )
        else:
            limit = int(memory * fraction / _MIB)
            configuration = tf.config.LogicalDeviceConfiguration(memory_limit=limit)
            found[gpu] = (f"{_FRACTION} = {fraction:g}", [configuration])
    return found


def _virtual_devices(entries: Any, visible: list[Any]) -> dict[Any, tuple[str, list[Any]]]:
    if len(entries) > len(visible):
        raise InvalidSessionConfigError(
            f"{_VIRTUAL} has {len(entries)} entries for {len(visible)} visible GPUs; leave some out."
        )
    found = {}
    for gpu, entry in zip(visible, entries, strict=False):
        count = len(entry.memory_limit_mb)
        rest = [list(values) or [None] * count for values in (entry.priority, entry.device_ordinal)]
        if any(len(values) != count for values in rest):
            raise InvalidSessionConfigError(
                f"{_VIRTUAL} of {gpu.name} needs as many priorities and ordinals as memory limits, or none."
            )
        if count:  # An entry without limits is the whole GPU.
            configurations = [
                tf.config.LogicalDeviceConfiguration(
                    memory_limit=limit, experimental_priority=priority, experimental_device_ordinal=ordinal
                )
                for limit, priority, ordinal in zip(entry.memory_limit_mb, *rest, strict=True)
            ]
            found[gpu] = (f"{_VIRTUAL} of {gpu.name}", configurations)
    return found


def _limit_gpu(plan: _Plan, field: str, gpu: Any, configurations: list[Any]) -> None:
    plan.at_start.append(
        _Change(
            field,
            lambda: tf.config.get_logical_device_configuration(gpu) == configurations,
            lambda: tf.config.set_logical_device_configuration(gpu, configurations),
        )
    )


def _grow(plan: _Plan, gpu: Any) -> None:
    plan.at_start.append(
        _Change(
            f"{_GROWTH} = True ({gpu.name})",
            lambda: tf.config.experimental.get_memory_growth(gpu) is True,
            lambda: tf.config.experimental.set_memory_growth(gpu, True),
        )
    )


def gpu_memory(index: int) -> int | None:
    """Asks CUDA's driver for the memory of a GPU; TensorFlow itself tells it only after it has taken the memory.

    Args:
      index: The number of the GPU among those that the process may use, as TensorFlow counts them.

    Returns:
      The memory in bytes, or None where CUDA's driver is missing or refuses.
    """
    try:
        cuda = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return None
    device, memory = ctypes.c_int(), ctypes.c_size_t()
    failed = (
        cuda.cuInit(0)
        or cuda.cuDeviceGet(ctypes.byref(device), index)
        or cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    )
    return None if failed else memory.value


# --- the fields ------------------------------------------------------------------------------------------------

_SESSIONS_ONLY = "it is about single sessions, and there is none"
_NOT_IN_TF_CONFIG = "tf.config has no such option"
_LEGACY_OPTIMIZER = "it is about the graph optimizer of sessions; functions are optimised by Grappler alone"
_CLUSTER = (
    "join the cluster by TF_CONFIG and a strategy, or by tf.config.experimental_connect_to_cluster(...)"
)
_CUDA_ASYNC = "set the environment variable TF_GPU_ALLOCATOR=cuda_malloc_async"

_GPU_FIELDS: dict[str, Rule | str] = {
    "per_process_gpu_memory_fraction": _gpu,
    "allow_growth": _gpu,
    "allocator_type": _allocator,
    "deferred_deletion_bytes": _NOT_IN_TF_CONFIG,
    "visible_device_list": _gpu,
    "polling_active_delay_usecs": _NOT_IN_TF_CONFIG,
    "polling_inactive_delay_msecs": "TensorFlow ignores it",
    "force_gpu_compatible": _NOT_IN_TF_CONFIG,
    "experimental.virtual_devices": _gpu,
    "experimental.num_virtual_devices_per_gpu": "give each one by tf.config.set_logical_device_configuration",
    "experimental.use_unified_memory": _NOT_IN_TF_CONFIG,
    "experimental.num_dev_to_dev_copy_streams": _NOT_IN_TF_CONFIG,
    "experimental.collective_ring_order": "tf.distribute.experimental.CommunicationOptions chooses the collectives",
    "experimental.timestamped_allocator": _NOT_IN_TF_CONFIG,
    "experimental.kernel_tracker_max_interval": _NOT_IN_TF_CONFIG,
    "experimental.kernel_tracker_max_bytes": _NOT_IN_TF_CONFIG,
    "experimental.kernel_tracker_max_pending": _NOT_IN_TF_CONFIG,
    "experimental.internal_fragmentation_fraction": _NOT_IN_TF_CONFIG,
    "experimental.use_cuda_malloc_async": _CUDA_ASYNC,
    "experimental.disallow_retry_on_allocation_failure": _NOT_IN_TF_CONFIG,
    "experimental.gpu_host_mem_limit_in_mb": "set the environment variable TF_GPU_HOST_MEM_LIMIT_IN_MB",
    "experimental.gpu_host_mem_disallow_growth": _NOT_IN_TF_CONFIG,
    "experimental.gpu_system_memory_size_in_mb": _NOT_IN_TF_CONFIG,
    "experimental.populate_pjrt_gpu_client_creation_info": _NOT_IN_TF_CONFIG,
    "experimental.node_id": _NOT_IN_TF_CONFIG,
    "experimental.stream_merge_options": _NOT_IN_TF_CONFIG,
}

_REWRITE_FIELDS: dict[str, Rule | str] = {
    "cpu_layout_conversion": _NOT_IN_TF_CONFIG,
    "layout_optimizer": _toggle,
    "constant_folding": _toggle,
    "shape_optimization": _toggle,
    "remapping": _toggle,
    "common_subgraph_elimination": "tf.config has it within arithmetic_optimization",
    "arithmetic_optimization": _toggle,
    "dependency_optimization": _toggle,
    "loop_optimization": _toggle,
    "function_optimization": _toggle,
    "debug_stripper": _toggle,
    "disable_model_pruning": _option(),
    "scoped_allocator_optimization": _toggle,
    "pin_to_host_optimization": _toggle,
    "implementation_selector": _toggle,
    "auto_mixed_precision": _toggle,
    "auto_mixed_precision_mkl": _toggle,
    "auto_mixed_precision_onednn_bfloat16": _toggle,
    "auto_mixed_precision_cpu": "use keras.mixed_precision.set_global_policy('mixed_float16')",
    "disable_meta_optimizer": _option(),
    "disable_tfg_optimizer": _NOT_IN_TF_CONFIG,
    "use_plugin_optimizers": _toggle,
    "experimental_conditional_code_motion": _NOT_IN_TF_CONFIG,
    "meta_optimizer_iterations": _NOT_IN_TF_CONFIG,
    "min_graph_nodes": _option(),
    "experimental_disable_compressed_tensor_optimization": _NOT_IN_TF_CONFIG,
    "experimental_disable_folding_quantization_emulation": _NOT_IN_TF_CONFIG,
    "memory_optimization": "use tf.recompute_grad where memory is short",
    "memory_optimizer_target_node_name_scope": "use tf.recompute_grad where memory is short",
    "meta_optimizer_timeout_ms": _NOT_IN_TF_CONFIG,
    "auto_parallel": "use tf.distribute.MirroredStrategy",
    "fail_on_optimizer_errors": _NOT_IN_TF_CONFIG,
    "scoped_allocator_opts": _NOT_IN_TF_CONFIG,
    "optimizers": "name each by tf.config.optimizer.set_experimental_options",
    "custom_optimizers": _NOT_IN_TF_CONFIG,
    "inter_optimizer_verifier_config": _NOT_IN_TF_CONFIG,
    "post_optimization_verifier_config": _NOT_IN_TF_CONFIG,
}

_EXPERIMENTAL_FIELDS: dict[str, Rule | str] = {
    "collective_group_leader": _CLUSTER,
    "executor_type": "use `with tf.experimental.function_executor_type(...)` around the training",
    "recv_buf_max_chunk": _CLUSTER,
    "use_numa_affinity": _NOT_IN_TF_CONFIG,
    "collective_deterministic_sequential_execution": "use tf.config.experimental.enable_op_determinism()",
    "collective_nccl": "use tf.distribute.experimental.CommunicationOptions(implementation=...)",
    "share_session_state_in_clusterspec_propagation": _SESSIONS_ONLY,
    "disable_thread_spinning": _NOT_IN_TF_CONFIG,
    "share_cluster_devices_in_session": _SESSIONS_ONLY,
    "session_metadata": _SESSIONS_ONLY,
    "optimize_for_static_graph": _SESSIONS_ONLY,
    "enable_mlir_bridge": _mlir_bridge,
    "mlir_bridge_rollout": _mlir_bridge,
    "enable_mlir_graph_optimization": _NOT_IN_TF_CONFIG,
    "disable_output_partition_graphs": _SESSIONS_ONLY,
    "xla_fusion_autotuner_thresh": _NOT_IN_TF_CONFIG,
    "use_tfrt": _NOT_IN_TF_CONFIG,
    "enable_multi_host": _NOT_IN_TF_CONFIG,
    "tfrt_use_ifrt": _NOT_IN_TF_CONFIG,
    "backend_server_port": _NOT_IN_TF_CONFIG,
    "target_tpu": "use tf.distribute.TPUStrategy",
    "target_gpu": _NOT_IN_TF_CONFIG,
    "stream_merge_threshold": _NOT_IN_TF_CONFIG,
    "disable_functional_ops_lowering": _NOT_IN_TF_CONFIG,
    "xla_prefer_single_graph_cluster": _NOT_IN_TF_CONFIG,
    "coordination_config": _CLUSTER,
    "disable_optimize_for_static_graph": _SESSIONS_ONLY,
    "disable_eager_executor_streaming_enqueue": _NOT_IN_TF_CONFIG,
    "finalize_function_library_runtime": _SESSIONS_ONLY,
    "finalize_resource_manager": _SESSIONS_ONLY,
    "tf2xla_dump_dir": _NOT_IN_TF_CONFIG,
    "online_cost_analysis": _NOT_IN_TF_CONFIG,
}

FIELDS: dict[str, Rule | str] = {
    "device_count": _device_count,
    "intra_op_parallelism_threads": _threads("intra"),
    "inter_op_parallelism_threads": _threads("inter"),
    "use_per_session_threads": _SESSIONS_ONLY,
    "session_inter_op_thread_pool": "use inter_op_parallelism_threads",
    "placement_period": "TensorFlow ignores it",
    "device_filters": "give tf.config.experimental_connect_to_cluster a tf.config.experimental.ClusterDeviceFilters",
    **{f"gpu_options.{name}": rule for name, rule in _GPU_FIELDS.items()},
    "pluggable_device_options": "use tf.config.set_visible_devices and tf.config.experimental.set_memory_growth",
    "allow_soft_placement": _any_time(lambda: tf.config.set_soft_device_placement),
    "log_device_placement": _any_time(lambda: tf.debugging.set_log_device_placement),
    "graph_options.enable_recv_scheduling": _SESSIONS_ONLY,
    "graph_options.optimizer_options.do_common_subexpression_elimination": _option("arithmetic_optimization"),
    "graph_options.optimizer_options.do_constant_folding": _option("constant_folding"),
    "graph_options.optimizer_options.max_folded_constant_in_bytes": _LEGACY_OPTIMIZER,
    "graph_options.optimizer_options.do_function_inlining": _option("function_optimization"),
    "graph_options.optimizer_options.opt_level": (
        "for graphs as they are, use tf.config.optimizer.set_experimental_options({'disable_meta_optimizer': True})"
    ),
    "graph_options.optimizer_options.global_jit_level": _jit,
    "graph_options.optimizer_options.cpu_global_jit": (
        "set the environment variable TF_XLA_FLAGS=--tf_xla_cpu_global_jit"
    ),
    "graph_options.build_cost_model": _SESSIONS_ONLY,
    "graph_options.build_cost_model_after": _SESSIONS_ONLY,
    "graph_options.infer_shapes": _SESSIONS_ONLY,
    "graph_options.place_pruned_graph": _SESSIONS_ONLY,
    "graph_options.enable_bfloat16_sendrecv": _NOT_IN_TF_CONFIG,
    "graph_options.timeline_step": "use tf.compat.v1.train.ProfilerHook or tf.profiler.experimental",
    **{f"graph_options.rewrite_options.{name}": rule for name, rule in _REWRITE_FIELDS.items()},
    "operation_timeout_in_ms": "give a run its own timeout by tf.compat.v1.RunOptions(timeout_in_ms=...)",
    "rpc_options": _CLUSTER,
    "cluster_def": _CLUSTER,
    "isolate_session_state": _SESSIONS_ONLY,
    "share_cluster_devices_in_session": _SESSIONS_ONLY,
    **{f"experimental.{name}": rule for name, rule in _EXPERIMENTAL_FIELDS.items()},
}
