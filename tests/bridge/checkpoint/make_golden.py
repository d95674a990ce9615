"""Writes the checkpoints in `golden/`, and what went on from them, with TensorFlow 1.15.5. `make oracle` runs it.

    make oracle                                                # sets up Python 3.7 with tensorflow==1.15.5
    python3.7 tests/bridge/checkpoint/make_golden.py --check   # where that is set up: writes nothing, fails on a change

Each function below is a small program as people wrote them. `golden/expected.json` holds the values that the
variables have in TensorFlow 1.15.5, and those after some more steps of training.

`golden/from_bridge` is written by `bridge.checkpoint.save_v1` (see `from_bridge.py`); here TensorFlow 1.15.5 restores
it with `Saver.restore` and trains on.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import shutil
import sys
import tempfile
from typing import Any, Callable

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(HERE))))

from tests.bridge.checkpoint import worlds  # noqa: E402
from tests.oracle.make_golden import layout  # noqa: E402

GOLDEN = os.path.join(HERE, "golden")
FROM_BRIDGE = "from_bridge"

Values = "dict[str, Any]"


def optimizers() -> dict[str, Callable[[], Any]]:
    """The optimizers of TF1 whose slots Keras has too."""
    contrib = tf.contrib.opt
    rate = worlds.RATE
    rms = {"decay": worlds.DECAY, "momentum": worlds.MOMENTUM, "epsilon": worlds.EPSILON}
    train = tf.train
    return {
        "sgd": lambda: train.GradientDescentOptimizer(rate),
        "momentum": lambda: train.MomentumOptimizer(rate, worlds.MOMENTUM),
        "nesterov": lambda: train.MomentumOptimizer(rate, worlds.MOMENTUM, use_nesterov=True),
        "rmsprop": lambda: train.RMSPropOptimizer(rate, **rms),
        "rmsprop_plain": lambda: train.RMSPropOptimizer(rate, worlds.DECAY, epsilon=worlds.EPSILON),
        "rmsprop_centered": lambda: train.RMSPropOptimizer(rate, centered=True, **rms),
        "adam": lambda: train.AdamOptimizer(rate, epsilon=worlds.EPSILON),
        "adagrad": lambda: train.AdagradOptimizer(rate),
        "adadelta": lambda: train.AdadeltaOptimizer(rate, rho=worlds.DECAY, epsilon=worlds.EPSILON),
        "ftrl": lambda: train.FtrlOptimizer(rate),
        "adamax": lambda: contrib.AdaMaxOptimizer(rate, epsilon=worlds.EPSILON),
        "adamw": lambda: contrib.AdamWOptimizer(worlds.WEIGHT_DECAY, rate, epsilon=worlds.EPSILON),
    }


def constant(value: np.ndarray) -> Any:
    return tf.constant_initializer(value)


def dense(inputs: Any) -> Any:
    return tf.layers.dense(
        inputs, 1, kernel_initializer=constant(worlds.KERNEL), bias_initializer=constant(worlds.BIAS)
    )


def mean_square(outputs: Any) -> Any:
    return tf.reduce_mean(tf.square(outputs - worlds.Y))


def train(session: Any, train_op: Any, steps: int) -> None:
    for _ in range(steps):
        for operation in train_op if isinstance(train_op, list) else [train_op]:
            session.run(operation)


def values(session: Any) -> Values:
    """Every global variable's value by its name in checkpoints."""
    found = {v.op.name: session.run(v) for v in tf.global_variables()}
    return {name: np.asarray(value).tolist() for name, value in sorted(found.items())}


def save(session: Any, directory: str, step: int, **options: Any) -> None:
    saver = tf.train.Saver(**options)
    saver.save(
        session, os.path.join(directory, "model.ckpt"), step, write_meta_graph=False, write_state=False
    )


def trained(directory: str, train_op: Any, **options: Any) -> Values:
    """Trains, saves, and trains on. Returns the values at the save and after it."""
    with tf.Session(config=one_thread()) as session:
        session.run(tf.global_variables_initializer())
        train(session, train_op, worlds.STEPS_BEFORE)
        save(session, directory, worlds.STEPS_BEFORE, **options)
        saved = values(session)
        train(session, train_op, worlds.STEPS_AFTER)
        return {"saved": saved, "after": values(session)}


def one_thread() -> Any:
    return tf.ConfigProto(
        intra_op_parallelism_threads=1, inter_op_parallelism_threads=1, device_count={"CPU": 2}
    )


def with_optimizer(directory: str, optimizer: Any, **options: Any) -> Values:
    """A dense layer, whose variables are resource variables."""
    with tf.variable_scope("", use_resource=True):
        loss = mean_square(dense(tf.constant(worlds.X)))
        step = tf.train.get_or_create_global_step()
    return trained(directory, optimizer.minimize(loss, step), **options)


def ref_variables(directory: str) -> Values:
    """Variables of the old kind, and the layers of the guide: batch normalisation between two dense layers."""
    with tf.variable_scope("", use_resource=False):
        x = tf.layers.dense(tf.constant(worlds.X), 4, kernel_initializer=constant(worlds.weights(3, 4)))
        x = tf.layers.batch_normalization(x, training=True, momentum=0.5)
        x = tf.layers.dense(
            x, 1, kernel_initializer=constant(worlds.weights(4, 1)), bias_initializer=constant(worlds.BIAS)
        )
        step = tf.train.get_or_create_global_step()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.AdamOptimizer(worlds.RATE, epsilon=worlds.EPSILON).minimize(mean_square(x), step)
    return trained(directory, train_op)


def scoped_optimizer(directory: str) -> Values:
    """The optimizer runs in a variable scope, which goes before its slots' names."""
    loss = mean_square(dense(tf.constant(worlds.X)))
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("training"):
        train_op = tf.train.AdamOptimizer(worlds.RATE, epsilon=worlds.EPSILON).minimize(loss, step)
    return trained(directory, train_op)


def renamed_optimizer(directory: str) -> Values:
    return with_optimizer(
        directory, tf.train.AdamOptimizer(worlds.RATE, epsilon=worlds.EPSILON, name="my_adam")
    )


def _partitioned_loss() -> Any:
    with tf.variable_scope("dense"):
        kernel = tf.get_variable(
            "kernel",
            (3, 1),
            initializer=tf.zeros_initializer(),
            partitioner=tf.fixed_size_partitioner(2, axis=0),
        )
        bias = tf.get_variable("bias", (1,), initializer=constant(worlds.BIAS))
    return mean_square(tf.matmul(tf.constant(worlds.X), tf.convert_to_tensor(kernel)) + bias)


def partitioned(directory: str) -> Values:
    """A partitioned variable, which the Saver writes as slices of one."""
    loss = _partitioned_loss()
    step = tf.train.get_or_create_global_step()
    adam = tf.train.AdamOptimizer(worlds.RATE, epsilon=worlds.EPSILON)
    return trained(directory, adam.minimize(loss, step))


def parts(directory: str) -> Values:
    """A partitioned variable whose parts were saved under their own names."""
    loss = _partitioned_loss()
    step = tf.train.get_or_create_global_step()
    adam = tf.train.AdamOptimizer(worlds.RATE, epsilon=worlds.EPSILON)
    train_op = adam.minimize(loss, step)
    copies = {v.op.name: tf.identity(v) for v in tf.global_variables()}
    with tf.Session(config=one_thread()) as session:
        session.run(tf.global_variables_initializer())
        train(session, train_op, worlds.STEPS_BEFORE)
        numbers = session.run(copies)
        saved = values(session)
    with tf.Graph().as_default(), tf.Session(config=one_thread()) as session:
        for name, value in numbers.items():
            tf.get_variable(name, initializer=value)
        session.run(tf.global_variables_initializer())
        save(session, directory, worlds.STEPS_BEFORE)
    return {"saved": saved}


def old_format(directory: str) -> Values:
    """The format before TensorFlow 0.12, which the Saver of 1.15 still writes."""
    return with_optimizer(
        directory,
        tf.train.AdamOptimizer(worlds.RATE, epsilon=worlds.EPSILON),
        write_version=tf.train.SaverDef.V1,
    )


def old_format_sharded(directory: str) -> Values:
    return _on_two_devices(directory, write_version=tf.train.SaverDef.V1, sharded=True)


def sharded(directory: str) -> Values:
    return _on_two_devices(directory, sharded=True)


def _on_two_devices(directory: str, **options: Any) -> Values:
    with tf.variable_scope("dense"):
        with tf.device("/cpu:0"):
            kernel = tf.get_variable("kernel", initializer=worlds.KERNEL)
        with tf.device("/cpu:1"):
            bias = tf.get_variable("bias", initializer=worlds.BIAS)
    step = tf.train.get_or_create_global_step()
    loss = mean_square(tf.matmul(tf.constant(worlds.X), kernel) + bias)
    return trained(directory, tf.train.GradientDescentOptimizer(worlds.RATE).minimize(loss, step), **options)


def moving_averages(directory: str) -> Values:
    loss = mean_square(dense(tf.constant(worlds.X)))
    step = tf.train.get_or_create_global_step()
    apply = tf.train.AdamOptimizer(worlds.RATE, epsilon=worlds.EPSILON).minimize(loss, step)
    averages = tf.train.ExponentialMovingAverage(0.5)
    return trained(directory, [apply, averages.apply(tf.trainable_variables())])


def slim_names(directory: str) -> Values:
    """Layers of tf.contrib, which call a kernel `weights`."""
    layers = tf.contrib.layers
    with tf.variable_scope("Net"):
        x = layers.conv2d(
            tf.constant(worlds.IMAGES),
            2,
            3,
            scope="Conv",
            normalizer_fn=layers.batch_norm,
            normalizer_params={"is_training": False, "scale": True},
            weights_initializer=constant(worlds.weights(3, 3, 1, 2)),
        )
        outputs = layers.fully_connected(
            tf.reshape(x, (2, 50)),
            1,
            activation_fn=None,
            scope="Logits",
            weights_initializer=constant(worlds.weights(50, 1)),
            biases_initializer=constant(worlds.BIAS),
        )
    return _answered(directory, outputs)


def _answered(directory: str, outputs: Any, step: int = 7) -> Values:
    """Saves what was initialised, with what the graph answers."""
    counter = tf.train.get_or_create_global_step()
    with tf.Session(config=one_thread()) as session:
        session.run(tf.global_variables_initializer())
        session.run(counter.assign(step))
        save(session, directory, step)
        return {"saved": values(session), "outputs": session.run(outputs).tolist()}


def lstm(directory: str) -> Values:
    """A recurrent layer with a BasicLSTMCell, trained."""
    cell = tf.nn.rnn_cell.BasicLSTMCell(worlds.UNITS, forget_bias=worlds.FORGET_BIAS)
    return _recurrent(directory, cell, (3 + worlds.UNITS, 4 * worlds.UNITS))


def gru(directory: str) -> Values:
    return _recurrent(directory, tf.nn.rnn_cell.GRUCell(worlds.UNITS), None)


def _recurrent(directory: str, cell: Any, shape: Any) -> Values:
    initializer = constant(worlds.weights(*shape)) if shape else tf.random_uniform_initializer(-0.5, 0.5, 3)
    with tf.variable_scope("", initializer=initializer):
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(worlds.SEQUENCES), dtype=tf.float32)
    last = outputs[:, -1]
    step = tf.train.get_or_create_global_step()
    adam = tf.train.AdamOptimizer(worlds.RATE, epsilon=worlds.EPSILON)
    train_op = adam.minimize(tf.reduce_mean(tf.square(last - 0.5)), step)
    with tf.Session(config=one_thread()) as session:
        session.run(tf.global_variables_initializer())
        train(session, train_op, worlds.STEPS_BEFORE)
        save(session, directory, worlds.STEPS_BEFORE)
        found = {"saved": values(session), "outputs": session.run(last).tolist()}
        train(session, train_op, worlds.STEPS_AFTER)
        found["outputs_after"] = session.run(last).tolist()
    return found


def keras_in_a_session(directory: str) -> Values:
    """A tf.keras model of TensorFlow 1.15 in a session, whose optimizer names its slots in another way."""
    keras = tf.keras
    with tf.Session(config=one_thread()) as session:
        keras.backend.set_session(session)
        layer = keras.layers.Dense(1, input_shape=(3,), name="dense")
        model = keras.Sequential([layer])
        optimizer = keras.optimizers.Adam(worlds.RATE, epsilon=worlds.EPSILON)
        model.compile(optimizer, "mse")
        layer.set_weights([worlds.KERNEL, worlds.BIAS])
        for _ in range(worlds.STEPS_BEFORE):
            model.train_on_batch(worlds.X, worlds.Y)
        save(session, directory, worlds.STEPS_BEFORE)
        found = {"saved": values(session)}
        for _ in range(worlds.STEPS_AFTER):
            model.train_on_batch(worlds.X, worlds.Y)
        found["after"] = values(session)
    return found


def other_types(directory: str) -> Values:
    """Variables of other types than Keras makes."""
    with tf.variable_scope("dense"):
        tf.get_variable("kernel", initializer=worlds.KERNEL.astype(np.float64))
        tf.get_variable("bias", initializer=worlds.BIAS.astype(np.float16))
    tf.get_variable("global_step", initializer=np.int32(5), trainable=False)
    with tf.Session(config=one_thread()) as session:
        session.run(tf.global_variables_initializer())
        save(session, directory, 5)
        return {"saved": values(session)}


def monitored(directory: str) -> Values:
    """The whole directory of a monitored session, but for its graph and its events."""
    loss = mean_square(dense(tf.constant(worlds.X)))
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(worlds.RATE, epsilon=worlds.EPSILON).minimize(loss, step)
    hook = tf.train.CheckpointSaverHook(
        directory,
        save_steps=2,
        saver=tf.train.Saver(save_relative_paths=True),
    )
    found = {}
    with tf.train.MonitoredTrainingSession(
        config=one_thread(), hooks=[hook, tf.train.StopAtStepHook(last_step=worlds.STEPS_BEFORE)]
    ) as session:
        while not session.should_stop():
            session.run(train_op)
    tf.summary.FileWriterCache.clear()
    for name in os.listdir(directory):
        if not name.startswith(("model.ckpt-", "checkpoint")) or name.endswith(".meta"):
            os.remove(os.path.join(directory, name))
    for name in (f"model.ckpt-{worlds.STEPS_BEFORE - 2}", "model.ckpt-0"):
        assert os.path.exists(os.path.join(directory, name + ".index")), name
    return found


PROGRAMS: dict[str, Callable[[str], Values]] = {
    "ref_variables": ref_variables,
    "scoped_optimizer": scoped_optimizer,
    "renamed_optimizer": renamed_optimizer,
    "partitioned": partitioned,
    "parts": parts,
    "old_format": old_format,
    "old_format_sharded": old_format_sharded,
    "sharded": sharded,
    "moving_averages": moving_averages,
    "slim_names": slim_names,
    "lstm": lstm,
    "gru": gru,
    "keras_in_a_session": keras_in_a_session,
    "other_types": other_types,
    "monitored": monitored,
}


def restored(directory: str, optimizer: Any) -> Values:
    """What TensorFlow 1.15.5 makes of a checkpoint that the bridge wrote for a graph with that optimizer."""
    with tf.variable_scope("", use_resource=True):
        loss = mean_square(dense(tf.constant(worlds.X)))
        step = tf.train.get_or_create_global_step()
    train_op = optimizer.minimize(loss, step)
    with tf.Session(config=one_thread()) as session:
        tf.train.Saver().restore(session, tf.train.latest_checkpoint(directory))
        found = {"saved": values(session)}
        train(session, train_op, worlds.STEPS_AFTER)
        return {**found, "after": values(session)}


def restored_below(directory: str) -> Values:
    found = {}
    for folder, _, names in sorted(os.walk(directory)):
        if "checkpoint" in names:
            with tf.Graph().as_default():
                optimizer = optimizers()[os.path.basename(folder)]()
                found[os.path.relpath(folder, directory)] = restored(folder, optimizer)
    return found


def write(directory: str) -> None:
    """Writes all golden files into a directory."""
    expected = {}
    programs = dict(PROGRAMS)
    for name, make in optimizers().items():
        programs[f"optimizer_{name}"] = lambda folder, make=make: with_optimizer(folder, make())
    for name, program in programs.items():
        folder = os.path.join(directory, name)
        os.makedirs(folder)
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            expected[name] = program(folder)
    with tf.Graph().as_default():
        if os.path.isdir(os.path.join(GOLDEN, FROM_BRIDGE)):
            expected[FROM_BRIDGE] = restored(os.path.join(GOLDEN, FROM_BRIDGE), optimizers()["adam"]())
    made_by = {
        "command": "make oracle",
        "program": "tests/bridge/checkpoint/make_golden.py",
        "tensorflow": tf.VERSION,
    }
    with open(os.path.join(directory, "expected.json"), "w") as file:
        file.write(layout({"made_by": made_by, "programs": expected}) + "\n")


def files(directory: str) -> set[str]:
    return {
        os.path.relpath(os.path.join(folder, name), directory)
        for folder, _, names in os.walk(directory)
        for name in names
        if FROM_BRIDGE not in folder
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a file would change")
    parser.add_argument(
        "--restore",
        metavar="DIRECTORY",
        help="write nothing, print what becomes of the bridge's checkpoints in DIRECTORY/*/<optimizer> (for the tests)",
    )
    arguments = parser.parse_args()
    check = arguments.check
    if tf.VERSION != "1.15.5":
        print(f"The oracle is TensorFlow 1.15.5, and this is {tf.VERSION}.", file=sys.stderr)
        return 2
    if arguments.restore:
        print(json.dumps(restored_below(arguments.restore)))
        return 0
    with tempfile.TemporaryDirectory() as directory:
        write(directory)
        new, old = files(directory), files(GOLDEN)
        changed = sorted(
            name
            for name in new | old
            if name not in new
            or name not in old
            or not filecmp.cmp(os.path.join(directory, name), os.path.join(GOLDEN, name), shallow=False)
        )
        if not check:
            for name in changed:
                path = os.path.join(GOLDEN, name)
                if name in new:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    shutil.copyfile(os.path.join(directory, name), path)
                else:
                    os.remove(path)
    print(f"{len(new)} golden files of checkpoints; changed: {', '.join(changed) or 'none'}")
    return 1 if check and changed else 0


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tf.logging.set_verbosity(tf.logging.ERROR)
    sys.exit(main())
