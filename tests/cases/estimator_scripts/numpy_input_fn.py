"""tf.estimator.inputs.numpy_input_fn with epochs and a last short batch; hooks of TensorFlow in train."""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow import estimator as est

tf.logging.set_verbosity(tf.logging.WARN)


def cnn_model_fn(features, labels, mode):
    """A little convolution over 6x6 pictures."""
    rng = np.random.RandomState(12)
    picture = tf.reshape(features["x"], [-1, 6, 6, 1])
    filters = tf.get_variable("conv/kernel", initializer=rng.normal(0, 0.3, (3, 3, 1, 5)).astype("float32"))
    net = tf.nn.relu(tf.nn.conv2d(picture, filters, strides=[1, 1, 1, 1], padding="VALID"))
    net = tf.nn.max_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    net = tf.reshape(net, [-1, 20])
    kernel = tf.get_variable("logits/kernel", initializer=rng.normal(0, 0.3, (20, 3)).astype("float32"))
    logits = tf.matmul(net, kernel)
    predictions = {
        "classes": tf.argmax(input=logits, axis=1),
        "probabilities": tf.nn.softmax(logits, name="softmax_tensor"),
    }
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode=mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == est.ModeKeys.TRAIN:
        optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)
        train_op = optimizer.minimize(loss=loss, global_step=tf.train.get_global_step())
        return est.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)
    eval_metric_ops = {
        "accuracy": tf.metrics.accuracy(labels=labels, predictions=predictions["classes"])}
    return est.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops=eval_metric_ops)


def pictures(n, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 3, n).astype(np.int32)
    images = rng.rand(n, 36).astype(np.float32)
    for image, label in zip(images, labels):
        image[label * 12:label * 12 + 12] += 0.8
    return images, labels


def main(unused_argv):
    train_data, train_labels = pictures(70, 0)
    eval_data, eval_labels = pictures(30, 1)
    classifier = est.Estimator(model_fn=cnn_model_fn, model_dir=os.path.join(sys.argv[1], "convnet"))
    logging_hook = tf.train.LoggingTensorHook(tensors={"probabilities": "softmax_tensor"}, every_n_iter=10)
    train_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={"x": train_data}, y=train_labels, batch_size=16, num_epochs=3, shuffle=False)
    classifier.train(input_fn=train_input_fn, hooks=[logging_hook])
    eval_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={"x": eval_data}, y=eval_labels, num_epochs=1, shuffle=False)
    eval_results = classifier.evaluate(input_fn=eval_input_fn)
    print(eval_results)
    predict_input_fn = tf.estimator.inputs.numpy_input_fn({"x": eval_data[:4]}, shuffle=False)
    classes = [int(p["classes"]) for p in classifier.predict(predict_input_fn, predict_keys=["classes"])]
    print(json.dumps({"step": int(eval_results["global_step"]), "loss": float(eval_results["loss"]),
                      "accuracy": float(eval_results["accuracy"]), "classes": classes}))


if __name__ == "__main__":
    tf.app.run()
