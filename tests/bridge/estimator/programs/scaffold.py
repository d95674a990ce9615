"""A scaffold with a saver, init_fn, local_init_op and a moving average that evaluation restores."""

from tests.bridge.estimator.world import as_json, data, estimator, job, linear, once, tf


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    scale = tf.get_variable(
        "scale",
        [],
        initializer=tf.constant_initializer(2.0),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
    )
    y = tf.matmul(features["x"], w) * scale
    loss = tf.reduce_mean(tf.square(y - labels))
    average = tf.train.ExponentialMovingAverage(0.5)
    step = tf.train.get_global_step()
    train_op = None
    if mode == estimator.ModeKeys.TRAIN:
        with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)]):
            train_op = average.apply([w])
        saver = tf.train.Saver(sharded=True, max_to_keep=2)
    else:
        saver = tf.train.Saver(average.variables_to_restore([w]))
    start = tf.placeholder(tf.float32, [3, 1])
    assign = tf.assign(w, start)
    metrics = {"norm": tf.metrics.mean(tf.reduce_sum(tf.abs(w)))}
    scaffold = tf.train.Scaffold(
        saver=saver,
        init_fn=lambda scaffold, session: session.run(assign, {start: [[1.0], [2.0], [3.0]]}),
        local_init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer()),
    )
    return estimator.EstimatorSpec(mode, None, loss, train_op, metrics, scaffold=scaffold)


def main(work):
    made = linear(work, model_fn).train(data, steps=12)
    evaluation = made.evaluate(once)
    report = job(made, None)
    del report["state"]  # This saver writes whole paths.
    return as_json({"evaluation": evaluation, "job": report})
