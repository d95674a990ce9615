"""Who is the chief: from the strategy, or from TF_CONFIG."""

from __future__ import annotations

import json
import os

import tensorflow as tf


def is_chief(strategy: tf.distribute.Strategy | None = None) -> bool:
    """Tells whether this process writes checkpoints and summaries for its job.

    Args:
      strategy: The model's strategy. Its cluster resolver is asked first, then the TF_CONFIG variable.

    Returns:
      True for the task `chief` (or `master`), for worker 0 where the cluster has no chief, and for a process that is
      not part of a cluster. Evaluators and parameter servers are no chiefs.

    Raises:
      ValueError: if TF_CONFIG is not JSON.
    """
    resolver = getattr(strategy, "cluster_resolver", None) if strategy is not None else None
    if resolver is not None and resolver.task_type:
        cluster = resolver.cluster_spec().as_dict()
        return _is_chief_task(resolver.task_type, resolver.task_id or 0, cluster)
    text = os.environ.get("TF_CONFIG", "")
    if not text:
        return True
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"TF_CONFIG is not JSON ({error}). Correct it, or pass is_chief=True or False."
        ) from error
    task = config.get("task") or {}
    if not config.get("cluster") or not task.get("type"):
        return True
    return _is_chief_task(task["type"], int(task.get("index", 0)), config["cluster"])


def _is_chief_task(task_type: str, index: int, cluster: dict[str, object]) -> bool:
    if task_type in ("chief", "master"):
        return True
    return task_type == "worker" and index == 0 and not {"chief", "master"} & cluster.keys()
