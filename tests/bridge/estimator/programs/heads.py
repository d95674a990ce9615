"""Heads of tf.estimator's classes and of contrib's functions: in model_fns, in canned estimators, several at once."""

import numpy as np

from tests.bridge.estimator.world import IS_V1, as_json, estimator, events, numbers, tf, variables

if IS_V1:
    from tensorflow.python.estimator.canned import head as private
    from tensorflow.python.estimator.canned import optimizers

    contrib = tf.contrib.estimator
    canned_binary_head = private._binary_logistic_head_with_sigmoid_cross_entropy_loss
    canned_classification_head = private._binary_logistic_or_multi_class_head
    canned_multi_class_head = private._multi_class_head_with_softmax_cross_entropy_loss
    canned_regression_head = private._regression_head
    canned_optimizer = optimizers.get_optimizer_instance
else:
    from bridge.estimator.heads import (
        canned_binary_head,
        canned_classification_head,
        canned_multi_class_head,
        canned_optimizer,
        canned_regression_head,
    )

    contrib = estimator.heads
SUM = tf.losses.Reduction.SUM

X = numbers(7, 24, 3)
WEIGHTS = np.abs(numbers(8, 24, 1))
BINARY = (X[:, 0] > X[:, 1]).astype(np.int64)
CLASSES = (np.arange(24) * 7 % 3).astype(np.int64)
MANY = (X > 0).astype(np.int64)
NUMBERS = X.dot(np.array([[1.0, 0.5], [-1.0, 2.0], [0.5, 0.0]], np.float32)) + 0.5
COUNTS = np.abs(np.round(3 * X[:, :1])).astype(np.float32)
NAMES = ["no", "yes"]


def rows(labels, repeat=1):
    def input_fn():
        features = {"x": X, "weight": WEIGHTS}
        return tf.data.Dataset.from_tensor_slices((features, labels)).repeat(repeat).batch(6)

    return input_fn


def sparse(labels):
    """Labels as sparse ids, or names."""

    def input_fn():
        data = rows(labels, 1)()
        indices = tf.constant([[0, 0], [1, 0], [1, 1], [4, 0], [5, 0]], tf.int64)
        values = (
            tf.constant(["a", "b", "c", "a", "c"])
            if labels is NAMED
            else tf.constant([0, 1, 2, 0, 2], tf.int64)
        )
        return data.map(lambda features, _: (features, tf.SparseTensor(indices, values, [6, 3])))

    return input_fn


NAMED = MANY + 0  # The same numbers, but another object: their sparse labels are names.


def halves(labels, logits, features):
    """A loss of one's own."""
    return tf.abs(labels - tf.sigmoid(logits)) + 0.1 * tf.abs(features["x"][:, :1])


def model_fn(features, labels, mode, params):
    head = params["head"]
    shape = [3, head.logits_dimension]
    start = np.linspace(-0.5, 0.5, shape[0] * shape[1]).reshape(shape).astype(np.float32)
    w = tf.get_variable("w", initializer=tf.constant(start))
    decay = [0.1 * tf.nn.l2_loss(w)] if params.get("decay") else None
    more = {"regularization_losses": decay} if decay else {}
    step = tf.train.get_global_step()
    x = tf.feature_column.input_layer(features, [tf.feature_column.numeric_column("x", [3])])
    if params.get("adam"):
        more["train_op_fn"] = lambda loss: tf.train.AdamOptimizer(0.1).minimize(loss, step)
    else:
        more["train_op_fn"] = lambda loss: canned_optimizer("SGD", 0.1).minimize(loss, step)
    return head.create_estimator_spec(
        features=features, mode=mode, logits=tf.matmul(x, w), labels=labels, **more
    )


def heads():
    """The heads by name, with their labels."""
    both = [
        ("binary", contrib.binary_classification_head, estimator.BinaryClassHead, BINARY),
        (
            "logistic",
            contrib.logistic_regression_head,
            estimator.LogisticRegressionHead,
            BINARY.astype(np.float32),
        ),
    ]
    made = {}
    for name, function, kind, labels in both:
        made["contrib " + name] = (function(), labels)
        made[name] = (kind(), labels)
    made["contrib binary, all"] = (
        contrib.binary_classification_head("weight", [0.25, 0.5], NAMES, SUM, name="h"),
        np.array(NAMES)[BINARY],
    )
    made["binary, all"] = (
        estimator.BinaryClassHead("weight", [0.25, 0.5], NAMES, "sum", name="h"),
        np.array(NAMES)[BINARY],
    )
    made["contrib loss of one's own"] = (contrib.binary_classification_head(loss_fn=halves), BINARY)
    made["loss of one's own"] = (estimator.BinaryClassHead("weight", loss_fn=halves), BINARY)
    made["contrib classes"] = (contrib.multi_class_head(3, weight_column="weight", name="c"), CLASSES)
    made["classes"] = (estimator.MultiClassHead(3, weight_column="weight", loss_reduction="sum"), CLASSES)
    made["contrib labels"] = (
        contrib.multi_label_head(3, "weight", [0.4], classes_for_class_based_metrics=[0, 2], name="m"),
        MANY,
    )
    made["labels"] = (
        estimator.MultiLabelHead(3, "weight", [0.4], classes_for_class_based_metrics=[0, 2]),
        MANY,
    )
    made["contrib numbers"] = (contrib.regression_head("weight", 2, SUM), NUMBERS)
    made["numbers"] = (estimator.RegressionHead(2, "weight", name="r"), NUMBERS)
    made["contrib counts"] = (contrib.poisson_regression_head(), COUNTS)
    made["counts"] = (estimator.PoissonRegressionHead(compute_full_loss=False), COUNTS)
    made["canned binary"] = (canned_binary_head(name="b"), BINARY)
    made["canned classification"] = (canned_classification_head(2, "weight", None, SUM), BINARY)
    made["canned classes"] = (canned_classification_head(3, None, None, SUM), CLASSES)
    made["canned classes by name"] = (canned_multi_class_head(3, "weight", name="c"), CLASSES)
    made["canned numbers"] = (canned_regression_head(label_dimension=2), NUMBERS)
    by_name = {"one": BINARY, "two": CLASSES}
    made["contrib several"] = (
        contrib.multi_head(
            [contrib.binary_classification_head(name="one"), contrib.multi_class_head(3, name="two")],
            [1.0, 0.5],
        ),
        by_name,
    )
    made["several"] = (
        estimator.MultiHead([estimator.BinaryClassHead(name="one"), estimator.MultiClassHead(3, name="two")]),
        by_name,
    )
    return made


def predicted(job, labels):
    """The first two predictions, with their names as text."""
    return [{str(name): value for name, value in row.items()} for row in list(job.predict(rows(labels)))[:2]]


def served(job, work):
    """What is exported: the signatures, and what the default one and `predict` return."""
    spec = {"x": tf.FixedLenFeature([3], tf.float32)}
    receiver_fn = estimator.export.build_parsing_serving_input_receiver_fn(spec)
    path = job.export_saved_model(work + "/export", receiver_fn).decode()
    value = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, -0.25, 1.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"x": value})).SerializeToString()
    found = {}
    with tf.Session(graph=tf.Graph()) as session:
        meta = tf.saved_model.loader.load(session, ["serve"], path)
        for name, signature in sorted(meta.signature_def.items()):
            (fed,) = signature.inputs.values()
            outputs = {key: tensor.name for key, tensor in signature.outputs.items()}
            found[name] = [signature.method_name, session.run(outputs, {fed.name: [example]})]
    return found


def in_model_fns(work):
    made = {}
    for number, (name, (head, labels)) in enumerate(sorted(heads().items())):
        folder = f"{work}/model_fn{number}"
        params = {
            "head": head,
            "decay": name in ("binary, all", "contrib classes"),
            "adam": "numbers" in name,
        }
        config = estimator.RunConfig(save_summary_steps=2, log_step_count_steps=None)
        job = estimator.Estimator(model_fn, folder, config, params)
        job.train(rows(labels, None), steps=4)
        made[name] = {
            "events": events(folder),
            "variables": variables(job.latest_checkpoint()),
            "evaluation": job.evaluate(rows(labels)),
            "predictions": predicted(job, labels),
        }
        if name in ("binary, all", "contrib labels", "numbers", "several", "contrib several"):
            made[name]["served"] = served(job, folder)
    return made


def of_sparse_labels(work):
    heads_ = {
        "ids": (contrib.multi_label_head(3), MANY),
        "names": (contrib.multi_label_head(3, label_vocabulary=["a", "b", "c"]), NAMED),
        "names again": (estimator.MultiLabelHead(3, label_vocabulary=["a", "b", "c"]), NAMED),
    }
    return {
        name: estimator.Estimator(model_fn, work + "/sparse " + name, params={"head": head}).evaluate(
            sparse(labels)
        )
        for name, (head, labels) in sorted(heads_.items())
    }


def parts(head, labels):
    """What a head does when it is asked for the parts by itself."""
    with tf.Graph().as_default(), tf.Session() as session:
        logits = tf.constant(X[:4, : head.logits_dimension])
        loss = head.loss(tf.constant(labels[:4]), logits, features={"x": tf.constant(X[:4])})
        keys = ["logits"] if head.logits_dimension == 1 else ["logits", "probabilities"]
        return session.run([loss, head.predictions(logits, keys)])


class Doubled(estimator.Head):
    """A head of one's own."""

    name, logits_dimension, loss_reduction = None, 1, SUM

    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
        return tf.reduce_sum(tf.square(2.0 * logits - labels))

    def predictions(self, logits, keys=None):
        return {"doubled": 2.0 * logits}

    def metrics(self, regularization_losses=None):
        return {}

    def update_metrics(self, *args, **kwargs):
        return {}

    def create_estimator_spec(self, features, mode, logits, labels=None, train_op_fn=None, **others):
        predictions = self.predictions(logits)
        if mode == estimator.ModeKeys.PREDICT:
            return estimator.EstimatorSpec(mode, predictions)
        loss = self.loss(labels, logits)
        train_op = train_op_fn(loss) if mode == estimator.ModeKeys.TRAIN else None
        return estimator.EstimatorSpec(mode, predictions, loss, train_op)


def in_canned(work):
    """Estimators that take a head, where their first weights are no random numbers."""
    x = tf.feature_column.numeric_column("x", [3])
    config = estimator.RunConfig(save_summary_steps=2, log_step_count_steps=None)
    rate = tf.train.GradientDescentOptimizer
    two = [
        contrib.binary_classification_head(name="one"),
        contrib.regression_head(label_dimension=2, name="two"),
    ]
    jobs = {
        "linear": (
            estimator.LinearEstimator(contrib.multi_label_head(3), [x], work + "/linear", config=config),
            MANY,
        ),
        "linear of two": (
            estimator.LinearEstimator(contrib.multi_head(two), [x], work + "/two", lambda: rate(0.1), config),
            {"one": BINARY, "two": NUMBERS},
        ),
        "linear of one's own": (
            estimator.DNNLinearCombinedEstimator(Doubled(), work + "/own", [x], rate(0.01), config=config),
            COUNTS,
        ),
        "combined": (
            estimator.DNNLinearCombinedEstimator(
                estimator.BinaryClassHead(), work + "/combined", [x], "SGD", config=config
            ),
            BINARY,
        ),
        "baseline": (
            estimator.BaselineEstimator(estimator.MultiClassHead(3), work + "/baseline", config=config),
            CLASSES,
        ),
        "baseline classifier": (
            estimator.BaselineClassifier(work + "/base2", label_vocabulary=NAMES, config=config),
            np.array(NAMES)[BINARY],
        ),
        "baseline classes": (estimator.BaselineClassifier(work + "/base3", 3, config=config), CLASSES),
        "baseline regressor": (
            estimator.BaselineRegressor(work + "/base4", 2, optimizer=lambda: rate(0.02), config=config),
            NUMBERS,
        ),
    }
    made = {}
    for name, (job, labels) in sorted(jobs.items()):
        job.train(rows(labels, None), steps=4)
        found = {
            tag: written
            for tag, written in events(job.model_dir).items()
            if not tag.startswith("linear/linear_model")
        }
        made[name] = {
            "events": found,
            "variables": variables(job.latest_checkpoint()),
            "evaluation": job.evaluate(rows(labels)),
            "predictions": predicted(job, labels),
        }
    deep = estimator.DNNEstimator(
        contrib.multi_class_head(3), [4], [x], work + "/deep", config=config, batch_norm=True
    )
    deep.train(rows(CLASSES, None), steps=4)
    made["deep"] = [
        sorted(deep.get_variable_names()),
        sorted(deep.evaluate(rows(CLASSES))),
        sorted(events(deep.model_dir)),
        float(abs(deep.get_variable_value("dnn/hiddenlayer_0/batchnorm_0/moving_mean")).sum()) > 0,
    ]
    return made


def logit_functions(work):
    """Logits alone, in a model_fn of one's own."""
    x = tf.feature_column.numeric_column("x", [3])
    kind = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("weight"), [0.5])

    def of_both(features, labels, mode, config):
        linear = estimator.experimental.linear_logit_fn_builder(1, [x, kind])
        deep = estimator.experimental.dnn_logit_fn_builder(
            1, [3], [x], tf.nn.relu, dropout=None, input_layer_partitioner=None, batch_norm=False
        )
        call = estimator.experimental.call_logit_fn
        logits = call(linear, features, mode, None, config) + 0.0 * call(deep, features, mode, None, config)
        return contrib.regression_head().create_estimator_spec(
            features, mode, logits, labels, optimizer=tf.train.GradientDescentOptimizer(0.1)
        )

    job = estimator.Estimator(of_both, work + "/logits", estimator.RunConfig(log_step_count_steps=None))
    job.train(rows(COUNTS, None), steps=3)
    return [
        job.evaluate(rows(COUNTS)),
        sorted(job.get_variable_names()),
        job.get_variable_value("linear_model/x/weights"),
    ]


def refused():
    """The kinds of errors."""
    head = estimator.BinaryClassHead()

    def kind(call):
        try:
            with tf.Graph().as_default():
                call()
        except Exception as error:  # noqa: BLE001 - the kinds are compared
            return [one.__name__ for one in (ValueError, TypeError) if isinstance(error, one)]
        return "nothing"

    def spec(**more):
        logits = tf.constant([[1.0], [2.0]])
        return head.create_estimator_spec(
            {"x": logits}, "train", **dict({"logits": logits, "labels": [0, 1]}, **more)
        )

    step = lambda loss: tf.no_op()  # noqa: E731
    two = np.array([[1.0, 2.0]], np.float32)
    named = estimator.BinaryClassHead(name="a")
    return {
        "no step": kind(spec),
        "two steps": kind(lambda: spec(train_op_fn=step, optimizer=object())),
        "no optimizer": kind(lambda: spec(optimizer=object(), trainable_variables=[])),
        "no labels": kind(lambda: spec(labels=None, train_op_fn=step)),
        "wide labels": kind(lambda: spec(labels=[[0, 1], [1, 0]], train_op_fn=step)),
        "wide logits": kind(lambda: spec(logits=two, train_op_fn=step)),
        "updates": kind(lambda: spec(train_op_fn=step, update_ops=tf.no_op())),
        "prediction": kind(lambda: head.predictions(tf.constant([[1.0]]), ["nothing"])),
        "classes": kind(lambda: estimator.MultiClassHead(2)),
        "labels": kind(lambda: estimator.MultiLabelHead(1)),
        "vocabulary": kind(lambda: estimator.MultiClassHead(3, label_vocabulary=["a"])),
        "threshold": kind(lambda: estimator.BinaryClassHead(thresholds=[1.0])),
        "loss_fn": kind(lambda: estimator.BinaryClassHead(loss_fn=lambda labels, logit: logit)),
        "reduction": kind(lambda: estimator.BinaryClassHead(loss_reduction="none")),
        "dimension": kind(lambda: estimator.RegressionHead(0)),
        "class": kind(lambda: estimator.MultiLabelHead(3, classes_for_class_based_metrics=[3])),
        "class's name": kind(lambda: estimator.MultiLabelHead(3, classes_for_class_based_metrics=["a"])),
        "no rate": kind(lambda: canned_optimizer("SGD")),
        "no heads": kind(lambda: estimator.MultiHead([])),
        "no name": kind(lambda: estimator.MultiHead([head])),
        "weights": kind(lambda: estimator.MultiHead([named], [1.0, 2.0])),
        "split": kind(lambda: estimator.MultiHead([named]).predictions(two)),
        "missing logits": kind(lambda: estimator.MultiHead([named]).predictions({"b": two})),
        "missing labels": kind(lambda: estimator.MultiHead([named]).loss({"b": two}, tf.constant([[1.0]]))),
        "labels of several": kind(lambda: estimator.MultiHead([named]).loss(two, tf.constant([[1.0]]))),
        "name of several": estimator.MultiHead([named, estimator.RegressionHead(2, name="b")]).name,
        "size of several": estimator.MultiHead(
            [named, estimator.RegressionHead(2, name="b")]
        ).logits_dimension,
    }


def main(work):
    return as_json(
        {
            "in model_fns": in_model_fns(work),
            "sparse": of_sparse_labels(work),
            "parts": [
                parts(estimator.BinaryClassHead(), BINARY),
                parts(estimator.MultiClassHead(3), CLASSES),
            ],
            "in canned": in_canned(work),
            "logit functions": logit_functions(work),
            "refused": refused(),
        }
    )
