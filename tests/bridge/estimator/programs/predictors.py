"""tf.contrib.predictor, forward_features and clip_gradients_by_norm."""

import numpy as np

from tests.bridge.estimator.world import (
    IS_V1,
    X,
    as_json,
    data,
    estimator,
    linear,
    numbers,
    once,
    regression,
    tf,
    variables,
)

if IS_V1:
    contrib, predictor = tf.contrib.estimator, tf.contrib.predictor
else:
    contrib, predictor = estimator, estimator.predictor


def receiver_fn():
    x = tf.placeholder(tf.float32, [None, 3], name="rows")
    scale = tf.placeholder_with_default(1.0, [], name="scale")
    return estimator.export.ServingInputReceiver({"x": x * scale}, {"x": x, "scale": scale})


def two_outputs(features, labels, mode, params):
    spec = regression(features, labels, mode, params)
    if mode != estimator.ModeKeys.PREDICT:
        return spec
    outputs = {
        "serving_default": estimator.export.PredictOutput(spec.predictions),
        "double": estimator.export.PredictOutput({"double": spec.predictions["double"]}),
    }
    return spec._replace(export_outputs=outputs)


def kind(call, *more):
    """Which of the usual errors a call raises."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 - the kinds are compared
        return [one.__name__ for one in (ValueError, TypeError, *more) if isinstance(error, one)]
    return "nothing"


def asked(predict):
    """What a predictor says of itself, and what it returns."""
    return {
        "feeds": sorted(predict.feed_tensors),
        "fetches": sorted(predict.fetch_tensors),
        "graph": predict.graph is predict.session.graph,
        "once": predict({"x": X[:2]}),
        "scaled": predict({"x": X[:1], "scale": 2.0}),
        "not given": predict({"x": X[:1], "scale": None}),
        "unknown": kind(lambda: predict({"y": X[:1]})),
        "incomplete": kind(lambda: predict({}), tf.errors.InvalidArgumentError),
        "repr": repr(predict).split()[1:4],
    }


def predictors(work):
    job = linear(work + "/job", two_outputs)
    job.train(data, steps=4)
    made = {
        "estimator": asked(predictor.from_estimator(job, receiver_fn)),
        "another output": predictor.from_estimator(job, receiver_fn, output_key="double")({"x": X[:2]}),
    }
    with tf.Graph().as_default() as graph:
        made["in a graph"] = predictor.from_estimator(job, receiver_fn, graph=graph).graph is graph
    path = job.export_saved_model(work + "/export", receiver_fn)
    folder = path.decode()
    load = predictor.from_saved_model
    made["export"] = asked(load(path))
    made["another signature"] = load(folder, signature_def_key="double", tags="serve")({"x": X[:2]})
    names = {"rows": "rows:0"}, {"y": "y:0"}
    with tf.Session(graph=tf.Graph()) as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], folder).signature_def
    made["names"] = load(folder, input_names=names[0], output_names=names[1])({"rows": X[:2]})
    made["definition"] = load(folder, signature_def=signatures["double"])({"x": X[:2]})
    made["refused"] = {
        "no graph": kind(lambda: load(folder, tags="serve,gpu"), RuntimeError),
        "half": kind(lambda: load(folder, input_names=names[0])),
        "both": kind(lambda: load(folder, "double", input_names=names[0], output_names=names[1])),
    }
    job.train(data, steps=4)
    made["another checkpoint"] = predictor.from_estimator(job, receiver_fn)({"x": X[:2]})
    return made


def keyed(**more):
    def input_fn():
        def with_more(features, labels):
            key = tf.cast(tf.round(10 * features["x"][:, 0]), tf.int64)
            return dict(features, key=key, **{name: make() for name, make in more.items()}), labels

        return once().map(with_more)

    return input_fn


def forwarded(work):
    job = linear(work + "/forwarded")
    job.train(data, steps=4)
    tags = keyed(tags=lambda: tf.SparseTensor([[0, 0], [2, 1]], tf.constant([5, 7], tf.int64), [4, 2]))

    def first(job_, input_fn=None):
        return next(job_.predict(input_fn or keyed()))

    of_keys = contrib.forward_features(job, "key")

    def served(job_):
        def receiver():
            x = tf.placeholder(tf.float32, [None, 3])
            key = tf.placeholder(tf.int64, [None])
            return estimator.export.ServingInputReceiver({"x": x, "key": key}, {"x": x, "key": key})

        predict = predictor.from_saved_model(job_.export_saved_model(work + "/served", receiver).decode())
        return predict({"x": X[:2], "key": [3, 4]})

    of_keys.train(keyed(), steps=1)
    return {
        "key": first(of_keys),
        "all": first(contrib.forward_features(job)),
        "sparse": first(contrib.forward_features(job, ["key", "tags"], {"tags": -1}), tags),
        "evaluation": of_keys.evaluate(keyed()),
        "served": served(of_keys),
        "unknown": kind(lambda: first(contrib.forward_features(job, ["keys"]))),
        "no name": kind(lambda: contrib.forward_features(job, [1])),
        "sparse without default": kind(lambda: first(contrib.forward_features(job, "tags"), tags)),
        "twice": kind(lambda: first(contrib.forward_features(of_keys, "key"))),
    }


def clipped(work):
    made = {}
    for name, make in (
        ("sgd", lambda rate: contrib.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(rate), 0.5)),
        ("adam", lambda rate: contrib.clip_gradients_by_norm(tf.train.AdamOptimizer(rate), 0.5)),
    ):
        job = linear(work + "/clipped " + name, params={"optimizer": make})
        job.train(data, steps=4)
        made[name] = variables(job.latest_checkpoint())
    columns = [tf.feature_column.numeric_column("x", [3])]
    optimizer = contrib.clip_gradients_by_norm(tf.train.FtrlOptimizer(0.5), clip_norm=2.0)
    canned = estimator.LinearRegressor(columns, work + "/canned", 2, optimizer=optimizer)
    canned.train(lambda: tf.data.Dataset.from_tensor_slices(({"x": X}, numbers(3, 24, 2))).batch(6))
    made["canned"] = variables(canned.latest_checkpoint())
    return made


def main(work):
    return as_json(
        {
            "predictors": predictors(work),
            "forwarded": forwarded(work),
            "clipped": clipped(work),
            "rows": np.shape(X),
        }
    )
