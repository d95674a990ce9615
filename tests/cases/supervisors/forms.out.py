# codemod: --unsafe-fixes
"""Supervisors that only open a session."""
import keras
import bridge
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()


def load(sess):
    print("loading")


def train(train_op, loss, init_op, server, config):
    saver = tf.train.Saver(max_to_keep=3)
    with bridge.MonitoredTrainingSession(
        master=server.target,
        config=config,
        is_chief=True,
        checkpoint_dir="logs",
        save_checkpoint_secs=0,
        save_summaries_secs=None,
        scaffold=tf.train.Scaffold(init_op=init_op, saver=saver, init_fn=lambda scaffold, session: load(session)),
    ) as sess:
        step = 0

        def after_step(value):
            nonlocal step
            step += 1
            if value < 0.1:
                model.stop_training = True
            if not (step < 100):
                model.stop_training = True

        model = bridge.GraphModel(train_op, fetches={"value": loss})
        if step < 100:
            sess.fit(
                model,
                callbacks=[
                    keras.callbacks.LambdaCallback(
                        on_train_batch_end=lambda batch, logs: after_step(**logs)
                    )
                ],
                verbose=0,
            )


with bridge.MonitoredTrainingSession(
    checkpoint_dir="logs",
    save_summaries_secs=10,
    save_checkpoint_secs=None,
) as session:
    while not session.should_stop():
        print(session.run("loss:0"))
