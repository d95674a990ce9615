"""Who is the chief, by TF_CONFIG and by the strategy."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tensorflow as tf

from bridge.cluster import is_chief

WITH_CHIEF = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}
WITH_MASTER = {"master": ["a:1"], "worker": ["b:1"], "ps": ["d:1"]}
WORKERS = {"worker": ["b:1", "c:1"], "ps": ["d:1"]}


def config(cluster: dict[str, list[str]], task: str, index: Any = 0) -> str:
    return json.dumps({"cluster": cluster, "task": {"type": task, "index": index}})


class FakeStrategy:
    """A strategy that knows its cluster."""

    def __init__(self, cluster: dict[str, list[str]], task: str | None, index: int | None) -> None:
        self.cluster_resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
            tf.train.ClusterSpec(cluster), task_type=task, task_id=index
        )


@pytest.mark.parametrize("text", ["", "{}", '{"cluster": {}}', '{"cluster": {}, "task": {}}'])
def test_a_process_that_is_not_part_of_a_cluster_is_its_own_chief(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("TF_CONFIG", text)
    assert is_chief()


def test_without_tf_config_a_process_is_its_own_chief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert is_chief()
    assert is_chief(tf.distribute.get_strategy())


@pytest.mark.parametrize("text", [json.dumps({"cluster": WORKERS}), json.dumps({"task": {"type": "worker"}})])
def test_half_a_description_names_no_task(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("TF_CONFIG", text)
    assert is_chief()


TASKS = [
    (WITH_CHIEF, "chief", 0, True),
    (WITH_MASTER, "master", 0, True),
    (WORKERS, "worker", 0, True),
    (WITH_CHIEF, "worker", 0, False),
    (WITH_MASTER, "worker", 0, False),
    (WORKERS, "worker", 1, False),
    (WITH_CHIEF, "worker", 1, False),
    (WITH_CHIEF, "ps", 0, False),
    (WORKERS, "ps", 0, False),
    (WITH_CHIEF, "evaluator", 0, False),
    (WORKERS, "evaluator", 0, False),
]


@pytest.mark.parametrize(("cluster", "task", "index", "expected"), TASKS)
def test_tf_config_tells_the_chief(
    monkeypatch: pytest.MonkeyPatch, cluster: dict[str, list[str]], task: str, index: int, expected: bool
) -> None:
    monkeypatch.setenv("TF_CONFIG", config(cluster, task, index))
    assert is_chief() is expected


@pytest.mark.parametrize(("index", "expected"), [("0", True), ("1", False)])
def test_the_index_may_be_text(monkeypatch: pytest.MonkeyPatch, index: str, expected: bool) -> None:
    monkeypatch.setenv("TF_CONFIG", config(WORKERS, "worker", index))
    assert is_chief() is expected


@pytest.mark.parametrize("text", ["{", "worker 0", "{'cluster': {}}"])
def test_tf_config_that_is_not_json_is_an_error_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ValueError, match=r"TF_CONFIG is not JSON.*is_chief=True or False"):
        is_chief()


@pytest.mark.parametrize(
    ("cluster", "task", "index", "expected"), [case for case in TASKS if case[1] in case[0]]
)
def test_the_strategys_cluster_comes_before_tf_config(
    monkeypatch: pytest.MonkeyPatch, cluster: dict[str, list[str]], task: str, index: int, expected: bool
) -> None:
    opposite = config(WORKERS, "worker", 1 if expected else 0)
    monkeypatch.setenv("TF_CONFIG", opposite)
    assert is_chief(FakeStrategy(cluster, task, index)) is expected


def test_a_strategy_that_knows_no_task_leaves_it_to_tf_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", config(WORKERS, "worker", 1))
    assert not is_chief(FakeStrategy(WORKERS, None, None))
