"""The order of hooks in training, evaluation and prediction, and who may stop."""

from tests.bridge.estimator.world import Journal, data, job, linear, once, regression, tf


class Stop(tf.train.SessionRunHook):
    def before_run(self, run_context):
        return tf.train.SessionRunArgs({"loss": "squared:0", "names": [tf.train.get_global_step()]})

    def after_run(self, run_context, run_values):
        self.seen = [sorted(run_values.results), len(run_values.results["names"])]
        if run_values.results["loss"] < 0.8:
            run_context.request_stop()


def main(work):
    calls = []

    def model_fn(features, labels, mode, params):
        spec = regression(features, labels, mode, params)
        return spec._replace(
            training_hooks=[Journal(calls, "training")],
            training_chief_hooks=[Journal(calls, "chief")],
            evaluation_hooks=[Journal(calls, "evaluation")],
            prediction_hooks=[Journal(calls, "prediction")],
        )

    stop = Stop()
    made = linear(work, model_fn)
    made.train(data, hooks=[Journal(calls, "user"), stop], steps=8)
    made.evaluate(once, steps=2, hooks=[Journal(calls, "user")])
    list(made.predict(lambda: once().take(1), hooks=[Journal(calls, "user")]))
    return {"calls": calls, "seen": stop.seen, "job": job(made, None)}
