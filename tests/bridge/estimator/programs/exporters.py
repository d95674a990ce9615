"""train_and_evaluate with all three exporters; what is served, read by v1's loader."""

import os

from tests.bridge.estimator.world import as_json, data, estimator, job, linear, once, regression, tf


def model_fn(features, labels, mode, params):
    spec = regression(features, labels, mode, params)
    if mode != estimator.ModeKeys.PREDICT:
        return spec
    y = spec.predictions["y"]
    export = estimator.export
    return spec._replace(
        export_outputs={
            "serving_default": export.PredictOutput({"y": y}),
            "regression": export.RegressionOutput(y),
            "classes": export.ClassificationOutput(scores=tf.concat([y, -y], 1)),
        }
    )


def serve(path, key, feed):
    with tf.Session(graph=tf.Graph()) as session:
        meta = tf.saved_model.loader.load(session, ["serve"], path)
        signature = meta.signature_def[key]
        (source,) = signature.inputs.values()
        values = session.run(
            {name: info.name for name, info in signature.outputs.items()}, {source.name: feed}
        )
        return {
            "signatures": {k: v.method_name for k, v in meta.signature_def.items()},
            "values": values,
        }


def main(work):
    made = linear(work, model_fn)
    parse = estimator.export.build_parsing_serving_input_receiver_fn(
        {"x": tf.FixedLenFeature([3], tf.float32)}
    )

    def raw():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        return estimator.export.ServingInputReceiver(
            {"x": x}, {"x": x}, {"other": {"examples": tf.placeholder(tf.string)}}
        )

    exporters = [
        estimator.FinalExporter("final", parse),
        estimator.LatestExporter("latest", parse, exports_to_keep=2),
        estimator.BestExporter("best", parse, exports_to_keep=1),
    ]
    result = estimator.train_and_evaluate(
        made,
        estimator.TrainSpec(data, max_steps=15),
        estimator.EvalSpec(once, exporters=exporters, start_delay_secs=0, throttle_secs=0),
    )
    exports = os.path.join(work, "export")
    counts = {name: len(os.listdir(os.path.join(exports, name))) for name in sorted(os.listdir(exports))}
    by_hand = made.export_saved_model(
        work + "/by_hand", raw, assets_extra={"a/note.txt": work + "/checkpoint"}
    ).decode()
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0, 3.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()
    final = os.path.join(exports, "final", os.listdir(os.path.join(exports, "final"))[0])
    return as_json(
        {
            "metrics": result[0],
            "exported": [bool(path) for path in result[1]],
            "counts": counts,
            "parsed": serve(final, "regression", [example]),
            "raw": serve(by_hand, "serving_default", [[1.0, 2.0, 3.0]]),
            "files": sorted(os.listdir(by_hand)) + os.listdir(by_hand + "/assets.extra/a"),
            "job": job(made, None),
        }
    )
