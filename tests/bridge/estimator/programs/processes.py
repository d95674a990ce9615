"""train_and_evaluate as real processes: chief, worker, parameter server, evaluator, and the older master."""

import json
import os
import socket
import subprocess
import sys
import time

ROOT = os.path.abspath(__file__).split("/tests/bridge/")[0]
# What a program does not know of: how far the others are when the last step is reached.
LAST = 20


def packages():
    """The tests' packages import what Python 3.7 does not have; only their folders are needed."""
    for name in ("tests", "tests.bridge"):
        package = type(sys)(name)
        package.__path__ = [os.path.join(ROOT, *name.split("."))]
        sys.modules[name] = package


class Cluster:
    def __init__(self, folder, jobs):
        sockets = [(job, socket.socket()) for job, count in sorted(jobs.items()) for _ in range(count)]
        self.folder, self.processes, self.addresses = folder, {}, {}
        for job, one in sockets:
            one.bind(("localhost", 0))
            self.addresses.setdefault(job, []).append(f"localhost:{one.getsockname()[1]}")
        for _, one in sockets:
            one.close()

    def start(self, task, max_steps):
        tf_config = {"cluster": self.addresses, "task": {"type": task, "index": 0}}
        environment = dict(os.environ, TF_CONFIG=json.dumps(tf_config), TF_CPP_MIN_LOG_LEVEL="3")
        self.processes[task] = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), self.folder, str(max_steps)],
            cwd=ROOT,
            env=dict(environment, PYTHONPATH=ROOT),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )

    def result(self, task):
        out, errors = self.processes[task].communicate(timeout=200)
        if self.processes[task].returncode:
            raise RuntimeError(errors[-3000:])
        return json.loads(out.splitlines()[-1])

    def end(self):
        for process in self.processes.values():
            process.kill()
            process.communicate()


def run(folder, jobs, tasks, max_steps=7, wait=()):
    """Starts tasks, and those to wait for one after the other; returns what they saw."""
    cluster = Cluster(folder, jobs)
    try:
        for task in tasks:
            cluster.start(task, max_steps)
        seen = {task: cluster.result(task) for task in tasks if task != "ps"}
        for task in wait:
            cluster.start(task, max_steps)
            seen[task] = cluster.result(task)
        seen["ps serves on"] = "ps" in cluster.processes and cluster.processes["ps"].poll() is None
        return seen
    finally:
        cluster.end()


def child(folder, max_steps):
    """One process of a cluster; its task is in TF_CONFIG."""
    from tests.bridge.estimator.world import Journal, as_json, data, estimator, linear, once, regression, tf

    calls, devices = [], {}
    task = json.loads(os.environ["TF_CONFIG"])["task"]["type"]
    is_shared = "worker" in json.loads(os.environ["TF_CONFIG"])["cluster"]
    here = os.path.join(folder, "worker is here")

    class Meet(tf.train.SessionRunHook):
        """The chief's first step waits for the worker's session."""

        def after_create_session(self, session, coord):
            devices.update((variable.name, variable.device) for variable in tf.global_variables())
            if is_shared and task == "worker":
                with open(here, "w"):
                    pass

        def before_run(self, run_context):
            while is_shared and task == "chief" and not os.path.exists(here):
                time.sleep(0.05)

    def model_fn(features, labels, mode, params):
        spec = regression(features, labels, mode, params)
        return spec._replace(
            training_chief_hooks=[Journal(calls, "chief")], training_hooks=[Journal(calls, "all")]
        )

    config = {"save_checkpoints_steps": 3, "experimental_max_worker_delay_secs": 0}
    made = linear(folder, model_fn, params={"rate": 0.0 if is_shared else 0.1}, **config)
    estimator.train_and_evaluate(
        made,
        estimator.TrainSpec(data, max_steps=max_steps, hooks=[Meet()]),
        estimator.EvalSpec(once, steps=2, start_delay_secs=0, throttle_secs=0),
    )
    seen = {"calls": sorted(set(calls)) if is_shared else calls, "devices": devices}
    print("\n" + json.dumps(as_json(seen)))


def main(work):
    from tests.bridge.estimator.world import as_json, events, files, state, variables

    def job(folder):
        made = {"files": files(folder), "state": state(folder), "events": events(folder)}
        newest = made["state"][0].split('"')[1]
        made["variables"] = variables(os.path.join(folder, newest))
        if os.path.isdir(folder + "/eval"):
            made["eval"] = events(folder + "/eval")
        return made

    found = {}
    seen = run(work + "/chief", {"chief": 1, "ps": 1}, ["ps", "chief"], wait=["evaluator"])
    found["a chief, its parameter server, and an evaluator"] = [seen, job(work + "/chief")]
    seen = run(work + "/master", {"master": 1, "ps": 1}, ["ps", "master"])
    found["a master that evaluates"] = [seen, job(work + "/master")]
    seen = run(work + "/alone", {"chief": 1}, ["chief"], wait=["evaluator"])
    found["a chief alone"] = [seen, job(work + "/alone")]
    seen = run(work + "/shared", {"chief": 1, "worker": 1, "ps": 1}, ["ps", "chief", "worker"], LAST)
    shared = job(work + "/shared")
    found["a chief and a worker"] = [
        seen,
        {
            "tags": sorted(set(shared["events"]) - {"global_step/sec"}),
            "variables": [shared["variables"]["w"], shared["variables"]["b"]],
        },
        # One of the two may be in the midst of a step when the last one is reached, and do one more: it may have read the
        # step's number before the other counted.
        LAST <= shared["variables"]["global_step"] <= LAST + 2,
    ]
    return as_json(found)


if __name__ == "__main__":
    packages()
    child(sys.argv[1], int(sys.argv[2]))
