"""A legacy script after `disable_v2_behavior()`, run in a process of its own; prints what came out as JSON.

python legacy_program.py FOLDER STEPS [hook]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import keras
import tensorflow.compat.v1 as tf

from bridge.callback_hook import CallbackHook
from bridge.graph_model import GraphModel

STEPS_PER_EPOCH = 4


def main(folder: Path, steps: int, *, hook: bool) -> None:
    tf.disable_v2_behavior()
    data = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1, 1000)).get_next()
    loss = tf.cast(data, tf.float32, name="loss")
    rate = tf.placeholder_with_default(1.0, [], name="rate")
    weight = tf.get_variable("weight", initializer=0.0)
    with tf.control_dependencies([loss]):
        moved = weight.assign_add(rate)
    step = tf.train.get_or_create_global_step()
    train_op = tf.group(moved, tf.assign_add(step, 1))

    callbacks = [
        keras.callbacks.LearningRateScheduler(lambda epoch, rate: float(epoch + 1)),
        keras.callbacks.TensorBoard(str(folder / "board"), histogram_freq=1),
        keras.callbacks.CSVLogger(folder / "log.csv", append=True),
        keras.callbacks.ModelCheckpoint(folder / "w.weights.h5", save_weights_only=True),
        keras.callbacks.EarlyStopping("loss", patience=100, mode="max", restore_best_weights=True),
    ]
    hooks = [tf.train.StopAtStepHook(num_steps=steps)]
    options = {"learning_rate": rate, "logs": {"loss": loss}}
    if hook:
        found = CallbackHook(callbacks, steps_per_epoch=STEPS_PER_EPOCH, **options)
        hooks.append(found)
    else:
        model = GraphModel(train_op, **options)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(folder), hooks=hooks) as session:
        if hook:
            while not session.should_stop():
                session.run(train_op)
            history = found.history
        else:
            first = session.run_step_fn(lambda step_context: step_context.session.run(step))
            history = model.fit_in(
                session,
                epochs=100,
                steps_per_epoch=STEPS_PER_EPOCH,
                initial_step=int(first),
                callbacks=callbacks,
                verbose=2,
            )
    saved = tf.train.load_checkpoint(str(folder))
    result = {
        "epochs": history.epoch,
        "history": history.history,
        "step": int(saved.get_tensor("global_step")),
        "weight": float(saved.get_tensor("weight")),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), hook="hook" in sys.argv)
