"""Which built-in error each wrong argument or return value raises."""

from tests.bridge.estimator.world import X, data, estimator, linear, once, regression, tf


def kind(run):
    try:
        run()
    except Exception as error:  # noqa: BLE001 - the kinds are compared
        kinds = (ValueError, TypeError, RuntimeError, tf.errors.OpError)
        return [k.__name__ for k in kinds if isinstance(error, k)]
    return "nothing"


def spec(**fields):
    def model_fn(features, labels, mode):
        whole = regression(features, labels, mode, {})
        values = {
            "mode": mode,
            "loss": whole.loss,
            "train_op": whole.train_op,
            "predictions": whole.predictions,
        }
        values.update({name: value(whole) for name, value in fields.items()})
        return estimator.EstimatorSpec(**values)

    return model_fn


def main(work):
    made = {}
    folder = iter(f"{work}/{number}" for number in range(1000))

    def train(model_fn, input_fn=data):
        return lambda: estimator.Estimator(model_fn, next(folder)).train(input_fn, steps=1)

    def evaluate(model_fn):
        return lambda: estimator.Estimator(model_fn, next(folder)).evaluate(once)

    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    fields = {
        "loss none": {"loss": lambda whole: None},
        "loss a number": {"loss": lambda whole: 1.0},
        "loss a vector": {"loss": lambda whole: tf.ones([2])},
        "loss foreign": {"loss": lambda whole: foreign},
        "loss of shape [1]": {"loss": lambda whole: tf.reshape(whole.loss, [1])},
        "train_op none": {"train_op": lambda whole: None},
        "train_op a number": {"train_op": lambda whole: 3},
        "predictions a list": {"predictions": lambda whole: [whole.loss]},
        "predictions foreign": {"predictions": lambda whole: {"x": foreign}},
        "metrics a list": {"eval_metric_ops": lambda whole: [1]},
        "metric no pair": {"eval_metric_ops": lambda whole: {"a": whole.loss}},
        "metric foreign": {"eval_metric_ops": lambda whole: {"a": (foreign, foreign)}},
        "hooks no hooks": {"training_hooks": lambda whole: [1]},
        "scaffold a number": {"scaffold": lambda whole: 1},
    }
    for name, changed in fields.items():
        made["train, " + name] = kind(train(spec(**changed)))
    made["metric loss"] = kind(evaluate(spec(eval_metric_ops=lambda w: {"loss": tf.metrics.mean(w.loss)})))
    made["metric global_step"] = kind(
        evaluate(spec(eval_metric_ops=lambda w: {"global_step": tf.metrics.mean(w.loss)}))
    )
    made["no spec"] = kind(train(lambda features, labels, mode: None))
    made["no features"] = kind(train(lambda labels, mode: None))
    made["unknown argument"] = kind(train(lambda features, labels, mode, what: None))
    made["no labels argument"] = kind(train(lambda features, mode: None))
    made["params without argument"] = kind(
        lambda: estimator.Estimator(lambda features, labels, mode: None, work, params={"a": 1})
    )
    made["three inputs"] = kind(train(regression_of, lambda: (tf.constant(X), 1, 2)))
    made["no model_fn"] = kind(lambda: estimator.Estimator(None, work))
    made["config a dict"] = kind(lambda: estimator.Estimator(regression_of, work, config={}))
    made["two folders"] = kind(
        lambda: estimator.Estimator(regression_of, work, config=estimator.RunConfig(model_dir=work + "x"))
    )
    made["names before training"] = kind(lambda: linear(next(folder)).get_variable_names())
    made["value before training"] = kind(lambda: linear(next(folder)).get_variable_value("w"))
    made["export before training"] = kind(lambda: linear(next(folder)).export_saved_model(work, lambda: None))
    made["steps and max_steps"] = kind(lambda: linear(next(folder)).train(data, steps=1, max_steps=1))
    made["evaluate no steps"] = kind(lambda: linear(next(folder)).evaluate(once, steps=0))
    made["predict keys"] = kind(lambda: list(linear(next(folder)).predict(once, predict_keys=["nothing"])))
    made["train spec"] = kind(lambda: estimator.TrainSpec(1))
    made["train spec steps"] = kind(lambda: estimator.TrainSpec(data, max_steps=0))
    made["train spec hooks"] = kind(lambda: estimator.TrainSpec(data, hooks=[1]))
    made["eval spec steps"] = kind(lambda: estimator.EvalSpec(data, steps=0))
    made["eval spec name"] = kind(lambda: estimator.EvalSpec(data, name=1))
    made["eval spec throttle"] = kind(lambda: estimator.EvalSpec(data, throttle_secs=-1))
    made["eval spec delay"] = kind(lambda: estimator.EvalSpec(data, start_delay_secs=-1))
    made["eval spec exporters"] = kind(lambda: estimator.EvalSpec(data, exporters=[1]))
    twice = [estimator.FinalExporter("a", once), estimator.LatestExporter("a", once)]
    made["eval spec names"] = kind(lambda: estimator.EvalSpec(data, exporters=twice))
    made["compare_fn"] = kind(lambda: estimator.BestExporter(compare_fn=lambda a, b: True))
    made["compare_fn none"] = kind(lambda: estimator.BestExporter(compare_fn=None))
    made["exports_to_keep"] = kind(lambda: estimator.LatestExporter("a", once, exports_to_keep=0))
    made["warm start"] = kind(lambda: estimator.Estimator(regression_of, work, warm_start_from=3))
    made["warm start empty"] = kind(lambda: estimator.WarmStartSettings(""))
    made["numpy shuffle"] = kind(lambda: estimator.inputs.numpy_input_fn(X, shuffle=None))
    made["numpy lengths"] = kind(estimator.inputs.numpy_input_fn(X, X[:3], shuffle=False))
    made["numpy empty"] = kind(estimator.inputs.numpy_input_fn({}, shuffle=False))
    made["numpy list"] = kind(estimator.inputs.numpy_input_fn([1], shuffle=False))
    made["train_and_evaluate"] = kind(lambda: estimator.train_and_evaluate(1, 2, 3))
    made["add_metrics"] = kind(
        lambda: linear(next(folder)) and estimator.add_metrics(linear(work), lambda x: {})
    )
    made["nan"] = kind(train(spec(loss=lambda whole: whole.loss * float("nan"))))
    made["spec mode"] = kind(
        train(lambda features, labels, mode: regression(features, labels, mode, {})._replace(mode="x"))
    )
    return made


def regression_of(features, labels, mode):
    return regression(features, labels, mode, {})
