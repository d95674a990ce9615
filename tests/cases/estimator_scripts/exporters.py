"""BestExporter, export_saved_model with parsed examples, and the warm model read back by a predictor's hands."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

WORK = sys.argv[1]


def model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [3], initializer=tf.constant_initializer([0.0, 0.0, 0.0]))
    score = tf.reduce_sum(features["x"] * w, axis=1)
    export_outputs = {
        "serving_default": tf.estimator.export.RegressionOutput(score),
        "doubled": tf.estimator.export.PredictOutput({"score": score, "twice": 2 * score}),
    }
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"score": score}, export_outputs=export_outputs)
    loss = tf.losses.mean_squared_error(labels, score)
    train_op = tf.train.AdamOptimizer(params.get("rate", 0.1)).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, predictions={"score": score})


def input_fn():
    x = np.random.RandomState(1).rand(40, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x.dot([3.0, 1.0, -2.0]).astype(np.float32))).batch(8)


def main():
    estimator = tf.estimator.Estimator(model_fn, os.path.join(WORK, "model"), params={"rate": 0.2},
                                       config=tf.estimator.RunConfig(save_checkpoints_steps=10))
    specification = {"x": tf.FixedLenFeature([3], tf.float32)}
    receiver_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(specification)
    best = tf.estimator.BestExporter(
        name="best", serving_input_receiver_fn=receiver_fn, exports_to_keep=2,
        compare_fn=lambda best_eval_result, current_eval_result: current_eval_result["loss"] < best_eval_result["loss"])
    tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(lambda: input_fn().repeat(), max_steps=30),
        tf.estimator.EvalSpec(input_fn, exporters=best, throttle_secs=0, start_delay_secs=0))
    path = estimator.export_saved_model(os.path.join(WORK, "by_hand"), receiver_fn)
    if isinstance(path, bytes):
        path = path.decode()

    example = tf.train.Example(features=tf.train.Features(feature={
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 1.0, 1.0]))}))
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.loader.load(sess, ["serve"], path)
        keys = sorted(meta.signature_def)
        signature = meta.signature_def["doubled"]
        feed, = signature.inputs.values()
        served = sess.run({name: info.name for name, info in signature.outputs.items()},
                          {feed.name: [example.SerializeToString()]})
    result = estimator.evaluate(input_fn)
    print(json.dumps({"step": int(result["global_step"]), "loss": float(result["loss"]), "keys": keys,
                      "served": {name: value.tolist() for name, value in served.items()},
                      "files": sorted(os.listdir(path)),
                      "best": len(os.listdir(os.path.join(WORK, "model", "export", "best")))}))


if __name__ == "__main__":
    main()
