"""Canned estimators over feature columns: a DNNClassifier and a LinearRegressor."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(44)
N = 90
raw = {
    "width": rng.rand(N).astype(np.float32) * 4,
    "height": rng.rand(N).astype(np.float32) * 2,
    "kind": np.array(["a", "b", "c"])[rng.randint(0, 3, N)],
}
labels = ((raw["width"] > 2).astype(int) + (raw["kind"] == "a")).astype(np.int32)
areas = (raw["width"] * 2 + raw["height"]).astype(np.float32)


def input_fn(target, training):
    dataset = tf.data.Dataset.from_tensor_slices((dict(raw), target))
    if training:
        dataset = dataset.repeat()
    return dataset.batch(30)


def main():
    width = tf.feature_column.numeric_column("width")
    height = tf.feature_column.numeric_column("height", normalizer_fn=lambda x: x - 1.0)
    kind = tf.feature_column.indicator_column(
        tf.feature_column.categorical_column_with_vocabulary_list("kind", ["a", "b", "c"]))
    classifier = tf.estimator.DNNClassifier(
        feature_columns=[width, height, kind], hidden_units=[10, 8], n_classes=3,
        optimizer=tf.train.AdagradOptimizer(0.1), activation_fn=tf.nn.relu,
        config=tf.estimator.RunConfig(tf_random_seed=7), model_dir=os.path.join(sys.argv[1], "dnn"))
    classifier.train(lambda: input_fn(labels, True), steps=100)
    result = classifier.evaluate(lambda: input_fn(labels, False))

    regressor = tf.estimator.LinearRegressor(
        [width, height], optimizer=tf.train.FtrlOptimizer(0.5), model_dir=os.path.join(sys.argv[1], "linear"))
    regressor.train(lambda: input_fn(areas, True), steps=60)
    regression = regressor.evaluate(lambda: input_fn(areas, False))
    predicted = [float(p["predictions"][0]) for p in regressor.predict(lambda: input_fn(areas, False))][:3]

    # The network's first weights are random, and so only bounds can be compared for it.
    print(json.dumps({
        "step": int(result["global_step"]), "loss": float(regression["loss"]), "predicted": predicted,
        "average_loss": float(regression["average_loss"]), "label_mean": float(regression["label/mean"]),
        "learned": bool(result["accuracy"] > 0.6 and result["average_loss"] < 0.9),
        "metrics": sorted(result), "regression_metrics": sorted(regression),
        "variables": [n for n in classifier.get_variable_names() if "Adagrad" not in n],
        "linear_variables": [n for n in regressor.get_variable_names() if "Ftrl" not in n]}))


if __name__ == "__main__":
    main()
