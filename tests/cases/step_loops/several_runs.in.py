"""Loops that run more than the step: something that only looks, or an evaluation now and then."""
import tensorflow as tf


def evaluate(session, accuracy, batches):
    total = 0.0
    for _ in range(batches):
        total += session.run(accuracy)
    print("accuracy", total / batches)


def train(train_op, loss, accuracy, global_step, hooks):
    merged = tf.summary.merge_all()
    writer = tf.summary.FileWriter("logs")
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            _, step = sess.run([train_op, global_step])
            # Summaries now and then.
            if step % 100 == 0:
                writer.add_summary(sess.run(merged), step)
            if step % 1000 == 0:
                evaluate(sess, accuracy, 10)


def train_and_look(train_op, loss, x, next_batch, hooks):
    global_step = tf.train.get_or_create_global_step()
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            step = sess.run(global_step)
            sess.run(train_op, feed_dict={x: next_batch(step)})
            loss_value = sess.run(loss)
            print(step, loss_value)
            if loss_value < 0.1:
                break


def train_in_epochs(train_op, loss, valid_loss, batches, valid_batches):
    best = None
    with tf.train.MonitoredTrainingSession(save_checkpoint_secs=60) as sess:
        for epoch in range(10):
            for number in range(batches):
                _, value = sess.run([train_op, loss])
                if number % 10 == 0:
                    print(epoch, number, value)
            print("last", value)
            total = 0.0
            for _ in range(valid_batches):
                total += sess.run(valid_loss)
            best = total if best is None else min(best, total)
    return best


def train_for_a_while(train_op, loss, every, steps):
    with tf.train.SingularMonitoredSession() as sess:
        for number in range(steps):
            sess.run(train_op)
            if number % every == 0:
                loss_value = sess.run(loss)
            print(number, loss_value)
