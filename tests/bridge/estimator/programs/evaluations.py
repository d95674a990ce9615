"""Evaluations by name, of an older checkpoint, in steps, and of a model that was never trained."""

from tests.bridge.estimator.world import Journal, as_json, data, job, linear, once


def main(work):
    calls = []
    untrained = linear(work + "/untrained").evaluate(once, name="start")
    made = linear(work + "/job", keep_checkpoint_max=None)
    made.train(data, steps=10)
    return as_json(
        {
            "untrained": untrained,
            "all": made.evaluate(once),
            "steps": made.evaluate(data, steps=2, hooks=[Journal(calls, "user")], name="two"),
            "old": made.evaluate(once, checkpoint_path=work + "/job/model.ckpt-5", name="old"),
            "calls": calls,
            "job": {k: v for k, v in job(made, None, "two", "old").items() if k != "state"},
        }
    )
