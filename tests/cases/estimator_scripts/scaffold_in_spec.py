"""A Scaffold in the EstimatorSpec: init_fn from another checkpoint, a saver of some variables, moving averages in eval."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

ROOT = sys.argv[1]


def write_pretrained():
    path = os.path.join(ROOT, "pretrained", "model.ckpt")
    with tf.Graph().as_default():
        tf.get_variable("embedding", initializer=np.random.RandomState(0).randn(6, 3).astype(np.float32))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            tf.train.Saver().save(sess, path)
    return path


def model_fn(features, labels, mode, params):
    embedding = tf.get_variable("embedding", [6, 3], initializer=tf.zeros_initializer())
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    logits = tf.reduce_sum(tf.nn.embedding_lookup(embedding, features) * w, axis=-1)
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    ema = tf.train.ExponentialMovingAverage(0.8)
    if mode == tf.estimator.ModeKeys.TRAIN:
        init_saver = tf.train.Saver([embedding])

        def init_fn(scaffold, session):
            init_saver.restore(session, params["pretrained"])

        step = tf.train.get_global_step()
        with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.3).minimize(loss, step)]):
            train_op = ema.apply([embedding, w])
        scaffold = tf.train.Scaffold(init_fn=init_fn, saver=tf.train.Saver(max_to_keep=2, sharded=True))
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, scaffold=scaffold)
    saver = tf.train.Saver(ema.variables_to_restore([embedding, w]))
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, scaffold=tf.train.Scaffold(saver=saver),
        eval_metric_ops={"w": tf.metrics.mean(w)})


def input_fn():
    ids = np.arange(24) % 6
    labels = (ids % 2).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((ids.astype(np.int32), labels)).batch(6)


def main():
    params = {"pretrained": write_pretrained()}
    estimator = tf.estimator.Estimator(model_fn, os.path.join(ROOT, "model"), params=params)
    estimator.train(lambda: input_fn().repeat(8))
    result = estimator.evaluate(input_fn)
    print(json.dumps({"step": int(result["global_step"]), "loss": float(result["loss"]), "w": float(result["w"]),
                      "trained_w": estimator.get_variable_value("w").tolist(),
                      "names": estimator.get_variable_names(),
                      "shards": sorted(n for n in os.listdir(estimator.model_dir) if ".data-" in n)}))


if __name__ == "__main__":
    main()
