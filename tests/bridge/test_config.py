"""`ConfigProto` becomes `tf.config`, field by field: applied, refused by name, or too late.

No GPU is needed: what GPUs become is looked up in `tf.config` with devices that are only listed, in a runtime that
never starts. What a real GPU then does with it is TensorFlow's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from bridge import errors
from bridge.config import FIELDS, apply_session_config, gpu_memory, is_single_message, rule_of, set_fields

tf1 = tf.compat.v1

PROGRAM = Path(__file__).with_name("config_program.py")


def run_program(part: str) -> dict[str, Any]:
    root = PROGRAM.parents[2]
    result = subprocess.run(
        [sys.executable, str(PROGRAM), part],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "CUDA_VISIBLE_DEVICES": ""},
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return json.loads(result.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def start() -> dict[str, Any]:
    return run_program("start")


@pytest.fixture(scope="module")
def gpus() -> dict[str, Any]:
    return run_program("gpus")


def leaves(descriptor: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Paths and descriptors of all fields of a message, down to those that hold values."""
    for field in descriptor.fields:
        if is_single_message(field):
            yield from leaves(field.message_type, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, field


LEAVES = dict(leaves(tf1.ConfigProto.DESCRIPTOR))


# --- the table ---------------------------------------------------------------------------------------------------


def test_every_field_of_this_tensorflows_config_proto_is_in_the_table() -> None:
    unknown = [path for path in LEAVES if rule_of(path) is None]
    assert not unknown, (
        f"TensorFlow {tf.__version__} has new fields in ConfigProto: {unknown}. Give each a rule, or the reason why "
        "there is none, in bridge/config.py."
    )


def test_the_table_would_miss_a_new_field_of_any_message_but_those_that_are_refused_whole() -> None:
    whole = [
        path for path in FIELDS if path not in LEAVES and any(leaf.startswith(f"{path}.") for leaf in LEAVES)
    ]
    assert all(isinstance(FIELDS[path], str) for path in whole)
    for path in ("", "gpu_options.", "graph_options.", "graph_options.rewrite_options.", "experimental."):
        assert rule_of(f"{path}a_new_field") is None


@pytest.mark.skipif(
    tuple(map(int, tf.__version__.split(".")[:2])) < (2, 21),
    reason="older releases lack fields of newer ones",
)
def test_the_table_names_no_field_that_is_gone() -> None:
    messages = {path.rsplit(".", depth)[0] for path in LEAVES for depth in range(1, path.count(".") + 1)}
    assert [path for path in FIELDS if path not in LEAVES and path not in messages] == []


def test_a_field_of_a_later_tensorflow_is_named_as_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(FIELDS, "placement_period")
    with pytest.warns(errors.SessionConfigWarning, match=r"placement_period = 3: .* does not know the field"):
        apply_session_config(tf1.ConfigProto(placement_period=3))


# --- fields without a counterpart ----------------------------------------------------------------------------------


def put(config: Any, path: str, field: Any) -> None:
    """Gives a field a value that is not its default."""
    *parents, name = path.split(".")
    for parent in parents:
        config = getattr(config, parent)
    if field.message_type is not None:
        getattr(config, name).add()
    elif field.enum_type is not None:
        setattr(config, name, next(v.number for v in field.enum_type.values if v.number))
    else:
        kind = type(field.default_value)
        value = {bool: True, int: 3, float: 0.5, str: "x", list: ["x"]}[kind]
        if kind is list:
            getattr(config, name).extend(value)
        else:
            setattr(config, name, value)


REFUSED = [path for path in LEAVES if isinstance(rule_of(path), str)]


def test_every_field_without_a_counterpart_is_named_in_one_warning() -> None:
    config = tf1.ConfigProto()
    for path in REFUSED:
        put(config, path, LEAVES[path])
    with pytest.warns(errors.SessionConfigWarning) as caught:
        apply_session_config(config)
    assert len(caught) == 1
    named = [line.split(" = ")[0].strip() for line in str(caught[0].message).splitlines() if " = " in line]
    assert sorted(named) == sorted(REFUSED)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("path", REFUSED)
def test_a_field_without_a_counterpart_is_named_with_a_way_out(path: str) -> None:
    config = tf1.ConfigProto()
    put(config, path, LEAVES[path])
    with pytest.warns(errors.SessionConfigWarning) as caught:
        apply_session_config(config)
    (line,) = [line for line in str(caught[0].message).splitlines() if " = " in line]
    assert line.split(" = ")[0].strip() == path
    assert line.endswith(f": {rule_of(path)}")


def test_a_cpu_count_of_zero_and_unknown_kinds_of_devices_are_named() -> None:
    with pytest.warns(errors.SessionConfigWarning) as caught:
        apply_session_config(tf1.ConfigProto(device_count={"CPU": 0, "NPU": 2, "GPU": 0, "TPU": 0}))
    text = str(caught[0].message)
    assert "device_count['CPU'] = 0: nothing runs without a CPU" in text
    assert "device_count['NPU'] = 2: this machine has no device of the kind" in text
    assert "GPU" not in text
    assert "TPU" not in text


def test_another_allocator_is_named_with_its_variable() -> None:
    with pytest.warns(errors.SessionConfigWarning, match=r"allocator_type = best: .* TF_GPU_ALLOCATOR"):
        apply_session_config(tf1.ConfigProto(gpu_options=tf1.GPUOptions(allocator_type="best")))


# --- what is no config ---------------------------------------------------------------------------------------------


class RunConfigLike:
    session_config = tf1.ConfigProto()


@pytest.mark.parametrize(
    ("config", "way_out"),
    [
        ({"log_device_placement": True}, r"ConfigProto\(\*\*options\)"),
        (tf1.ConfigProto, "pass an instance"),
        (b"", "FromString"),
        ("allow_soft_placement: true", "text_format"),
        (RunConfigLike(), "`session_config`"),
        (tf1.GPUOptions(), r"tf\.compat\.v1\.ConfigProto\("),
        (3, "not int"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_config_is_refused_with_the_way_out(config: Any, way_out: str) -> None:
    with pytest.raises(TypeError, match=way_out) as caught:
        apply_session_config(config)
    assert isinstance(caught.value, errors.BridgeError)


def test_a_session_is_refused_with_the_way_out() -> None:
    session = tf1.Session(graph=tf.Graph())
    with session, pytest.raises(TypeError, match="ConfigProto that the session was made with"):
        apply_session_config(session)


# --- defaults ------------------------------------------------------------------------------------------------------


def test_messages_that_are_present_but_empty_set_nothing() -> None:
    config = tf1.ConfigProto()
    for path in LEAVES:
        *parents, _ = path.split(".")
        message = config
        for parent in parents:
            message = getattr(message, parent)
            message.SetInParent()
    assert list(set_fields(config)) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apply_session_config(config)


def test_a_field_that_is_present_with_its_default_sets_nothing() -> None:
    for path, field in LEAVES.items():
        if field.message_type is None and field.has_presence and not is_single_message(field):
            config = message = tf1.ConfigProto()
            *parents, name = path.split(".")
            for parent in parents:
                message = getattr(message, parent)
            setattr(message, name, field.default_value)
            assert list(set_fields(config)) == [], path


@pytest.mark.multiprocess
def test_none_and_an_empty_config_do_nothing(start: dict[str, Any]) -> None:
    assert start["nothing"] == [{"error": None, "warnings": []}] * 2
    assert start["nothing_changed"]


# --- before the runtime starts -------------------------------------------------------------------------------------

CLEAN = {"error": None, "warnings": []}


@pytest.mark.multiprocess
def test_threads_placement_jit_and_optimizer_options_become_those_of_tf_config(start: dict[str, Any]) -> None:
    assert start["first"] == CLEAN
    found = dict(start["in_force"])
    options = found.pop("options")
    assert found == {
        "intra": 2,
        "inter": 5,
        "soft": True,
        "log": True,
        "jit": "autoclustering",
    }
    assert options == {
        "min_graph_nodes": 7,
        "disable_model_pruning": True,
        "disable_meta_optimizer": False,
        "constant_folding": True,
        "function_optimization": True,
        "arithmetic_optimization": True,
    }


@pytest.mark.multiprocess
def test_the_runtime_starts_with_what_was_applied(start: dict[str, Any]) -> None:
    assert start["devices"] == ["/device:CPU:0", "/device:CPU:1", "/device:CPU:2"]
    assert start["sum"] == 3.0


@pytest.mark.multiprocess
def test_every_toggle_of_the_rewriter_is_switched_on_and_off_or_named(start: dict[str, Any]) -> None:
    switched = {name: found for name, found in start["toggles"].items() if found["ON"] != "refused"}
    assert len(switched) >= 16
    assert set(map(str, switched.values())) == {str({"ON": True, "OFF": False})}
    refused = start["toggles"].keys() - switched.keys()
    assert all(isinstance(rule_of(f"graph_options.rewrite_options.{name}"), str) for name in refused)


@pytest.mark.multiprocess
def test_the_higher_jit_level_becomes_the_one_that_there_is_and_is_named(start: dict[str, Any]) -> None:
    found, jit = start["on_2"]
    assert jit == "autoclustering"
    assert found["error"] is None
    assert "global_jit_level = ON_2: " in found["warnings"][0]


def test_a_toggle_beyond_on_and_off_is_named() -> None:
    config = tf1.ConfigProto()
    config.graph_options.rewrite_options.layout_optimizer = 3  # AGGRESSIVE
    with pytest.warns(
        errors.SessionConfigWarning, match=r"layout_optimizer = 3: .* use RewriterConfig.ON or OFF"
    ):
        apply_session_config(config)


@pytest.mark.multiprocess
def test_the_mlir_bridge_is_switched(start: dict[str, Any]) -> None:
    assert start["bridge"] == ["enable_mlir_bridge", "enable_mlir_bridge", "disable_mlir_bridge"]


# --- after the runtime has started ---------------------------------------------------------------------------------


@pytest.mark.multiprocess
def test_the_same_config_again_changes_nothing(start: dict[str, Any]) -> None:
    assert start["again"] == CLEAN


@pytest.mark.multiprocess
def test_what_can_be_set_at_any_time_is_set(start: dict[str, Any]) -> None:
    assert start["any_time"] == CLEAN
    assert start["jit_off"] == ""


@pytest.mark.multiprocess
def test_what_comes_too_late_is_an_error_that_names_it_and_where_to_move_the_line(
    start: dict[str, Any],
) -> None:
    kind, text = start["late"]["error"]
    assert kind == "SessionConfigError"
    assert "Too late for device_count['CPU'] = 2, inter_op_parallelism_threads = 6: " in text
    assert "intra_op" not in text  # It has that value already.
    assert "Move the line `bridge.apply_session_config(config)` to the top of the program" in text


@pytest.mark.multiprocess
def test_a_config_that_comes_too_late_is_applied_in_no_part(start: dict[str, Any]) -> None:
    assert start["late_changed_nothing"]


def test_too_late_is_a_runtime_error_here_too() -> None:
    tf.constant(1)
    threads = tf.config.threading.get_inter_op_parallelism_threads() + 1
    with pytest.raises(RuntimeError, match="Move the line") as caught:
        apply_session_config(tf1.ConfigProto(inter_op_parallelism_threads=threads))
    assert isinstance(caught.value, errors.SessionConfigError)


def test_one_cpu_is_what_there_is_anyway() -> None:
    tf.constant(1)
    apply_session_config(tf1.ConfigProto(device_count={"CPU": 1}))
    assert len(tf.config.list_logical_devices("CPU")) == 1


# --- GPUs ----------------------------------------------------------------------------------------------------------


@pytest.mark.multiprocess
@pytest.mark.parametrize(
    ("case", "visible"),
    [
        ("none_asked", [0, 1]),
        ("count_0", []),
        ("count_1", [0]),
        ("count_9", [0, 1]),
        ("count_of_visible", [1]),
        ("visible", [1]),
        ("visible_and_count", [0]),
    ],
)
def test_the_visible_gpus(case: str, visible: list[int], gpus: dict[str, Any]) -> None:
    assert gpus[case]["attempts"] == [CLEAN]
    assert gpus[case]["visible"] == visible
    assert gpus[case]["growth"] == gpus[case]["logical"] == [None, None]


@pytest.mark.multiprocess
def test_another_order_of_gpus_is_named(gpus: dict[str, Any]) -> None:
    assert gpus["other_order"]["visible"] == [0, 1]
    (text,) = gpus["other_order"]["attempts"][0]["warnings"]
    assert (
        "visible_device_list = 1,0: the GPUs are taken, but tf.config keeps them in their own order" in text
    )


@pytest.mark.multiprocess
@pytest.mark.parametrize("case", ["not_there", "no_number", "twice"])
def test_gpus_that_are_not_there_are_an_error(case: str, gpus: dict[str, Any]) -> None:
    kind, text = gpus[case]["attempts"][0]["error"]
    assert kind == "InvalidSessionConfigError"
    assert "must list different numbers of GPUs from 0 to 1" in text
    assert gpus[case]["visible"] == [0, 1]


@pytest.mark.multiprocess
@pytest.mark.parametrize(("case", "growth"), [("growth", [True, True]), ("growth_of_visible", [None, True])])
def test_the_memory_of_the_visible_gpus_grows(case: str, growth: list[Any], gpus: dict[str, Any]) -> None:
    assert gpus[case]["attempts"] == [CLEAN]
    assert gpus[case]["growth"] == growth


@pytest.mark.multiprocess
def test_a_fraction_of_the_memory_becomes_a_limit_in_megabytes(gpus: dict[str, Any]) -> None:
    assert gpus["fraction"]["attempts"] == [CLEAN]
    assert gpus["fraction"]["logical"] == [[[256, None, None]]] * 2


@pytest.mark.multiprocess
def test_growth_beside_a_limit_is_named(gpus: dict[str, Any]) -> None:
    found = gpus["fraction_and_growth"]
    assert found["logical"] == [[[256, None, None]]] * 2
    (text,) = found["attempts"][0]["warnings"]
    assert text.count("allow_growth") == 1
    assert "TF_FORCE_GPU_ALLOW_GROWTH=true" in text
    assert found["growth"] == [None, None]


@pytest.mark.multiprocess
@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("fraction_above_1", "at most the memory that the GPU has"),
        ("fraction_unknown", "the driver does not tell the memory of /physical_device:GPU:0"),
    ],
)
def test_a_fraction_that_cannot_be_is_named(case: str, why: str, gpus: dict[str, Any]) -> None:
    assert gpus[case]["logical"] == [None, None]
    assert why in gpus[case]["attempts"][0]["warnings"][0]


@pytest.mark.multiprocess
def test_virtual_devices_become_logical_devices(gpus: dict[str, Any]) -> None:
    assert gpus["virtual"]["attempts"] == [CLEAN]
    assert gpus["virtual"]["logical"] == [[[100, 0, None], [200, 1, None]], [[300, None, None]]]
    assert gpus["virtual_default"]["attempts"] == [CLEAN]
    assert gpus["virtual_default"]["logical"] == [None, None]


@pytest.mark.multiprocess
@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("virtual_uneven", "as many priorities and ordinals as memory limits"),
        ("virtual_too_many", "3 entries for 2 visible GPUs"),
        ("negative", "device_count['GPU'] is -1"),
    ],
)
def test_devices_that_cannot_be_are_an_error(case: str, why: str, gpus: dict[str, Any]) -> None:
    kind, text = gpus[case]["attempts"][0]["error"]
    assert kind == "InvalidSessionConfigError"
    assert why in text
    assert gpus[case]["logical"] == [None, None]


@pytest.mark.multiprocess
def test_a_config_about_gpus_may_be_applied_twice(gpus: dict[str, Any]) -> None:
    found = gpus["twice_the_same"]
    assert found["attempts"] == [CLEAN, CLEAN]
    assert found["visible"] == [0]
    assert found["logical"] == [[[512, None, None]], None]


@pytest.mark.skipif(bool(tf.config.list_physical_devices("GPU")), reason="there is a GPU")
def test_without_a_driver_no_memory_is_known() -> None:
    assert gpu_memory(0) is None


@pytest.mark.skipif(not tf.config.list_physical_devices("GPU"), reason="no GPU here")
def test_the_driver_tells_the_memory_of_a_gpu() -> None:
    assert (gpu_memory(0) or 0) > 1 << 28
    assert gpu_memory(1000) is None
