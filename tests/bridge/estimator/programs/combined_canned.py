"""DNNLinearCombinedClassifier and -Regressor, warm-started from weights that are known: wide, deep and both."""

import numpy as np

from tests.bridge.estimator.programs import dnn_canned
from tests.bridge.estimator.programs.linear_canned import LABELS, input_fn, summarised
from tests.bridge.estimator.programs.strategies import SESSION, two
from tests.bridge.estimator.world import as_json, estimator, job, numbers, tf


class Losses(tf.train.SessionRunHook):
    """Reads the losses of each step by the names that programs give to logging hooks."""

    def __init__(self):
        self.read = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(["head/weighted_loss/Sum:0", "head/truediv:0"])

    def after_run(self, run_context, run_values):
        self.read.append(run_values.results)


def exported(canned, columns, work):
    """The output of a SavedModel for one serialized example."""
    spec = tf.feature_column.make_parse_example_spec(columns)
    receiver = estimator.export.build_parsing_serving_input_receiver_fn(spec)
    path = canned.export_saved_model(work + "/export", receiver)
    feature = tf.train.Feature
    example = tf.train.Example(
        features=tf.train.Features(
            feature={
                "size": feature(float_list=tf.train.FloatList(value=[0.25])),
                "kind": feature(bytes_list=tf.train.BytesList(value=[b"b"])),
            }
        )
    ).SerializeToString()
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.loader.load(session, ["serve"], path.decode())
        signature = model.signature_def["predict"]
        feeds = {tensor.name: [example] for tensor in signature.inputs.values()}
        outputs = {name: tensor.name for name, tensor in sorted(signature.outputs.items())}
        return [sorted(model.signature_def), session.run(outputs, feeds)]


def refused(columns, work):
    """The kind of error of each model that cannot be."""

    def kind(optimizer="Ftrl", **arguments):
        try:
            canned = estimator.DNNLinearCombinedRegressor(work, linear_optimizer=optimizer, **arguments)
            canned.train(lambda: input_fn(numbers(6, 40)), steps=1)
        except Exception as error:  # noqa: BLE001 - the kinds are compared
            return [one.__name__ for one in (ValueError, TypeError) if isinstance(error, one)]
        return "nothing"

    def waiting():
        return tf.train.SyncReplicasOptimizer(tf.train.FtrlOptimizer(0.1), 1)

    return {
        "no columns": kind(linear_feature_columns=[], dnn_hidden_units=[4]),
        "no layers": kind(dnn_feature_columns=columns),
        "waits": kind(waiting, linear_feature_columns=columns),
        "no optimizer": kind(3, linear_feature_columns=columns),
        "no reduction": kind(linear_feature_columns=columns, loss_reduction="most"),
    }


def in_replicas(arguments, work):
    """Both parts in two replicas, where TensorFlow 1.15 has no slots: the steps, and the names of the variables."""
    config = estimator.RunConfig(work + "/replicas", train_distribute=two(), session_config=SESSION)
    canned = estimator.DNNLinearCombinedRegressor(
        config=config, linear_optimizer="SGD", dnn_optimizer="SGD", dnn_dropout=0.5, **arguments
    )
    canned.train(lambda: input_fn(numbers(6, 40)), steps=4)
    return [canned.get_variable_value("global_step"), sorted(canned.get_variable_names())]


def main(work):
    column = tf.feature_column
    size = column.numeric_column("size")
    kind = column.categorical_column_with_vocabulary_list("kind", ["a", "b", "c"])
    part = column.bucketized_column(size, [-0.5, 0.0, 0.5])
    wide = [kind, part, column.crossed_column([part, "kind"], 20)]
    deep = [size, column.embedding_column(kind, 2), column.indicator_column(kind)]
    config = estimator.RunConfig(save_summary_steps=1, save_checkpoints_steps=6, log_step_count_steps=None)
    both = {"linear_feature_columns": wide, "dnn_feature_columns": deep, "dnn_hidden_units": [4, 3]}
    one = dnn_canned.weights(work + "/one", 1)
    deep_only = estimator.WarmStartSettings(one, "dnn/.*(kernel|bias|weights)")
    three = estimator.WarmStartSettings(dnn_canned.weights(work + "/three", 3), deep_only.vars_to_warm_start)
    classifier, regressor = estimator.DNNLinearCombinedClassifier, estimator.DNNLinearCombinedRegressor
    binary = (LABELS > 0).astype(np.int64)
    made = {
        # As the scripts have it: positions and defaults are v1's.
        "binary": (
            classifier(
                work + "/binary",
                wide,
                "Ftrl",
                deep,
                "Adagrad",
                [4, 3],
                config=config,
                warm_start_from=deep_only,
            ),
            binary,
        ),
        "again": (
            classifier(
                work + "/again", config=config, warm_start_from=work + "/binary", dnn_dropout=0.0, **both
            ),
            binary,
        ),
        "classes": (
            classifier(
                work + "/classes",
                n_classes=3,
                linear_optimizer=tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
                dnn_optimizer=summarised("deep_rate", tf.train.AdamOptimizer, 0.01),
                linear_sparse_combiner="mean",
                config=config,
                warm_start_from=three,
                **both,
            ),
            LABELS,
        ),
        "numbers": (
            regressor(
                work + "/numbers",
                linear_optimizer="Adam",
                dnn_optimizer="Adam",
                dnn_activation_fn=tf.nn.tanh,
                weight_column="weight",
                batch_norm=True,
                config=config,
                warm_start_from=deep_only,
                **both,
            ),
            numbers(6, 40),
        ),
        "deep": (
            regressor(
                work + "/deep",
                dnn_feature_columns=deep,
                dnn_hidden_units=(4, 3),
                loss_reduction=tf.losses.Reduction.MEAN,
                config=config,
                warm_start_from=deep_only,
            ),
            numbers(6, 40),
        ),
        "wide": (
            classifier(
                work + "/wide",
                wide,
                label_vocabulary=["no", "yes"],
                weight_column="weight",
                config=config,
            ),
            np.array(["no", "yes"])[binary],
        ),
    }
    result = {}
    for name, (canned, labels) in made.items():
        losses = Losses()
        canned.train(
            lambda labels=labels: input_fn(labels),
            [losses] if name in ("classes", "numbers") else [],
            steps=8,
        )
        once = lambda labels=labels: input_fn(labels, 1)  # noqa: E731
        result[name] = [canned.evaluate(once), list(canned.predict(once))[:4], job(canned, None), losses.read]
    result["refused"] = refused([size], work + "/refused")
    result["replicas"] = in_replicas(both, work)
    result["export"] = exported(made["binary"][0], wide + deep, work)
    return as_json(result)
