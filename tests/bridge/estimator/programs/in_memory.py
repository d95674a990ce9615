"""InMemoryEvaluatorHook, and make_stop_at_checkpoint_step_hook on the chief."""

import os

from tests.bridge.estimator.world import Journal, data, estimator, job, linear, once


def main(work):
    calls = []
    made = linear(work)
    os.makedirs(made.eval_dir("memory"))
    memory = estimator.experimental.InMemoryEvaluatorHook(
        made, once, steps=2, hooks=[Journal(calls, "evaluation")], name="memory", every_n_iter=3
    )
    stop = estimator.experimental.make_stop_at_checkpoint_step_hook(made, 7)
    made.train(data, hooks=[memory, stop])
    return {"calls": calls, "job": job(made, "memory")}
