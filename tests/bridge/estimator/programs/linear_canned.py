"""LinearClassifier of two and three classes, and LinearRegressor: all start from zeros."""

import numpy as np

from tests.bridge.estimator.world import as_json, estimator, job, numbers, tf

RNG = np.random.RandomState(7)
FEATURES = {
    "size": numbers(1, 40)[:, np.newaxis],
    "pair": numbers(2, 40, 2),
    "kind": np.array(["a", "b", "c"])[RNG.randint(0, 3, 40)],
    "weight": np.abs(numbers(3, 40)),
}
LABELS = RNG.randint(0, 3, 40)


def input_fn(labels, repeat=None):
    return tf.data.Dataset.from_tensor_slices((FEATURES, labels)).repeat(repeat).batch(8)


def summarised(name, kind, rate):
    """A function that makes an optimizer, and a summary whose tag tells the scope of the call."""

    def make():
        tf.summary.scalar(name, rate)
        return kind(rate)

    return make


def main(work):
    column = tf.feature_column
    columns = [
        column.numeric_column("size"),
        column.numeric_column("pair", shape=(2,), normalizer_fn=lambda x: 2 * x),
        column.categorical_column_with_vocabulary_list("kind", ["a", "b", "c"]),
        column.bucketized_column(column.numeric_column("size"), [-0.5, 0.0, 0.5]),
    ]
    config = estimator.RunConfig(save_summary_steps=1, save_checkpoints_steps=10, log_step_count_steps=None)
    names = np.array(["no", "yes"])[(LABELS > 0).astype(int)]
    made = {
        "binary": (
            estimator.LinearClassifier(
                columns,
                work + "/binary",
                label_vocabulary=["no", "yes"],
                weight_column="weight",
                config=config,
            ),
            names,
        ),
        "classes": (
            estimator.LinearClassifier(columns, work + "/classes", n_classes=3, config=config),
            LABELS,
        ),
        "numbers": (
            estimator.LinearRegressor(
                columns,
                work + "/numbers",
                label_dimension=2,
                optimizer="SGD",
                config=config,
                weight_column="weight",
            ),
            numbers(5, 40, 2),
        ),
        "mean": (
            estimator.LinearRegressor(
                columns[:2],
                work + "/mean",
                optimizer=summarised("rate", tf.train.AdagradOptimizer, 0.1),
                config=config,
                loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
            ),
            numbers(6, 40),
        ),
    }
    result = {}
    for name, (canned, labels) in made.items():
        canned.train(lambda labels=labels: input_fn(labels), steps=12)
        once = lambda labels=labels: input_fn(labels, 1)  # noqa: E731
        result[name] = [canned.evaluate(once), list(canned.predict(once))[:4], job(canned, None)]
    return as_json(result)
