"""Hooks that stop a training by its evaluations."""

import os

from tests.bridge.estimator.world import data, estimator, linear, once, variables


def run(work, name, make, rate, rounds=12):
    made = linear(work + "/" + name, params={"rate": rate}, save_checkpoints_steps=3)
    os.makedirs(made.eval_dir())
    for _ in range(rounds):
        # A new hook asks in its first step, whether it reads the global step before that step's update or after it.
        made.train(data, hooks=[make(made)], steps=3)
        made.evaluate(once)
    return variables(made.latest_checkpoint())


def main(work):
    new = estimator.experimental
    every = {"run_every_secs": None, "run_every_steps": 1}
    return {
        "lower": run(work, "lower", lambda e: new.stop_if_lower_hook(e, "loss", 0.5, **every), 0.05),
        "higher": run(
            work, "higher", lambda e: new.stop_if_higher_hook(e, "mae", 0.2, min_steps=7, **every), 0.05
        ),
        "no_decrease": run(
            work, "no_decrease", lambda e: new.stop_if_no_decrease_hook(e, "loss", 6, **every), 1.4
        ),
        "no_increase": run(
            work, "no_increase", lambda e: new.stop_if_no_increase_hook(e, "loss", 9, **every), 0.05
        ),
    }
