"""One process of a cluster: `python cluster_program.py MODEL_DIR MAX_STEPS [FILE]`; its task is in TF_CONFIG.

With a FILE the chief's first step waits for it, and a worker that has a session makes it, so that both train.

Prints a line for each session, and last what `train_and_evaluate` came to.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import tensorflow as tf

from bridge import estimator as est
from tests.bridge.estimator.support import dataset, linear, once


def main() -> None:
    model_dir, max_steps = sys.argv[1], int(sys.argv[2])
    config = {
        "save_checkpoints_steps": 3,
        "save_summary_steps": None,
        "experimental_max_worker_delay_secs": 0,
    }
    estimator = linear(model_dir, config=config, rate=0.05)
    devices: list[str] = []

    meeting = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    task = estimator.config.task_type

    class Look(tf.compat.v1.train.SessionRunHook):
        def begin(self) -> None:
            devices[:] = [variable.device for variable in tf.compat.v1.global_variables()]

        def after_create_session(self, session: Any, coord: Any) -> None:
            print(json.dumps({"session": task}), flush=True)
            if meeting is not None and task == "worker":
                meeting.touch()

        def before_run(self, run_context: Any) -> None:
            while meeting is not None and task == "chief" and not meeting.exists():
                time.sleep(0.1)

    est.train_and_evaluate(
        estimator,
        est.TrainSpec(dataset, max_steps=max_steps, hooks=[Look()]),
        est.EvalSpec(once, hooks=[Look()], start_delay_secs=0, throttle_secs=0),
    )
    print(json.dumps({"task": task, "devices": devices}), flush=True)


if __name__ == "__main__":
    main()
