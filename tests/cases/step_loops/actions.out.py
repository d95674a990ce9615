"""What a loop does with the results of a step."""
import logging
import time

import bridge
import keras
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

log = logging.getLogger(__name__)


def train(train_op, loss, accuracy, global_step, merged, hooks):
    started = time.time()
    losses = []
    writer = tf.summary.FileWriter("logs/own")
    with bridge.MonitoredTrainingSession(checkpoint_dir="logs", hooks=hooks) as sess:
        print("training")

        # The loop.
        def after_step(loss_value, step_value):
            losses.append(loss_value)

            # Now and then.
            if step_value % 10 == 0:
                print("step %d: loss = %.4f (%.1f s)" % (step_value, loss_value, time.time() - started))
                log.info("loss %s", loss_value)

        sess.fit(
            bridge.GraphModel(train_op, fetches={"loss_value": loss, "step_value": global_step}),
            callbacks=[
                keras.callbacks.LambdaCallback(
                    on_train_batch_end=lambda batch, logs: after_step(**logs)
                )
            ],
            verbose=0,
        )
    with bridge.MonitoredTrainingSession() as sess:
        def after_step(step, summary):
            writer.add_summary(summary[0], global_step=step)

        sess.fit(
            bridge.GraphModel([merged, train_op], fetches={"summary": [merged, train_op]}),
            steps_per_epoch=50,
            initial_step=0,
            callbacks=[
                keras.callbacks.LambdaCallback(
                    on_train_batch_end=lambda batch, logs: after_step(batch, **logs)
                )
            ],
            verbose=0,
        )
    print(losses)


def train_with_feeds(train_op, loss, x, data, hooks):
    best = None
    count = 0
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        def next_feed():
            batch = data.next()
            return {x: batch}

        def after_step(value):
            nonlocal best, count
            count += 1
            if best is None or value < best:
                best = value
                tf.logging.info("best so far, in step %d: %s", count, best)

        sess.fit(
            bridge.GraphModel(train_op, fetches={"value": loss}, feed_fn=next_feed),
            callbacks=[
                keras.callbacks.LambdaCallback(
                    on_train_batch_end=lambda batch, logs: after_step(**logs)
                )
            ],
            verbose=0,
        )


number = 0
with bridge.MonitoredTrainingSession() as sess:
    def after_step():
        global number
        number += 1
        print(number)

    sess.fit(
        bridge.GraphModel("train"),
        callbacks=[
            keras.callbacks.LambdaCallback(
                on_train_batch_end=lambda batch, logs: after_step()
            )
        ],
        verbose=0,
    )
