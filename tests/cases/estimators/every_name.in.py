import tensorflow as tf


def model_fn(features, labels, mode, params, config):
    predictions = features["x"] * tf.get_variable("w", [])
    if mode == tf.estimator.ModeKeys.PREDICT:
        output = tf.estimator.export.PredictOutput({"y": predictions})
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs={"serving_default": output})
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return (tf  # the module
            .estimator.EstimatorSpec(mode, loss=loss, train_op=train_op))


def run(x, y, keras_model, receiver_fn):
    input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, y, shuffle=False)  # as it was
    config = tf.compat.v1.estimator.RunConfig(save_checkpoints_steps=10)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    hook = tf.contrib.estimator.stop_if_no_decrease_hook(estimator, "loss", 100)
    other = tf.estimator.experimental.stop_if_higher_hook(estimator, "accuracy", 0.9)
    estimator = tf.contrib.estimator.add_metrics(estimator, lambda labels: {})
    keras_estimator = tf.keras.estimator.model_to_estimator(keras_model)
    print(tf.estimator, [getattr(tf.estimator, name) for name in ("Estimator", "ModeKeys")], keras_estimator)
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(input_fn, hooks=[hook, other]),
        tf.estimator.EvalSpec(input_fn, exporters=tf.estimator.FinalExporter("final", receiver_fn)))


def through_the_other_namespace(model_fn):
    import tensorflow.compat.v2 as tf2
    from tensorflow.python.estimator.estimator import EstimatorV2

    return tf2.compat.v1.estimator.Estimator(model_fn), EstimatorV2(model_fn), tf2.estimator.ModeKeys.EVAL
