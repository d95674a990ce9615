"""DNNClassifier and DNNRegressor, warm-started from weights that are known, with batch normalization."""

import numpy as np

from tests.bridge.estimator.programs.linear_canned import LABELS, input_fn, summarised
from tests.bridge.estimator.world import as_json, estimator, job, numbers, tf


def weights(path, outputs):
    """Saves a checkpoint with the weights of a network of two layers."""
    shapes = {
        "hiddenlayer_0/kernel": [6, 4],
        "hiddenlayer_0/bias": [4],
        "hiddenlayer_1/kernel": [4, 3],
        "hiddenlayer_1/bias": [3],
        "logits/kernel": [3, outputs],
        "logits/bias": [outputs],
        "input_from_feature_columns/input_layer/kind_embedding/embedding_weights": [3, 2],
    }
    with tf.Graph().as_default(), tf.variable_scope("dnn"):
        for number, name in enumerate(sorted(shapes)):
            tf.get_variable(name, initializer=numbers(number, *shapes[name]))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return tf.train.Saver().save(session, path)


def main(work):
    column = tf.feature_column
    kind = column.categorical_column_with_vocabulary_list("kind", ["a", "b", "c"])
    columns = [
        column.numeric_column("size"),
        column.embedding_column(kind, 2),
        column.indicator_column(kind),
    ]
    config = estimator.RunConfig(save_summary_steps=1, save_checkpoints_steps=6, log_step_count_steps=None)
    common = {"hidden_units": [4, 3], "feature_columns": columns, "config": config}
    made = {
        "classes": (
            estimator.DNNClassifier(
                n_classes=3,
                model_dir=work + "/classes",
                warm_start_from=weights(work + "/three", 3),
                **common,
            ),
            LABELS,
        ),
        "binary": (
            estimator.DNNClassifier(
                model_dir=work + "/binary",
                batch_norm=True,
                warm_start_from=estimator.WarmStartSettings(
                    weights(work + "/one", 1), ".*(kernel|bias|weights)"
                ),
                optimizer=summarised("rate", tf.train.GradientDescentOptimizer, 0.05),
                activation_fn=tf.nn.tanh,
                **common,
            ),
            (LABELS > 0).astype(np.int64),
        ),
        "numbers": (
            estimator.DNNRegressor(
                model_dir=work + "/numbers", optimizer="Adam", warm_start_from=work + "/one", **common
            ),
            numbers(6, 40),
        ),
    }
    result = {}
    for name, (canned, labels) in made.items():
        canned.train(lambda labels=labels: input_fn(labels), steps=8)
        once = lambda labels=labels: input_fn(labels, 1)  # noqa: E731
        result[name] = [canned.evaluate(once), list(canned.predict(once))[:4], job(canned, None)]
    specs = estimator.classifier_parse_example_spec(columns, "label", weight_column="w")
    result["spec"] = sorted(specs)
    return as_json(result)
