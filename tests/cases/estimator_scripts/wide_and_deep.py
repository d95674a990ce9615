"""Wide and deep: a DNNLinearCombinedClassifier and -Regressor over crossed, bucketized and embedded columns."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

_CSV_COLUMNS = ["age", "hours", "job", "town", "label"]
_CSV_DEFAULTS = [[0.0], [0.0], [""], [""], [""]]
JOBS = ["clerk", "cook", "pilot"]


def write_csv(path, seed, rows):
    rng = np.random.RandomState(seed)
    with open(path, "w") as f:
        for _ in range(rows):
            age, hours = rng.randint(18, 80), rng.randint(10, 60)
            job, town = JOBS[rng.randint(3)], "t%d" % rng.randint(30)
            rich = hours > 35 and job != "clerk" or age > 70
            f.write("%d,%d,%s,%s,%s\n" % (age, hours, job, town, ">50K" if rich else "<=50K"))


def build_model_columns():
    age = tf.feature_column.numeric_column("age", normalizer_fn=lambda x: (x - 50.0) / 20.0)
    hours = tf.feature_column.numeric_column("hours", normalizer_fn=lambda x: (x - 35.0) / 15.0)
    job = tf.feature_column.categorical_column_with_vocabulary_list("job", JOBS)
    town = tf.feature_column.categorical_column_with_hash_bucket("town", hash_bucket_size=20)
    age_buckets = tf.feature_column.bucketized_column(
        tf.feature_column.numeric_column("age"), boundaries=[25, 35, 45, 55, 65])
    crossed = [
        tf.feature_column.crossed_column(["job", "town"], hash_bucket_size=50),
        tf.feature_column.crossed_column([age_buckets, "job"], hash_bucket_size=50)]
    wide = [job, town, age_buckets] + crossed
    deep = [age, hours, tf.feature_column.indicator_column(job),
            tf.feature_column.embedding_column(town, dimension=4)]
    return wide, deep


def input_fn(path, target, num_epochs, batch_size):
    def parse_csv(line):
        columns = tf.decode_csv(line, record_defaults=_CSV_DEFAULTS)
        features = dict(zip(_CSV_COLUMNS, columns))
        label = features.pop("label")
        if target == "class":
            return features, tf.equal(label, ">50K")
        return features, features["hours"] / 10.0

    dataset = tf.data.TextLineDataset(path).map(parse_csv, num_parallel_calls=1)
    return dataset.repeat(num_epochs).batch(batch_size)


def main():
    work = sys.argv[1]
    train, test = os.path.join(work, "train.csv"), os.path.join(work, "test.csv")
    write_csv(train, 0, 120)
    write_csv(test, 1, 40)
    wide, deep = build_model_columns()
    config = tf.estimator.RunConfig(tf_random_seed=3, save_checkpoints_steps=30).replace(
        session_config=tf.ConfigProto(device_count={"GPU": 0}))
    classifier = tf.estimator.DNNLinearCombinedClassifier(
        model_dir=os.path.join(work, "classifier"), linear_feature_columns=wide, dnn_feature_columns=deep,
        dnn_hidden_units=[12, 6], linear_optimizer=tf.train.FtrlOptimizer(0.2, l1_regularization_strength=0.01),
        dnn_optimizer=tf.train.ProximalAdagradOptimizer(0.1), config=config)
    best = [0.0]
    for _ in range(3):
        classifier.train(input_fn=lambda: input_fn(train, "class", 8, 32))
        result = classifier.evaluate(input_fn=lambda: input_fn(test, "class", 1, 40))
        best.append(result["accuracy"])
    classes = [p["classes"][0].decode() for p in classifier.predict(lambda: input_fn(test, "class", 1, 40))]

    # The linear part alone begins with zeros, so that its numbers can be compared.
    regressor = tf.estimator.DNNLinearCombinedRegressor(
        os.path.join(work, "regressor"), wide, tf.train.FtrlOptimizer(0.5), config=config)
    regressor.train(lambda: input_fn(train, "hours", None, 30), max_steps=60)
    regression = regressor.evaluate(lambda: input_fn(test, "hours", 1, 40), name="test")

    serving = tf.estimator.export.build_parsing_serving_input_receiver_fn(
        tf.feature_column.make_parse_example_spec(wide + deep))
    exported = classifier.export_savedmodel(os.path.join(work, "export"), serving, strip_default_attrs=True)

    print(json.dumps({
        "step": int(result["global_step"]), "loss": float(regression["loss"]),
        "average_loss": float(regression["average_loss"]), "label_mean": float(regression["label/mean"]),
        "prediction_mean": float(regression["prediction/mean"]), "learned": bool(max(best) > 0.75),
        "metrics": sorted(result), "regression_metrics": sorted(regression), "classes": sorted(set(classes)),
        "variables": classifier.get_variable_names(), "linear_variables": regressor.get_variable_names(),
        "exported": sorted(os.listdir(exported.decode())), "evaluations": sorted(
            name for name in os.listdir(regressor.model_dir) if name.startswith("eval"))}))


if __name__ == "__main__":
    main()
