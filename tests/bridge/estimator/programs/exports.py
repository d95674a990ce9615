"""What is exported: vocabularies as assets, several signatures, text, modes; the files that it was made of are gone."""

import os
import shutil

import tensorflow  # noqa: ICN001 - `tf` is v1's

from tests.bridge.estimator.world import IS_V1, as_json, estimator, tf

WORDS = ["a", "c", "b", "?", "a", "b"]
SIZES = [0.5, 1.0, -0.5, 0.0, 1.5, -1.0]


def input_fn():
    features = {"word": tf.constant(WORDS), "kind": tf.constant(WORDS), "size": tf.constant(SIZES)}
    return tf.data.Dataset.from_tensor_slices((features, SIZES)).repeat().batch(3)


def columns(work):
    """Two columns over files of the same name, in other folders."""
    column = tf.feature_column
    of_file = column.categorical_column_with_vocabulary_file
    return [
        of_file("word", work + "/one/words.txt", 3, num_oov_buckets=1),
        of_file("kind", work + "/two/words.txt", 2),
        column.numeric_column("size"),
    ]


def model_fn(features, labels, mode, params):
    table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(
            params["work"] + "/three.txt", tf.string, 0, tf.int64, 1, delimiter="\t"
        ),
        -1,
    )
    linear = tf.feature_column.linear_model(features, params["columns"])
    scale = tf.get_variable("scale", [], initializer=tf.ones_initializer())
    y = tf.squeeze(linear, -1) * scale
    predictions = {"y": y, "id": table.lookup(features["word"])}
    export = estimator.export
    if mode == estimator.ModeKeys.PREDICT:
        outputs = {
            "serving_default": export.PredictOutput(predictions),
            "ids": export.PredictOutput(predictions["id"]),
            "regression": export.RegressionOutput(y),
            "classes": export.ClassificationOutput(classes=tf.as_string(tf.stack([y, -y], 1))),
        }
        return estimator.EstimatorSpec(mode, predictions, export_outputs=outputs)
    loss = tf.reduce_mean(tf.square(y - tf.cast(labels, tf.float32)))
    step = tf.train.get_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    metrics = {"mae": tf.metrics.mean_absolute_error(tf.cast(labels, tf.float32), y)}
    return estimator.EstimatorSpec(mode, predictions, loss, train_op, metrics)


def write(work):
    for folder, lines in (("one", "a\nb\nc\n"), ("two", "b\na\n")):
        os.makedirs(os.path.join(work, folder))
        with open(os.path.join(work, folder, "words.txt"), "w") as file:
            file.write(lines)
    with open(work + "/three.txt", "w") as file:
        file.write("a\t10\nb\t20\n")


def placeholders():
    shape = [None]
    return {
        "word": tf.placeholder(tf.string, shape, name="word"),
        "kind": tf.placeholder(tf.string, shape, name="kind"),
        "size": tf.placeholder_with_default(tf.constant([1.0]), shape, name="size"),
    }


def raw():
    inputs = placeholders()
    return estimator.export.ServingInputReceiver(inputs, inputs)


def parsed():
    """Serialized examples; the parsed features can be fed too."""
    examples = tf.placeholder(tf.string, [None], name="examples")
    spec = {name: tf.FixedLenFeature([], tensor.dtype) for name, tensor in placeholders().items()}
    features = tf.parse_example(examples, spec)
    return estimator.export.ServingInputReceiver(features, {"examples": examples}, {"raw": features})


def supervised():
    return estimator.experimental.build_raw_supervised_input_receiver_fn(
        placeholders(), tf.placeholder(tf.float32, [None], name="label")
    )


def tree(path):
    found = []
    for folder, _, names in os.walk(path):
        found += [os.path.join(os.path.relpath(folder, path), name) for name in names]
    return sorted(name.split("-of-")[0].replace("data-00001", "data-00000") for name in found)


def signatures(path, tags=("serve",)):
    with tf.Session(graph=tf.Graph()) as session:
        meta = tf.saved_model.loader.load(session, list(tags), path)
        return {
            name: [signature.method_name, sorted(signature.inputs), sorted(signature.outputs)]
            for name, signature in meta.signature_def.items()
        }


def served(path, key="serving_default"):
    feeds = {"word": ["a", "b", "?"], "kind": ["b", "a", "c"], "size": [1.0, 2.0, 3.0]}
    with tf.Session(graph=tf.Graph()) as session:
        meta = tf.saved_model.loader.load(session, ["serve"], path)
        signature = meta.signature_def[key]
        values = session.run(
            {name: info.name for name, info in signature.outputs.items()},
            {signature.inputs[name].name: value for name, value in feeds.items()},
        )
    if not IS_V1 and tensorflow.executing_eagerly():
        function = tensorflow.saved_model.load(path).signatures[key]
        again = function(**{name: tensorflow.constant(value) for name, value in feeds.items()})
        for name, value in values.items():
            assert as_json(again[name].numpy()) == as_json(value)
    return values


def main(work):
    write(work)
    job = estimator.Estimator(
        model_fn,
        work + "/job",
        estimator.RunConfig(log_step_count_steps=None),
        {"work": work, "columns": columns(work)},
    )
    job.train(input_fn, steps=4)
    extra = {"notes/a.txt": work + "/three.txt"}
    text = job.export_saved_model(work + "/text", raw, extra, as_text=True).decode()
    binary = job.export_savedmodel(work + "/binary", raw, strip_default_attrs=True).decode()
    again = job.export_savedmodel(work + "/again", raw, None, False, job.latest_checkpoint(), False).decode()
    serialized = job.export_saved_model(work + "/serialized", parsed).decode()
    with tf.Graph().as_default():
        of_training = supervised()
    made = {}
    for mode, tag in ((estimator.ModeKeys.EVAL, "eval"), (estimator.ModeKeys.TRAIN, "train")):
        path = job.export_saved_model(work + "/" + tag, of_training, experimental_mode=mode).decode()
        made[tag] = [tree(path), signatures(path, [tag])]
    for name in ("one", "two"):
        shutil.rmtree(os.path.join(work, name))
    os.remove(work + "/three.txt")
    for name, path in (("text", text), ("binary", binary), ("again", again)):
        made[name] = [tree(path), served(path)]
    made["ids"] = served(text, "ids")
    made["parsed"] = [signatures(serialized), served(serialized, "raw:ids")]
    made["signatures"] = signatures(binary)
    return as_json(made)
