"""train_and_evaluate in one process, flags, exporters Latest and Final, a serving receiver."""
import json
import os

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("model_dir", os.path.join(os.environ["WORK_DIR"], "model"), "Where the model is kept")
flags.DEFINE_integer("max_steps", 60, "How long to train")
FLAGS = flags.FLAGS


def input_fn(mode, params):
    rng = np.random.RandomState(0 if mode == tf.estimator.ModeKeys.TRAIN else 1)
    x = rng.uniform(-1, 1, (64, 3)).astype(np.float32)
    y = x.sum(axis=1, keepdims=True) * 2 + 1
    dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
    if mode == tf.estimator.ModeKeys.TRAIN:
        dataset = dataset.repeat()
    return dataset.batch(params["batch_size"])


def model_fn(features, labels, mode, params, config):
    assert config.save_checkpoints_steps == 20
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    prediction = tf.matmul(features["x"], w) + b
    if mode == tf.estimator.ModeKeys.PREDICT:
        output = tf.estimator.export.PredictOutput({"prediction": prediction})
        return tf.estimator.EstimatorSpec(
            mode, predictions={"prediction": prediction},
            export_outputs={tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: output})
    loss = tf.losses.mean_squared_error(labels, prediction)
    metrics = {"rmse": tf.metrics.root_mean_squared_error(labels, prediction),
               "mae": tf.metrics.mean_absolute_error(labels, prediction)}
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(
            loss, global_step=tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def serving_input_receiver_fn():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def evaluations(directory):
    found = []
    for path in sorted(tf.gfile.Glob(os.path.join(directory, "events*"))):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                if value.tag == "loss":
                    found.append([event.step, value.simple_value])
    return found


def main(_):
    params = {"batch_size": 16, "rate": 0.1}
    run_config = tf.estimator.RunConfig(model_dir=FLAGS.model_dir, save_checkpoints_steps=20)
    estimator = tf.estimator.Estimator(model_fn, params=params, config=run_config)
    exporters = [tf.estimator.LatestExporter("latest", serving_input_receiver_fn, exports_to_keep=1),
                 tf.estimator.FinalExporter("final", serving_input_receiver_fn)]
    train_spec = tf.estimator.TrainSpec(input_fn=input_fn, max_steps=FLAGS.max_steps)
    eval_spec = tf.estimator.EvalSpec(input_fn=input_fn, steps=None, exporters=exporters, throttle_secs=0,
                                      start_delay_secs=0)
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)

    result = estimator.evaluate(input_fn, name="again")
    exports = {name: len(os.listdir(os.path.join(FLAGS.model_dir, "export", name))) for name in ("latest", "final")}
    directory = os.path.join(FLAGS.model_dir, "export", "final")
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.loader.load(
            sess, [tf.saved_model.tag_constants.SERVING], os.path.join(directory, os.listdir(directory)[0]))
        signature = meta.signature_def["serving_default"]
        served = sess.run(signature.outputs["prediction"].name, {signature.inputs["x"].name: [[1.0, 2.0, 3.0]]})
    print(json.dumps({"step": int(result["global_step"]), "loss": float(result["loss"]), "rmse": float(result["rmse"]),
                      "mae": float(result["mae"]), "exports": exports, "served": served.ravel().tolist(),
                      "evaluations": evaluations(os.path.join(FLAGS.model_dir, "eval")),
                      "eval_dirs": sorted(n for n in os.listdir(FLAGS.model_dir) if n.startswith("eval"))}))


if __name__ == "__main__":
    tf.app.run()
