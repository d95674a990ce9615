"""A job's folder that TensorFlow 1.15.5 wrote (Adam, ten steps) is taken over: evaluated, trained on, exported."""

import os
import shutil

from tests.bridge.estimator.world import as_json, data, job, linear, once, tf

THERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "tf1_model_dir")
PARAMS = {"optimizer": tf.train.AdamOptimizer}


def make(folder):
    """Writes the folder; only TensorFlow 1.15.5 does it."""
    linear(folder, params=PARAMS, save_summary_steps=None, log_step_count_steps=None).train(data, steps=10)


def main(work):
    folder = work + "/job"
    shutil.copytree(THERE, folder)
    made = linear(folder, params=PARAMS)
    before = made.evaluate(once)
    made.train(data, max_steps=10)
    made.train(data, max_steps=16)
    return as_json(
        {
            "before": before,
            "after": made.evaluate(once),
            "names": made.get_variable_names(),
            "job": job(made, None),
        }
    )
