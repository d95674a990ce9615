"""Loops that run more than the step: something that only looks, or an evaluation now and then."""
import bridge
import keras
import tensorflow.compat.v1 as tf


def evaluate(session, accuracy, batches):
    total = 0.0
    for _ in range(batches):
        total += session.run(accuracy)
    print("accuracy", total / batches)


def train(train_op, loss, accuracy, global_step, hooks):
    merged = tf.summary.merge_all()
    writer = tf.summary.FileWriter("logs")
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        def after_step(step):
            # Summaries now and then.
            if step % 100 == 0:
                writer.add_summary(sess.run(merged), step)
            if step % 1000 == 0:
                evaluate(sess, accuracy, 10)
            if sess.should_stop():
                model.stop_training = True

        model = bridge.GraphModel(train_op, fetches={"step": global_step})
        sess.fit(
            model,
            callbacks=[
                keras.callbacks.LambdaCallback(
                    on_train_batch_end=lambda batch, logs: after_step(**logs)
                )
            ],
            verbose=0,
        )


def train_and_look(train_op, loss, x, next_batch, hooks):
    global_step = tf.train.get_or_create_global_step()
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        step: object

        def next_feed():
            nonlocal step
            step = sess.run(global_step)
            return {x: next_batch(step)}

        def after_step():
            loss_value = sess.run(loss)
            print(step, loss_value)
            if loss_value < 0.1:
                model.stop_training = True
            if sess.should_stop():
                model.stop_training = True

        model = bridge.GraphModel(train_op, feed_fn=next_feed)
        sess.fit(
            model,
            callbacks=[
                keras.callbacks.LambdaCallback(
                    on_train_batch_end=lambda batch, logs: after_step()
                )
            ],
            verbose=0,
        )


def train_in_epochs(train_op, loss, valid_loss, batches, valid_batches):
    best = None
    with bridge.MonitoredTrainingSession(save_checkpoint_secs=60) as sess:
        for epoch in range(10):
            value: object

            def after_step(number, new_value):
                nonlocal value
                value = new_value
                if number % 10 == 0:
                    print(epoch, number, value)

            if batches > 0:
                sess.fit(
                    bridge.GraphModel(train_op, fetches={"new_value": loss}, raise_at_end=True),
                    steps_per_epoch=batches,
                    initial_step=0,
                    callbacks=[
                        keras.callbacks.LambdaCallback(
                            on_train_batch_end=lambda batch, logs: after_step(batch, **logs)
                        )
                    ],
                    verbose=0,
                )
            print("last", value)
            total = 0.0
            for _ in range(valid_batches):
                total += sess.run(valid_loss)
            best = total if best is None else min(best, total)
    return best


def train_for_a_while(train_op, loss, every, steps):
    with bridge.MonitoredTrainingSession() as sess:
        loss_value: object

        def after_step(number):
            nonlocal loss_value
            if number % every == 0:
                loss_value = sess.run(loss)
            print(number, loss_value)

        if steps > 0:
            sess.fit(
                bridge.GraphModel(train_op),
                steps_per_epoch=steps,
                initial_step=0,
                callbacks=[
                    keras.callbacks.LambdaCallback(
                        on_train_batch_end=lambda batch, logs: after_step(batch)
                    )
                ],
                verbose=0,
            )
