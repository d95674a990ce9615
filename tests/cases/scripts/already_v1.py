"""Half moved already: compat.v1 imported, v2 behaviour off; only the monitored session is left to be replaced."""
import json
import os
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def main():
    model_dir = os.path.join(sys.argv[1], "v1")
    x_data = np.linspace(0, 1, 40, dtype=np.float32)[:, None]
    y_data = np.sqrt(x_data)
    x, y = tf.data.make_one_shot_iterator(
        tf.data.Dataset.from_tensor_slices((x_data, y_data)).repeat().batch(8)).get_next()
    with tf.variable_scope("net", initializer=tf.constant_initializer(0.2)):
        a = tf.get_variable("a", [1, 3])
        b = tf.get_variable("b", [3], initializer=tf.constant_initializer([0.0, 0.1, -0.1]))
        c = tf.get_variable("c", [3, 1])
    loss = tf.reduce_mean(tf.squared_difference(tf.matmul(tf.tanh(tf.matmul(x, a) + b), c), y))
    global_step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdagradOptimizer(0.2).minimize(loss, global_step=global_step)
    tf.summary.scalar("loss", loss)

    hooks = [tf.train.StopAtStepHook(last_step=50),
             tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=25)]
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=model_dir, hooks=hooks, save_checkpoint_steps=20, save_summaries_steps=25) as sess:
        while not sess.should_stop():
            sess.run(train_op)

    variables = {name: tf.train.load_variable(model_dir, name) for name, _ in tf.train.list_variables(model_dir)}
    hidden = np.tanh(x_data.dot(variables["net/a"]) + variables["net/b"])
    final = np.mean((hidden.dot(variables["net/c"]) - y_data) ** 2)
    tags = sorted({value.tag for path in tf.gfile.Glob(model_dir + "/events*")
                   for event in tf.train.summary_iterator(path) for value in event.summary.value})
    print(json.dumps({"step": int(variables["global_step"]), "loss": float(final), "variables": sorted(variables),
                      "tags": tags}))


if __name__ == "__main__":
    main()
