"""TensorFlow under other names: `import tensorflow as T`, `from tensorflow import …`, modules bound to names, star."""
import json
import os
import sys

import numpy as np
import tensorflow as T
from tensorflow import GraphKeys, gradients, placeholder as ph
from tensorflow import train as training
from tensorflow.train import AdamOptimizer
from tensorflow.train import MonitoredTrainingSession, StopAtStepHook

v1_summary = T.summary
nn = T.nn
get_step = training.get_or_create_global_step
DIRECTORY = os.path.join(sys.argv[1], "styles")


def tf(values):
    """A function of one's own that happens to have the usual name."""
    return np.asarray(values, dtype=np.float32)


def scaled(T, factor):
    """A parameter that shadows the module."""
    return T * factor


def main():
    x = ph(T.float32, [None, 3], name="x")
    y = ph(dtype=T.float32, shape=[None, 1])
    w = T.get_variable("w", initializer=tf([[0.1], [0.2], [0.3]]))
    unused = T.get_variable("unused", initializer=tf([1.0]), trainable=False)
    out = nn.softplus(T.matmul(x, w))
    loss = T.losses.log_loss(y, T.clip_by_value(out, 0.01, 0.99))
    grad, = gradients(loss, [w])
    v1_summary.scalar("gradient", T.norm(grad))
    train_op = AdamOptimizer(0.05).minimize(loss, global_step=get_step())
    assert unused in T.get_collection(GraphKeys.GLOBAL_VARIABLES)

    rng = np.random.RandomState(13)
    x_data = scaled(rng.rand(24, 3), 0.5)
    y_data = (x_data[:, :1] > 0.25).astype("float32")
    with MonitoredTrainingSession(checkpoint_dir=DIRECTORY, hooks=[StopAtStepHook(last_step=20)],
                                  save_summaries_steps=5) as sess:
        while not sess.should_stop():
            l, _ = sess.run([loss, train_op], feed_dict={x: x_data, y: y_data})

    tags = sorted({v.tag for p in T.gfile.Glob(DIRECTORY + "/events*")
            for e in training.summary_iterator(p) for v in e.summary.value if v.tag == "gradient"})
    print(json.dumps({"step": int(training.load_variable(DIRECTORY, "global_step")), "loss": float(l), "tags": tags}))


if __name__ == "__main__":
    main()
