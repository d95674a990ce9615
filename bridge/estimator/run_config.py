"""`RunConfig`: how an Estimator runs, and where in a cluster."""

from __future__ import annotations

import copy
import json
import os
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.functions import argument_names
from bridge.estimator.strategies.checks import check_cluster, check_strategy, chosen

tf1 = tf.compat.v1

_USE_DEFAULT: Any = object()


class TaskType:
    """The jobs of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


def _read_only(name: str, text: str) -> Any:
    return property(lambda self: getattr(self, f"_{name}"), doc=text)


class RunConfig:
    """How an Estimator runs (`tf.estimator.RunConfig`): its folder, what is saved when, and its place in a cluster.

    The cluster is read from the variable TF_CONFIG when the object is made.
    """

    model_dir: Any = _read_only("model_dir", "The folder of checkpoints and summaries.")
    tf_random_seed: Any = _read_only("tf_random_seed", "The random seed of each graph.")
    save_summary_steps: Any = _read_only("save_summary_steps", "Steps between summaries.")
    save_checkpoints_steps: Any = _read_only("save_checkpoints_steps", "Steps between checkpoints.")
    save_checkpoints_secs: Any = _read_only("save_checkpoints_secs", "Seconds between checkpoints.")
    session_config: Any = _read_only("session_config", "The sessions' ConfigProto.")
    keep_checkpoint_max: Any = _read_only("keep_checkpoint_max", "How many checkpoints stay.")
    keep_checkpoint_every_n_hours: Any = _read_only(
        "keep_checkpoint_every_n_hours", "Every how many hours a checkpoint stays for ever."
    )
    log_step_count_steps: Any = _read_only("log_step_count_steps", "Steps between two log lines.")
    train_distribute: Any = _read_only("train_distribute", "The strategy of the training.")
    eval_distribute: Any = _read_only("eval_distribute", "The strategy of the evaluation.")
    experimental_distribute: Any = _read_only("experimental_distribute", "Both strategies.")
    device_fn: Any = _read_only("device_fn", "The function that places operations.")
    protocol: Any = _read_only("protocol", "The protocol of servers.")
    experimental_max_worker_delay_secs: Any = _read_only(
        "experimental_max_worker_delay_secs", "The longest wait before a worker starts."
    )
    session_creation_timeout_secs: Any = _read_only(
        "session_creation_timeout_secs", "Seconds that a worker waits for the chief."
    )
    checkpoint_save_graph_def: Any = _read_only(
        "checkpoint_save_graph_def", "Whether graphs are saved with checkpoints."
    )
    service: Any = _read_only("service", "What TF_CONFIG says under `service`.")
    cluster_spec: Any = _read_only("cluster_spec", "The `tf.train.ClusterSpec`.")
    task_type: Any = _read_only("task_type", "This process's job.")
    task_id: Any = _read_only("task_id", "This process's index in its job.")
    global_id_in_cluster: Any = _read_only("global_id_in_cluster", "This process's index in the cluster.")
    master: Any = _read_only("master", "The master of training sessions.")
    evaluation_master: Any = _read_only("evaluation_master", "The master of evaluations.")
    is_chief: Any = _read_only("is_chief", "Whether this process writes for the job.")
    num_ps_replicas: Any = _read_only("num_ps_replicas", "How many parameter servers there are.")
    num_worker_replicas: Any = _read_only("num_worker_replicas", "How many processes train.")

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _USE_DEFAULT,
        save_checkpoints_secs: float | None = _USE_DEFAULT,
        session_config: Any = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: Any = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: float = 7200,
        checkpoint_save_graph_def: bool = True,
    ) -> None:
        """Checks the fields, and reads TF_CONFIG.

        Args:
          model_dir: Folder of checkpoints and summaries; None for the Estimator's own, or TF_CONFIG's.
          tf_random_seed: The seed of each call's graph.
          save_summary_steps: Steps between summaries; None or 0 for none.
          save_checkpoints_steps: Steps between checkpoints; None for none by steps.
          save_checkpoints_secs: Seconds between checkpoints; default 600 if no steps are given.
          session_config: A `tf.compat.v1.ConfigProto`.
          keep_checkpoint_max: How many checkpoints stay; None or 0 for all.
          keep_checkpoint_every_n_hours: Every how many hours one stays for ever.
          log_step_count_steps: Steps between two lines of loss and speed; None for none.
          train_distribute: The strategy under which the model is trained: one of `tf.distribute` that keeps to one process,
            such as MirroredStrategy or OneDeviceStrategy. Each replica gets a batch of its own.
          device_fn: A function of `op` that returns its device.
          protocol: The protocol of servers: None or "grpc".
          eval_distribute: As `train_distribute`, for evaluations.
          experimental_distribute: Both in one, a `bridge.estimator.strategies.DistributeConfig`.
          experimental_max_worker_delay_secs: The longest wait before a worker starts.
          session_creation_timeout_secs: Seconds that a worker waits for the chief.
          checkpoint_save_graph_def: Whether graph.pbtxt and .meta files are written.

        Raises:
          EstimatorError: (a ValueError) a field, or TF_CONFIG, cannot be.
          EstimatorTypeError: (a TypeError) `service` of TF_CONFIG is no dict, or a strategy is none.
          UnsupportedEstimatorError: a strategy is for TPUs, or spans processes.
        """
        if save_checkpoints_steps is _USE_DEFAULT and save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_steps, save_checkpoints_secs = None, 600
        elif save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is _USE_DEFAULT:
            save_checkpoints_steps = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise _both_given()
        tf_config = _tf_config()
        if tf_config:
            tf1.logging.info("TF_CONFIG environment variable: %s", tf_config)
        self._set(
            model_dir=_model_dir(tf_config, None if model_dir is None else os.fspath(model_dir)),
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            train_distribute=chosen("train_distribute", train_distribute, experimental_distribute),
            device_fn=device_fn,
            protocol=protocol,
            eval_distribute=chosen("eval_distribute", eval_distribute, experimental_distribute),
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs,
            checkpoint_save_graph_def=checkpoint_save_graph_def,
        )
        check_cluster(self._strategies(), self._cluster(tf_config))
        self._find_place(tf_config)
        if session_config is None and self._cluster_spec:
            self._set(session_config=self._cluster_session_config())

    def replace(self, **fields: Any) -> RunConfig:
        """Returns a copy with other fields.

        Args:
          **fields: Those of the constructor, by name. Steps and seconds of checkpoints take each other's place.

        Returns:
          The copy.

        Raises:
          EstimatorError: (a ValueError) a field is unknown, or cannot be.
        """
        made = copy.deepcopy(self)
        made._set(**fields)
        return made

    def _set(self, **fields: Any) -> None:
        replaceable = argument_names(RunConfig)
        for name, value in fields.items():
            if name not in replaceable:
                raise EstimatorError(
                    f"Replacing {name} is not supported. The fields that can be replaced are {', '.join(replaceable)}."
                )
            setattr(self, f"_{name}", value)
        steps, secs = "save_checkpoints_steps", "save_checkpoints_secs"
        if steps in fields and secs in fields:
            if fields[steps] is not None and fields[secs] is not None:
                raise _both_given()
        elif fields.get(steps) is not None:
            self._save_checkpoints_secs = None
        elif fields.get(secs) is not None:
            self._save_checkpoints_steps = None
        self._check()

    def __deepcopy__(self, memo: dict[int, Any]) -> RunConfig:
        """Copies the fields, but for strategies, which stand for devices and are the same in each copy."""
        memo.update({id(strategy): strategy for strategy in self._strategies().values()})
        made = type(self).__new__(type(self))
        made.__dict__.update(copy.deepcopy(vars(self), memo))
        return made

    def _strategies(self) -> dict[str, Any]:
        return {"train_distribute": self.train_distribute, "eval_distribute": self.eval_distribute}

    def _cluster(self, tf_config: dict[str, Any]) -> dict[str, Any]:
        """Returns the cluster of TF_CONFIG, or the one that a `bridge.estimator.strategies.DistributeConfig` has."""
        remote = getattr(self.experimental_distribute, "remote_cluster", None)
        return tf.train.ClusterSpec(remote or tf_config.get("cluster") or {}).as_dict()

    def _check(self) -> None:
        for name, strategy in self._strategies().items():
            check_strategy(name, strategy)
        for name, is_right, rule in (
            ("model_dir", bool, "non-empty"),
            ("save_summary_steps", _not_negative, ">= 0"),
            ("save_checkpoints_steps", _not_negative, ">= 0"),
            ("save_checkpoints_secs", _not_negative, ">= 0"),
            ("session_config", _is_config, "an instance of tf.compat.v1.ConfigProto"),
            ("keep_checkpoint_max", _not_negative, ">= 0"),
            ("keep_checkpoint_every_n_hours", _positive, "> 0"),
            ("log_step_count_steps", _positive, "> 0"),
            ("tf_random_seed", _is_integer, "an integer"),
            ("experimental_max_worker_delay_secs", _is_integer, "an integer if set"),
            ("session_creation_timeout_secs", _positive, "> 0"),
            ("device_fn", _places_operations, 'callable with exactly one argument "op"'),
            ("protocol", lambda value: value in ("grpc", "grpc+verbs"), "grpc or grpc+verbs"),
        ):
            value = getattr(self, name)
            if value is not None and not is_right(value):
                raise EstimatorError(f"{name} should be {rule}, but it is {value!r}.")

    # ---- The cluster. ----

    def _find_place(self, tf_config: dict[str, Any]) -> None:
        service = tf_config.get("service")
        if service is not None and not isinstance(service, dict):
            raise EstimatorTypeError(
                f'If "service" is set in TF_CONFIG, it must be a dict, but it is {service!r}.'
            )
        self._service = service
        self._global_id_in_cluster: int | None = None
        self._cluster_spec = tf.train.ClusterSpec(tf_config.get("cluster") or {})
        task = tf_config.get("task") or {}
        if self._cluster_spec:
            self._find_place_in_cluster(tf_config, task)
        else:
            self._find_place_alone(tf_config, task)

    def _find_place_alone(self, tf_config: dict[str, Any], task: dict[str, Any]) -> None:
        self._task_type, self._task_id = task.get("type", TaskType.WORKER), int(task.get("index", 0))
        if self._task_type != TaskType.WORKER or self._task_id != 0:
            raise EstimatorError(
                'If "cluster" is not set in TF_CONFIG, task type must be WORKER and task index 0, but they are '
                f"{self._task_type!r} and {self._task_id}. Add the cluster to TF_CONFIG, or take the task out."
            )
        self._master = tf_config.get("session_master", "")
        self._evaluation_master = tf_config.get("eval_session_master", "")
        self._is_chief, self._global_id_in_cluster = True, 0
        self._num_ps_replicas, self._num_worker_replicas = 0, 1

    def _find_place_in_cluster(self, tf_config: dict[str, Any], task: dict[str, Any]) -> None:
        cluster = self._cluster_spec
        chief = TaskType.MASTER if TaskType.MASTER in cluster.jobs else TaskType.CHIEF
        if chief == TaskType.MASTER and TaskType.CHIEF in cluster.jobs:
            raise EstimatorError(
                "If `master` node exists in `cluster`, job `chief` is not supported. Keep the chief."
            )
        self._task_type, self._task_id = _checked_task(cluster, task, chief)
        self._evaluation_master = ""
        if self._task_type == TaskType.EVALUATOR:
            if chief == TaskType.MASTER:
                raise EstimatorError(
                    "If `master` node exists in `cluster`, task_type `evaluator` is not supported: the master evaluates. "
                    "Call it `chief` to have an evaluator."
                )
            # An evaluator works by itself, beside the cluster.
            self._evaluation_master = tf_config.get("eval_session_master", "")
            self._cluster_spec = tf.train.ClusterSpec({})
            self._master, self._is_chief = "", False
            self._num_ps_replicas, self._num_worker_replicas = 0, 0
            return
        self._master = _session_master(cluster, self._task_type, self._task_id, tf_config)
        tasks = cluster.as_dict()
        self._num_ps_replicas = len(tasks.get(TaskType.PS, []))
        self._num_worker_replicas = len(tasks.get(TaskType.WORKER, [])) + len(tasks.get(chief, []))
        self._global_id_in_cluster = _global_id(cluster, self._task_type, self._task_id, chief)
        self._is_chief = self._task_type == chief

    def _cluster_session_config(self) -> Any:
        filters = {
            TaskType.MASTER: ["/job:ps", "/job:master"],
            TaskType.CHIEF: ["/job:ps", "/job:chief"],
            TaskType.WORKER: ["/job:ps", f"/job:worker/task:{self._task_id}"],
            TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
        }.get(self._task_type)
        if filters is None:
            return None
        config = default_session_config()
        config.device_filters.extend(filters)
        return config


def default_session_config() -> Any:
    """Returns the ConfigProto of an Estimator that was given none."""
    config = tf1.ConfigProto(allow_soft_placement=True)
    config.graph_options.rewrite_options.meta_optimizer_iterations = 1  # RewriterConfig.ONE
    return config


def _both_given() -> EstimatorError:
    return EstimatorError(
        "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set. Set one of them to None."
    )


def _not_negative(value: Any) -> bool:
    return value >= 0


def _positive(value: Any) -> bool:
    return value > 0


def _is_integer(value: Any) -> bool:
    return isinstance(value, int)


def _is_config(value: Any) -> bool:
    return isinstance(value, tf1.ConfigProto)


def _places_operations(value: Any) -> bool:
    return callable(value) and argument_names(value) == ("op",)


def _tf_config() -> dict[str, Any]:
    text = os.environ.get("TF_CONFIG", "")
    try:
        return json.loads(text) if text else {}
    except json.JSONDecodeError as error:
        raise EstimatorError(f"TF_CONFIG is not JSON ({error}). Correct it, or unset it.") from error


def _model_dir(tf_config: dict[str, Any], model_dir: str | None) -> str | None:
    there = tf_config.get("model_dir")
    if model_dir == "" or there == "":
        raise EstimatorError("model_dir should be non-empty. Leave it out for a temporary folder.")
    if there and model_dir and there != model_dir:
        raise EstimatorError(
            f"model_dir is {model_dir!r} in RunConfig, but {there!r} in TF_CONFIG. Give it in one place."
        )
    return model_dir or there


def _checked_task(cluster: Any, task: dict[str, Any], chief: str) -> tuple[str, int]:
    if chief not in cluster.jobs:
        raise EstimatorError(f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node.')
    if len(cluster.job_tasks(chief)) > 1:
        raise EstimatorError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node.')
    if not task.get("type"):
        raise EstimatorError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if task.get("index") is None:
        raise EstimatorError('If "cluster" is set in TF_CONFIG, task index must be set.')
    task_type, task_id = task["type"], int(task["index"])
    if task_id < 0:
        raise EstimatorError("Task index must be non-negative number.")
    if task_type == TaskType.EVALUATOR:
        return task_type, task_id
    if task_type not in cluster.jobs:
        raise EstimatorError(
            f"{task_type} is not a valid task_type: the cluster of TF_CONFIG has {', '.join(cluster.jobs)}."
        )
    count = len(cluster.job_tasks(task_type))
    if task_id >= count:
        raise EstimatorError(
            f"{task_id} is not a valid task_id for task_type {task_type}, of which TF_CONFIG has {count}."
        )
    return task_type, task_id


def _session_master(cluster: Any, task_type: str, task_id: int, tf_config: dict[str, Any]) -> str:
    if "session_master" in tf_config:
        return tf_config["session_master"]
    if len(cluster.jobs) == 1 and len(cluster.job_tasks(cluster.jobs[0])) == 1:
        return ""
    return f"grpc://{cluster.job_tasks(task_type)[task_id]}"


def _global_id(cluster: Any, task_type: str, task_id: int, chief: str) -> int:
    """Counts the tasks before this one: the chief first, parameter servers last."""
    others = sorted(job for job in cluster.jobs if job not in (chief, TaskType.PS))
    jobs = [chief, *others, TaskType.PS]
    before = jobs[: jobs.index(task_type)]
    return sum(len(cluster.job_tasks(job)) for job in before) + task_id
