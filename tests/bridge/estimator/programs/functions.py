"""How input_fn and model_fn are called: by names, partials, methods, objects; what they may return."""

import functools

from tests.bridge.estimator.world import X, Y, as_json, estimator, once, tf, variables


class Model:
    def __call__(self, features, labels, config):
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        y = tf.matmul(features if not isinstance(features, dict) else features["x"], w)
        loss = tf.reduce_mean(tf.square(y - (Y[:4] if labels is None else labels)))
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return estimator.EstimatorSpec(self.mode, {"y": y}, loss, train_op)


def model_fn(features, labels, mode, params, config, extra):
    model = Model()
    model.mode = mode
    params["seen"] = "changed"
    return model(features, labels, config)


class Inputs:
    def __init__(self):
        self.seen = []

    def tensors(self, mode, params, config):
        self.seen.append([mode, sorted(params), config.task_type, config.num_worker_replicas])
        return tf.constant(X[:4]), tf.constant(Y[:4])

    def features(self):
        return tf.constant(X[:4])

    def one_shot(self, params):
        iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices(X[:8]).batch(4))
        return iterator.get_next()


def main(work):
    inputs = Inputs()
    made = estimator.Estimator(functools.partial(model_fn, extra=1), work, params={"a": 1})
    made.train(inputs.tensors, steps=2)
    made.train(inputs.features, steps=2)
    made.train(inputs.one_shot)
    made.train(once, steps=1)
    made.evaluate(inputs.tensors, steps=3)
    spec_fields = estimator.EstimatorSpec._fields
    return as_json(
        {
            "seen": inputs.seen,
            "params": made.params,
            "fields": spec_fields,
            "train": estimator.TrainSpec._fields,
            "eval": estimator.EvalSpec._fields,
            "variables": variables(made.latest_checkpoint()),
        }
    )
