"""What RunConfig makes of its arguments and of TF_CONFIG."""

import json
import os

from tests.bridge.estimator.world import as_json, estimator, tf

FIELDS = [
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
    "service",
    "task_type",
    "task_id",
    "global_id_in_cluster",
    "master",
    "evaluation_master",
    "is_chief",
    "num_ps_replicas",
    "num_worker_replicas",
]

CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1", "e:1"]}
MASTER = {"master": ["a:1"], "worker": ["b:1"]}
TF_CONFIGS = {
    "none": {},
    "chief": {"cluster": CLUSTER, "task": {"type": "chief", "index": 0}},
    "worker": {"cluster": CLUSTER, "task": {"type": "worker", "index": 1}, "model_dir": "/somewhere"},
    "ps": {"cluster": CLUSTER, "task": {"type": "ps", "index": 1}, "service": {"a": 1}},
    "evaluator": {"cluster": CLUSTER, "task": {"type": "evaluator", "index": 0}},
    "master": {"cluster": MASTER, "task": {"type": "master", "index": 0}, "session_master": "grpc://x:2"},
    "alone": {"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}},
    "no chief": {"cluster": {"worker": ["b:1"]}, "task": {"type": "worker", "index": 0}},
    "no task": {"cluster": CLUSTER},
    "no index": {"cluster": CLUSTER, "task": {"type": "worker"}},
    "wrong index": {"cluster": CLUSTER, "task": {"type": "worker", "index": 2}},
    "negative index": {"cluster": CLUSTER, "task": {"type": "worker", "index": -1}},
    "wrong type": {"cluster": CLUSTER, "task": {"type": "boss", "index": 0}},
    "two chiefs": {"cluster": {"chief": ["a:1", "b:1"]}, "task": {"type": "chief", "index": 0}},
    "master and chief": {
        "cluster": {"chief": ["a:1"], "master": ["b:1"]},
        "task": {"type": "chief", "index": 0},
    },
    "master's evaluator": {"cluster": MASTER, "task": {"type": "evaluator", "index": 0}},
    "task without cluster": {"task": {"type": "worker", "index": 1}},
    "service is no dict": {"service": "x"},
    "empty model_dir": {"model_dir": ""},
}
ARGUMENTS = {
    "defaults": {},
    "steps": {"save_checkpoints_steps": 3},
    "neither": {"save_checkpoints_steps": None},
    "both": {"save_checkpoints_steps": 1, "save_checkpoints_secs": 1},
    "both none": {"save_checkpoints_steps": None, "save_checkpoints_secs": None},
    "model_dir": {"model_dir": "/elsewhere", "tf_random_seed": 3, "protocol": "grpc"},
    "empty model_dir": {"model_dir": ""},
    "negative": {"save_summary_steps": -1},
    "zero": {"log_step_count_steps": 0},
    "seed": {"tf_random_seed": 1.5},
    "session_config": {"session_config": 3},
    "device_fn": {"device_fn": lambda node: "/cpu:0"},
    "protocol": {"protocol": "carrier pigeon"},
    "delay": {"experimental_max_worker_delay_secs": 0.5},
    "hours": {"keep_checkpoint_every_n_hours": 0},
}
REPLACED = {
    "steps": {"save_checkpoints_steps": 7},
    "secs": {"save_checkpoints_secs": 7},
    "both": {"save_checkpoints_secs": 7, "save_checkpoints_steps": 7},
    "unknown": {"task_type": "chief"},
}


def shown(make):
    try:
        config = make()
    except (ValueError, TypeError) as error:
        return "ValueError" if isinstance(error, ValueError) else "TypeError"
    made = {field: getattr(config, field) for field in FIELDS}
    made["cluster"] = config.cluster_spec.as_dict()
    filters = config.session_config.device_filters if config.session_config else None
    made["device_filters"] = None if filters is None else list(filters)
    return made


def main(work):
    made = {}
    before = os.environ.get("TF_CONFIG")
    try:
        for name, tf_config in TF_CONFIGS.items():
            os.environ["TF_CONFIG"] = json.dumps(tf_config)
            made["TF_CONFIG: " + name] = shown(estimator.RunConfig)
        del os.environ["TF_CONFIG"]
        for name, arguments in ARGUMENTS.items():
            made["argument: " + name] = shown(lambda arguments=arguments: estimator.RunConfig(**arguments))
        for name, fields in REPLACED.items():
            config = estimator.RunConfig(save_checkpoints_steps=2, session_config=tf.ConfigProto())
            made["replace: " + name] = shown(lambda config=config, fields=fields: config.replace(**fields))
    finally:
        os.environ.pop("TF_CONFIG", None)
        if before is not None:
            os.environ["TF_CONFIG"] = before
    return as_json(made)
