"""Loops that are left early, whose values outlive them, and that do things before the run."""
import time

import bridge
import keras
import tensorflow.compat.v1 as tf

MAX_STEPS = 500


def show(step, loss_value, seconds=None):
    line = "step %d: loss = %.3f" % (step, loss_value)
    if seconds is not None:
        line += " (%.3f s)" % seconds
    print(line)


def train(train_op, loss, accuracy, global_step, hooks):
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        accuracy_value: object

        def after_step(step, new_accuracy_value):
            nonlocal accuracy_value
            accuracy_value = new_accuracy_value
            if step % 100 == 0:
                print(step, accuracy_value)

        sess.fit(
            bridge.GraphModel(
                train_op,
                fetches={"step": global_step, "new_accuracy_value": accuracy},
            ),
            callbacks=[
                keras.callbacks.LambdaCallback(
                    on_train_batch_end=lambda batch, logs: after_step(**logs)
                )
            ],
            verbose=0,
        )
    return accuracy_value


def train_for_a_while(train_op, loss, global_step, hooks):
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        start_time: object

        def before_step():
            nonlocal start_time
            start_time = time.time()

        def after_step(step, loss_value):
            seconds = time.time() - start_time
            show(step, loss_value, seconds)
            if step >= MAX_STEPS or loss_value < 0.01:
                print("good enough")
                model.stop_training = True

        model = bridge.GraphModel(
            train_op,
            fetches={"step": global_step, "loss_value": loss},
            raise_at_end=True,
        )
        sess.fit(
            model,
            callbacks=[
                keras.callbacks.LambdaCallback(
                    on_train_batch_begin=lambda batch, logs: before_step(),
                    on_train_batch_end=lambda batch, logs: after_step(**logs),
                )
            ],
            verbose=0,
        )
        print("done")


def train_in_rounds(train_op, losses, names, hooks):
    total = 0.0
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        def after_step(step, values):
            nonlocal total
            if step % 10:
                return
            # Now and then.
            for name, value in zip(names, values):
                print(name, value)
                total += value
            with open("log.txt", "a") as log:
                log.write("%d %s\n" % (step, values))

        sess.fit(
            bridge.GraphModel(train_op, fetches={"values": losses}),
            steps_per_epoch=MAX_STEPS - 1,
            initial_step=0,
            callbacks=[
                keras.callbacks.LambdaCallback(
                    on_train_batch_end=lambda batch, logs: after_step(batch + 1, **logs)
                )
            ],
            verbose=0,
        )
    return total


def go_on(train_op, loss, start_step, hooks):
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        def after_step(step, value):
            show(step, value)

        if MAX_STEPS > 0:
            sess.fit(
                bridge.GraphModel(train_op, fetches={"value": loss}),
                steps_per_epoch=MAX_STEPS,
                initial_step=0,
                callbacks=[
                    keras.callbacks.LambdaCallback(
                        on_train_batch_end=lambda batch, logs: after_step(batch + start_step, **logs)
                    )
                ],
                verbose=0,
            )


def go_on_to_the_end(train_op, args):
    with bridge.MonitoredTrainingSession() as sess:
        if MAX_STEPS > args.first:
            sess.fit(
                bridge.GraphModel(train_op),
                steps_per_epoch=MAX_STEPS - args.first,
                initial_step=0,
                verbose=0,
            )
