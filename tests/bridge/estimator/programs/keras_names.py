"""The names of Keras layers' variables in a model_fn, by which a checkpoint knows them."""

from tests.bridge.estimator.world import IS_V1, data, estimator, linear, tf

if IS_V1:
    keras = tf.keras
else:
    import keras

layers = keras.layers


def dense(size=3, **more):
    return layers.Dense(size, **more)


def several(x):
    x = dense()(dense(activation="relu")(x))
    x = layers.Conv1D(2, 1)(layers.Conv1D(2, 1)(x[:, :, None]))
    return dense(1)(layers.Flatten()(x))


def named(x):
    return dense(1, name="last")(dense(name="first")(x))


def twice_in_use(x):
    layer = dense()
    return dense(1)(layer(layer(x)))


def in_scopes(x):
    with tf.variable_scope("tower"):
        x = dense()(x)
        with tf.name_scope("inner"):
            x = dense()(x)
    return dense(1)(x)


def beside_variables(x):
    w = tf.get_variable("w", [3, 3])
    with tf.name_scope("dense"):
        x = tf.matmul(x, w)
    return dense(1)(dense()(x))


def many_kinds(x):
    ids = tf.cast(dense()(x)[:, :2] > 0, tf.int32)
    return dense(1)(layers.GlobalMaxPooling1D()(layers.Embedding(2, 3)(ids)))


def sequential(x):
    return keras.Sequential([dense(), dense(1)])(x)


def sequential_with_input(x):
    return keras.Sequential([layers.InputLayer((3,)), dense(), dense(1)])(x)


def functional(x):
    source = keras.Input((3,))
    return keras.Model(source, dense(1)(dense()(source)))(x)


class Net(keras.Model):
    def __init__(self):
        super(Net, self).__init__()  # noqa: UP008 - for Python 3.7
        self.first, self.last = dense(), dense(1, name="last")

    def call(self, x):
        return self.last(self.first(x))


def subclassed(x):
    return Net()(x)


CASES = [
    several,
    named,
    twice_in_use,
    in_scopes,
    beside_variables,
    many_kinds,
    sequential,
    sequential_with_input,
    functional,
    subclassed,
]


def model_of(case):
    def model_fn(features, labels, mode):
        y = case(features["x"])
        loss = tf.reduce_mean(tf.square(y - labels)) if labels is not None else None
        train_op = None
        if mode == estimator.ModeKeys.TRAIN:
            train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss, tf.train.get_global_step())
        return estimator.EstimatorSpec(mode, {"y": y}, loss, train_op)

    return model_fn


def main(work):
    made = {}
    for case in CASES:
        job = linear(work + "/" + case.__name__, model_of(case))
        made[case.__name__] = job.train(data, steps=1).get_variable_names()
        assert job.evaluate(data, steps=1)["global_step"] == 1
        next(iter(job.predict(data)))
    return made
