"""Predictions by key, by batch, with hooks, of tensors and of an older checkpoint."""

from tests.bridge.estimator.world import Journal, X, as_json, data, estimator, linear, once, tf


def single(features, labels, mode):
    y = tf.reduce_sum(features["x"], axis=1)
    tf.get_variable("unused", [])
    return estimator.EstimatorSpec(mode, predictions=y)


def features_only():
    batches = tf.data.Dataset.from_tensor_slices(X).batch(9)
    return {"x": tf.data.make_one_shot_iterator(batches).get_next()}


def main(work):
    calls = []
    made = linear(work + "/job", keep_checkpoint_max=None).train(data, steps=10)
    lazy = made.predict(once)
    first = next(lazy)
    lazy.close()
    return as_json(
        {
            "first": first,
            "all": list(made.predict(once)),
            "keys": list(made.predict(features_only, predict_keys=["double"])),
            "batches": list(made.predict(once, yield_single_examples=False, hooks=[Journal(calls, "user")])),
            "old": list(made.predict(once, checkpoint_path=work + "/job/model.ckpt-5"))[:3],
            "tensor": list(estimator.Estimator(single, work + "/single").predict(once)),
            "calls": calls,
        }
    )
