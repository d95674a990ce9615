"""The program over the library `walker`."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

import walker
from walker import util


def main(argv):
    directory = os.path.join(argv[1], "walk")
    series = np.cumsum(np.random.RandomState(4).randn(83)) / 5
    x, y = util.windows(series, 3)
    batch = tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(20).make_one_shot_iterator().get_next()

    model = walker.get_model("walker")(learning_rate=0.02)
    loss = model.loss(*batch)
    train_op = model.train_op(loss)
    mean = walker.MeanLossHook()
    hooks = [mean, walker.DecayHook("rate", 0.5, every=10), tf.train.StopAtStepHook(last_step=32)]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=directory, hooks=hooks, save_checkpoint_steps=16) as sess:
        while not sess.should_stop():
            sess.run(train_op)

    print(json.dumps({"step": int(tf.train.load_variable(directory, "global_step")), "loss": mean.values[-1],
                      "mean": mean.mean, "rate": float(tf.train.load_variable(directory, "rate")),
                      "version": walker.__version__,
                      "variables": [name for name, _ in tf.train.list_variables(directory)]}))


if __name__ == "__main__":
    main(sys.argv)
