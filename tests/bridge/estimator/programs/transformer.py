"""A small transformer in the style of TF1: attention, layer normalization, a schedule, clipped gradients, averages."""

import numpy as np

from tests.bridge.estimator.world import as_json, estimator, job, linear, numbers, tf

WORDS, SIZE, HEADS, LAYERS, LENGTH = 20, 8, 2, 2, 6
TEXTS = np.random.RandomState(11).randint(1, WORDS, (32, LENGTH))
TEXTS[::3, 4:] = 0
LABELS = TEXTS.sum(axis=1) % 2


def variable(name, shape, seed):
    scale = numbers(seed, *shape) / np.sqrt(shape[0])
    return tf.get_variable(name, initializer=scale.astype(np.float32))


def dense(x, size, name, seed, activation=None):
    with tf.variable_scope(name):
        kernel = variable("kernel", [int(x.shape[-1]), size], seed)
        y = tf.tensordot(x, kernel, 1) + tf.get_variable("bias", [size], initializer=tf.zeros_initializer())
        return y if activation is None else activation(y)


def normalized(x, name):
    with tf.variable_scope(name):
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        gain = tf.get_variable("gain", [SIZE], initializer=tf.ones_initializer())
        bias = tf.get_variable("bias", [SIZE], initializer=tf.zeros_initializer())
        return (x - mean) * tf.rsqrt(variance + 1e-6) * gain + bias


def attention(x, mask, seed):
    def heads(name, number):
        y = dense(x, SIZE, name, seed + number)
        return tf.transpose(tf.reshape(y, [-1, LENGTH, HEADS, SIZE // HEADS]), [0, 2, 1, 3])

    query, key, value = heads("query", 0), heads("key", 1), heads("value", 2)
    scores = (
        tf.matmul(query, key, transpose_b=True) / np.sqrt(SIZE / HEADS) + (1 - mask)[:, None, None, :] * -1e9
    )
    mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), value), [0, 2, 1, 3])
    return dense(tf.reshape(mixed, [-1, LENGTH, SIZE]), SIZE, "output", seed + 3)


def model_fn(features, labels, mode, params):
    words = features["words"]
    mask = tf.to_float(tf.not_equal(words, 0))
    with tf.variable_scope("transformer"):
        x = tf.nn.embedding_lookup(variable("embedding", [WORDS, SIZE], 1), words)
        x += variable("position", [LENGTH, SIZE], 2)
        for layer in range(LAYERS):
            with tf.variable_scope(f"layer_{layer}"):
                x = normalized(x + attention(x, mask, 10 * layer + 20), "attention_norm")
                inner = dense(x, 16, "inner", 10 * layer + 24, tf.nn.relu)
                x = normalized(x + dense(inner, SIZE, "outer", 10 * layer + 25), "outer_norm")
        pooled = tf.reduce_sum(x * mask[:, :, None], 1) / tf.reduce_sum(mask, 1, keepdims=True)
        logits = dense(pooled, 2, "classes", 3)
    predictions = {"class": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
    if mode == estimator.ModeKeys.PREDICT:
        return estimator.EstimatorSpec(mode, predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, predictions["class"])}
        return estimator.EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.polynomial_decay(params["rate"], step, 30, end_learning_rate=0.0)
    tf.summary.scalar("rate", rate)
    weights = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, weights), 1.0)
    optimizer = tf.train.AdamOptimizer(rate, beta2=0.98, epsilon=1e-6)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.apply_gradients(zip(gradients, weights), step)
    return estimator.EstimatorSpec(mode, predictions, loss, train_op)


def input_fn(repeat=None):
    return tf.data.Dataset.from_tensor_slices(({"words": TEXTS}, LABELS)).repeat(repeat).batch(8)


def main(work):
    made = linear(work, model_fn, params={"rate": 0.02}, save_checkpoints_steps=10)
    made.train(input_fn, max_steps=20)
    result = made.evaluate(lambda: input_fn(1))
    predicted = list(made.predict(lambda: input_fn(1)))[:5]

    def receiver_fn():
        words = tf.placeholder(tf.int64, [None, LENGTH], name="words")
        return estimator.export.ServingInputReceiver({"words": words}, {"words": words})

    path = made.export_saved_model(work + "/export", receiver_fn).decode()
    # Fused for one batch size, this network ends TensorFlow 2.16's process when it gets another: it gets the same.
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.remapping = 2  # RewriterConfig.OFF
    with tf.Session(graph=tf.Graph(), config=config) as session:
        meta = tf.saved_model.loader.load(session, ["serve"], path)
        signature = meta.signature_def["serving_default"]
        served = session.run(
            signature.outputs["probabilities"].name, {signature.inputs["words"].name: TEXTS[:8]}
        )[:2]
    report = job(made, None)
    report["variables"] = sorted(report["variables"])
    return as_json({"result": result, "predicted": predicted, "served": served, "job": report})
