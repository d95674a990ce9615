"""One process of a TF1 job, as scripts have it; run by `test_cluster_jobs`.

Usage: job_program.py plain|sync ps|chief|worker LAST_STEP DIRECTORY PS_PORT CHIEF_PORT WORKER_PORT

Prints one JSON object a line: {"waits": …} when it waits for the chief, and at the end what it saw. The chief begins
when it is told to, by a line of input.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf

tf1 = tf.compat.v1

kind, job, last_step, directory, *ports = sys.argv[1:]
CLUSTER = tf.train.ClusterSpec(
    {name: [f"127.0.0.1:{port}"] for name, port in zip(("ps", "chief", "worker"), ports, strict=True)}
)
WORKERS = 2


class ShortWaits:
    """The `time` of the module that waits for the chief: tells that it does, and asks again soon."""

    time = staticmethod(time.time)

    def sleep(self, seconds: float) -> None:
        print(json.dumps({"waits": seconds}), flush=True)
        time.sleep(0.05)


class Watch(tf1.train.SessionRunHook):
    """Keeps the last step that this process sees, and how often it ran."""

    def __init__(self) -> None:
        self.last = -1
        self.weight = float("nan")
        self.runs = 0

    def begin(self) -> None:
        self._step = tf1.train.get_global_step()
        self._weight = next(v for v in tf1.global_variables() if v.op.name == "weight")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.runs += 1

    def end(self, session: Any) -> None:
        self.last, self.weight = (value.item() for value in session.run([self._step, self._weight]))


def train(server: Any) -> dict[str, Any]:
    import bridge  # Not in the parameter server, whose start would be slower.

    is_chief = job == "chief"
    setter = tf1.train.replica_device_setter(worker_device=f"/job:{job}/task:0", cluster=CLUSTER)
    with tf.Graph().as_default(), tf1.device(setter):
        step = tf1.train.get_or_create_global_step()
        weight = tf1.get_variable("weight", initializer=0.0)
        optimizer: Any = tf1.train.GradientDescentOptimizer(0.125)
        hooks: list[Any] = []
        if kind == "sync":
            optimizer = tf1.train.SyncReplicasOptimizer(optimizer, WORKERS, WORKERS)
        train_op = optimizer.minimize(tf.square(weight - 4.0), global_step=step)
        if kind == "sync":
            # Without tokens in advance no process can be ahead of another, and so none waits for one that has left.
            hooks.append(optimizer.make_session_run_hook(is_chief, num_tokens=0))
        everywhere, on_chief = Watch(), Watch()
        # Other workers may leave before this one: it talks to the parameter server alone.
        config = tf1.ConfigProto(device_filters=["/job:ps", f"/job:{job}/task:0"])
        with (
            bridge.MonitoredTrainingSession(
                master=server.target,
                is_chief=is_chief,
                checkpoint_dir=directory,
                hooks=[*hooks, everywhere, tf1.train.StopAtStepHook(last_step=int(last_step))],
                chief_only_hooks=[on_chief],
                save_checkpoint_steps=4,
                config=config,
                max_wait_secs=60,
                stop_grace_period_secs=1,  # The thread of the chief's sync hook waits for gradients, to the very end.
            ) as session
        ):
            while not session.should_stop():
                session.run(train_op)
    return {
        "last": everywhere.last,
        "runs": everywhere.runs,
        "runs_on_chief": on_chief.runs,
        "weight": everywhere.weight,
        "devices": sorted({weight.device, step.device}),
    }


server = tf1.train.Server(CLUSTER, job_name=job, task_index=0)
if job == "ps":
    server.join()
else:
    if job == "chief":
        sys.stdin.readline()
    sys.modules[tf1.train.SessionManager.__module__].time = ShortWaits()
    print(json.dumps(train(server)), flush=True)
