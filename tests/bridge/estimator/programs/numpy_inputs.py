"""numpy_input_fn: batches across epochs, the smaller last one, several features and labels."""

import numpy as np

from tests.bridge.estimator.world import X, Y, as_json, estimator, linear, tf, variables


def batches(input_fn, count=20):
    with tf.Graph().as_default():
        tensors = input_fn()
        made = []
        with tf.train.MonitoredSession() as session:
            while not session.should_stop() and len(made) < count:
                made.append(session.run(tensors))
    return made


def main(work):
    numpy_input_fn = estimator.inputs.numpy_input_fn
    a = np.arange(7)
    names = np.array(["a", "b", "c", "d", "e", "f", "g"])
    shuffled = batches(numpy_input_fn(a, batch_size=7, num_epochs=1, shuffle=True))
    made = linear(work)
    made.train(numpy_input_fn({"x": X}, Y, batch_size=5, num_epochs=2, shuffle=False))
    return as_json(
        {
            "array": batches(numpy_input_fn(a, batch_size=3, num_epochs=2, shuffle=False)),
            "endless": batches(numpy_input_fn(a, batch_size=5, num_epochs=None, shuffle=False), 4),
            "named": batches(numpy_input_fn({"a": a, "n": names}, a * 2, batch_size=4, shuffle=False)),
            "labels": batches(
                numpy_input_fn({"a": a}, {"l": a * 1.5, "m": a > 3}, batch_size=4, shuffle=False)
            ),
            "shuffled": sorted(np.concatenate(shuffled).tolist()),
            "trained": variables(made.latest_checkpoint()),
        }
    )
