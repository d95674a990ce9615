# codemod: --unsafe-fixes
"""Supervisors that only open a session."""
import tensorflow as tf


def load(sess):
    print("loading")


def train(train_op, loss, init_op, server, config):
    saver = tf.train.Saver(max_to_keep=3)
    sv = tf.train.Supervisor(
        is_chief=True,
        logdir="logs",
        init_op=init_op,
        init_fn=load,
        saver=saver,
        summary_op=None,
        global_step=tf.train.get_or_create_global_step(),
        save_model_secs=0,
    )
    with sv.managed_session(server.target, config=config) as sess:
        step = 0
        while not sv.should_stop() and step < 100:
            _, value = sess.run([train_op, loss])
            step += 1
            if value < 0.1:
                break
    sv.stop()


supervisor = tf.train.Supervisor(logdir="logs", saver=None, save_summaries_secs=10)
with supervisor.managed_session() as session:
    while not supervisor.should_stop():
        print(session.run("loss:0"))
