"""Training in several calls: steps, max_steps, the end of the input."""

from tests.bridge.estimator.world import data, job, linear, once


def main(work):
    made = linear(work)
    made.train(data, steps=7)
    made.train(data, max_steps=11)
    made.train(data, max_steps=11)
    made.train(once)
    return job(made)
