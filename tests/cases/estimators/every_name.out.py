import bridge
import tensorflow.compat.v1 as tf


def model_fn(features, labels, mode, params, config):
    predictions = features["x"] * tf.get_variable("w", [])
    if mode == bridge.estimator.ModeKeys.PREDICT:
        output = bridge.estimator.export.PredictOutput({"y": predictions})
        return bridge.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs={"serving_default": output})
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return (bridge  # the module
            .estimator.EstimatorSpec(mode, loss=loss, train_op=train_op))


def run(x, y, keras_model, receiver_fn):
    input_fn = bridge.estimator.inputs.numpy_input_fn({"x": x}, y, shuffle=False)  # as it was
    config = bridge.estimator.RunConfig(save_checkpoints_steps=10)
    estimator = bridge.estimator.Estimator(model_fn, config=config)
    hook = bridge.estimator.experimental.stop_if_no_decrease_hook(estimator, "loss", 100)
    other = bridge.estimator.experimental.stop_if_higher_hook(estimator, "accuracy", 0.9)
    estimator = bridge.estimator.add_metrics(estimator, lambda labels: {})
    keras_estimator = bridge.estimator.model_to_estimator(keras_model)
    print(bridge.estimator, [getattr(bridge.estimator, name) for name in ("Estimator", "ModeKeys")], keras_estimator)
    bridge.estimator.train_and_evaluate(
        estimator,
        bridge.estimator.TrainSpec(input_fn, hooks=[hook, other]),
        bridge.estimator.EvalSpec(input_fn, exporters=bridge.estimator.FinalExporter("final", receiver_fn)))


def through_the_other_namespace(model_fn):
    import bridge
    import tensorflow.compat.v2 as tf2
    from bridge.estimator import Estimator as EstimatorV2

    return bridge.estimator.Estimator(model_fn), EstimatorV2(model_fn), bridge.estimator.ModeKeys.EVAL
