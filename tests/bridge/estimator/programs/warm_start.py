"""Warm starts by regular expression, by list, by other names, with a changed vocabulary, and from a SavedModel."""

import numpy as np

from tests.bridge.estimator.world import data, estimator, linear, regression, tf, variables


def other_names(features, labels, mode, params):
    with tf.variable_scope("new"):
        return regression(features, labels, mode, params)


def embedded(features, labels, mode, params):
    table = tf.get_variable(
        "table", [params["size"], 2], initializer=tf.constant_initializer(np.arange(params["size"] * 2) + 1.0)
    )
    loss = tf.reduce_sum(table * 0.0) + tf.reduce_mean(labels)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return estimator.EstimatorSpec(mode, None, loss, train_op)


def vocabulary(path, words):
    with open(path, "w") as file:
        file.write("\n".join(words) + "\n")
    return path


def main(work):
    first = linear(work + "/first", params={"optimizer": lambda rate: tf.train.MomentumOptimizer(rate, 0.9)})
    first.train(data, steps=6)
    settings = estimator.WarmStartSettings
    made = {}

    def start(name, warm, model_fn=regression, params=None):
        job = linear(work + "/" + name, model_fn, warm, params or {"rate": 0.0}).train(data, steps=1)
        made[name] = variables(job.latest_checkpoint())
        job.train(data, steps=1)  # From its own checkpoint.

    start("path", work + "/first")
    start("regex", settings(work + "/first", "b"))
    start("all", settings(work + "/first", [".*"]))
    start("renamed", settings(work + "/first", ".*", None, {"new/w": "w", "new/b": "b"}), other_names)
    words = vocabulary(work + "/old.txt", ["red", "green", "blue"])
    old = linear(work + "/old", embedded, params={"size": 3}).train(data, steps=1)
    info = estimator.VocabInfo(
        new_vocab=vocabulary(work + "/new.txt", ["blue", "black", "red", "white"]),
        new_vocab_size=4,
        num_oov_buckets=0,
        old_vocab=words,
        backup_initializer=tf.ones_initializer(),
    )
    start("vocabulary", settings(old.model_dir, None, {"table": info}), embedded, {"size": 4})

    def receiver_fn():
        x = tf.placeholder(tf.float32, [None, 3])
        return estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    start("saved_model", first.export_saved_model(work + "/export", receiver_fn).decode())
    return made
