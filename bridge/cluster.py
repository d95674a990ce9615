"""Who is the chief, who writes where, and how processes wait for each other: from the strategy, or from TF_CONFIG."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from bridge.errors import WorkerLostError

# How often a waiting process looks for the chief's checkpoint.
_SECONDS_BETWEEN_LOOKS = 1.0


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
    config = _tf_config()
    task = config.get("task") or {}
    if not config.get("cluster") or not task.get("type"):
        return True
    return _is_chief_task(task["type"], int(task.get("index", 0)), config["cluster"])


def _tf_config() -> dict[str, Any]:
    text = os.environ.get("TF_CONFIG", "")
    try:
        return json.loads(text) if text else {}
    except json.JSONDecodeError as error:
        raise ValueError(
            f"TF_CONFIG is not JSON ({error}). Correct it, or pass is_chief=True or False."
        ) from error


def _is_chief_task(task_type: str, index: int, cluster: dict[str, object]) -> bool:
    if task_type in ("chief", "master"):
        return True
    return task_type == "worker" and index == 0 and not {"chief", "master"} & cluster.keys()


class Writes(NamedTuple):
    """What a process writes for its job.

    Attributes:
      checkpoints: Whether it writes the job's checkpoints.
      summaries: Whether it writes the job's summaries.
    """

    checkpoints: bool
    summaries: bool


def writes_here(strategy: tf.distribute.Strategy | None = None) -> Writes:
    """Tells what this process writes for its job, by the flags of its strategy.

    They stand for those that `tf.compat.v1.train.MonitoredTrainingSession` asks: `should_checkpoint` and
    `should_save_summary`.

    Args:
      strategy: The model's strategy, or None for the current one.

    Returns:
      Two flags. Without a strategy of several processes, both are true.
    """
    extended = (strategy or tf.distribute.get_strategy()).extended
    return Writes(bool(extended.should_checkpoint), bool(extended.should_save_summary))


def own_directory(directory: str | os.PathLike[str], strategy: tf.distribute.Strategy | None = None) -> str:
    """Returns a folder for what a process must write though it is not the one that writes for the job.

    Args:
      directory: The job's folder.
      strategy: The model's strategy; without a cluster there, TF_CONFIG is asked.

    Returns:
      A folder inside of it, named as v1 names it: `tmp_worker_1`, or `tmp` for a process without a task.
    """
    task = _task(strategy)
    name = "tmp" if task is None else f"tmp_{task[0]}_{task[1]}"
    return os.path.join(os.fspath(directory), name)  # noqa: PTH118 - it may be a gs:// address


def task_name(strategy: tf.distribute.Strategy | None = None) -> str:
    """Returns how this process is called in its job: `worker 1`, or `this process` where there is no cluster."""
    task = _task(strategy)
    return "this process" if task is None else f"{task[0]} {task[1]}"


def task_device(strategy: tf.distribute.Strategy) -> str | None:
    """Returns the name of this process among the devices of its cluster: `/job:worker/replica:0/task:1`.

    Args:
      strategy: The model's strategy.

    Returns:
      The name, or None where there is no cluster.
    """
    if not isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        return None  # The default strategy refuses to name its devices.
    devices = strategy.extended.worker_devices
    spec = tf.DeviceSpec.from_string(devices[0]) if devices else tf.DeviceSpec()
    return (
        None
        if spec.job in (None, "localhost")
        else spec.replace(device_type=None, device_index=None).to_string()
    )


def _task(strategy: tf.distribute.Strategy | None) -> tuple[str, int] | None:
    resolver = getattr(strategy, "cluster_resolver", None) if strategy is not None else None
    if resolver is not None and resolver.task_type:
        return resolver.task_type, resolver.task_id or 0
    task = _tf_config().get("task") or {}
    return (task["type"], int(task.get("index", 0))) if task.get("type") else None


def wait_for_checkpoint(
    checkpoint_dir: str | os.PathLike[str],
    max_wait_secs: float | None = 7200,
    *,
    look_out: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Waits until the chief has written its first checkpoint, by which a process without a strategy starts.

    It stands for the waiting of v1 workers for the chief's initialisation
    (`tf.compat.v1.train.WorkerSessionCreator`, `max_wait_secs`).

    Args:
      checkpoint_dir: The job's folder, which both processes see.
      max_wait_secs: Seconds to wait at most; None waits for ever.
      look_out: Called before each look; may raise to end the waiting.
      clock: Returns the time in seconds.
      sleep: Waits for a number of seconds.

    Returns:
      The prefix of the newest checkpoint.

    Raises:
      tf.errors.DeadlineExceededError: if there is none in time; the message says what is missing.
    """
    directory = os.fspath(checkpoint_dir)
    limit = float("inf") if max_wait_secs is None else max_wait_secs
    start = clock()
    while True:
        look_out()
        missing, prefix = _find_checkpoint(directory)
        if prefix is not None:
            return prefix
        left = limit - (clock() - start)
        if left <= 0:
            raise tf.errors.DeadlineExceededError(
                None,
                None,
                f"Session was not ready after waiting {limit:g} secs: {missing}. Start the chief (is_chief=True) with the same "
                "checkpoint_dir, let it save checkpoints, or give a longer max_wait_secs.",
            )
        tf.compat.v1.logging.log_first_n(tf.compat.v1.logging.INFO, "Waiting for the chief: %s.", 1, missing)
        sleep(min(left, _SECONDS_BETWEEN_LOOKS))


def _find_checkpoint(directory: str) -> tuple[str, str | None]:
    """Returns what is missing, or the newest checkpoint."""
    if not tf.io.gfile.isdir(directory):
        return f"there is no folder {directory}", None
    state = tf.train.get_checkpoint_state(directory)
    if state is None or not state.model_checkpoint_path:
        return f"the folder {directory} has no checkpoint yet", None
    path = state.model_checkpoint_path
    if not (tf.io.gfile.glob(f"{path}.index") or tf.io.gfile.exists(path)):
        return f"the checkpoint {path} is named in {directory}, but is not there", None
    return "", path


def is_lost_worker(error: BaseException) -> bool:
    """Tells whether an error says that a collective operation ended since another process of the job is gone.

    Args:
      error: What a step under `MultiWorkerMirroredStrategy` raised.
    """
    codes = (
        tf.errors.UnavailableError,
        tf.errors.AbortedError,
        tf.errors.CancelledError,
        tf.errors.InternalError,
    )
    return isinstance(error, codes) and "Collective ops is aborted" in str(error)


def worker_lost(error: BaseException) -> WorkerLostError:
    """Makes the error that says what to do when another process of the job is gone.

    Args:
      error: What TensorFlow raised.
    """
    lines = [line for line in str(error).splitlines() if line.strip()]
    starts = [number for number, line in enumerate(lines) if "Collective ops is aborted" in line]
    cause = " ".join(line.strip() for line in lines[starts[-1] : starts[-1] + 3]) if starts else str(error)
    return WorkerLostError(
        f"Another process of this job is gone or has failed, so that no step can run any more: {cause} End this process, and "
        "start all processes of the job again: they go on from the newest checkpoint."
    )
