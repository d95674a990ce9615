"""train_and_evaluate in one process: which checkpoints are evaluated, with hooks and steps of the specs."""

from tests.bridge.estimator.world import Journal, as_json, data, estimator, job, linear, once


def main(work):
    calls = []
    made = linear(work + "/all", save_checkpoints_steps=4)
    first = estimator.train_and_evaluate(
        made,
        estimator.TrainSpec(data, max_steps=10, hooks=[Journal(calls, "train")]),
        estimator.EvalSpec(
            once, steps=2, name="x", hooks=[Journal(calls, "eval")], start_delay_secs=0, throttle_secs=0
        ),
    )
    again = estimator.train_and_evaluate(
        made, estimator.TrainSpec(data, max_steps=10), estimator.EvalSpec(once, steps=None, throttle_secs=0)
    )
    throttled = linear(work + "/throttled", save_checkpoints_steps=2)
    last = estimator.train_and_evaluate(
        throttled,
        estimator.TrainSpec(data, max_steps=9),
        estimator.EvalSpec(once, steps=None, throttle_secs=10000),
    )
    return as_json(
        {
            "first": first,
            "again": again,
            "last": last,
            "calls": calls,
            "jobs": [job(made, "x"), job(throttled, None)],
        }
    )
