"""TPUEstimator without a TPU: batch sizes, eval_metrics, scaffold_fn, host_call, the speed."""

from tests.bridge.estimator.world import IS_V1, X, Y, as_json, estimator, job, regression, tf

tpu = tf.contrib.tpu if IS_V1 else estimator.tpu
SEEN = []


def input_fn(params, mode):
    SEEN.append([mode, sorted(params.items())])
    repeat = None if mode == estimator.ModeKeys.TRAIN else 1
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(repeat).batch(params["batch_size"])


def model_fn(features, labels, mode, params):
    SEEN.append([mode, sorted(params.items())])
    spec = regression(features, labels, mode, {})
    if mode == estimator.ModeKeys.PREDICT:
        return tpu.TPUEstimatorSpec(mode, predictions=spec.predictions)

    def metric_fn(labels, y):
        return {"mae": tf.metrics.mean_absolute_error(labels, y)}

    def host_call(loss):
        return [tf.print("host", loss, output_stream="file:///dev/null")]

    return tpu.TPUEstimatorSpec(
        mode,
        loss=spec.loss,
        train_op=spec.train_op,
        eval_metrics=(metric_fn, {"labels": labels, "y": spec.predictions["y"]}),
        scaffold_fn=lambda: tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=1)),
        host_call=(host_call, [spec.loss]),
    )


def main(work):
    del SEEN[:]
    config = tpu.RunConfig(
        model_dir=work,
        save_checkpoints_steps=4,
        save_summary_steps=1,
        log_step_count_steps=6,
        tpu_config=tpu.TPUConfig(iterations_per_loop=3),
    )
    made = tpu.TPUEstimator(
        model_fn,
        config=config,
        use_tpu=False,
        params={"a": 1},
        train_batch_size=4,
        eval_batch_size=8,
        predict_batch_size=12,
    )
    made.train(input_fn, max_steps=9)
    result = made.evaluate(input_fn, steps=2)
    predicted = list(made.predict(input_fn, yield_single_examples=False))
    report = job(made, None)
    del report["state"]  # This saver writes whole paths.
    return as_json(
        {"seen": SEEN, "result": result, "lengths": [len(p["y"]) for p in predicted], "job": report}
    )
