"""Softmax regression on 8x8 pictures; hooks do all the work, the loop only runs the train op."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

MODEL_DIR = os.path.join(sys.argv[1], "model")
BATCH_SIZE = 32
CLASSES = 10
PIXELS = 64
STEPS = 60


def load_data():
    """Ten prototypes of 64 pixels with noise around them."""
    rng = np.random.RandomState(0)
    prototypes = rng.rand(CLASSES, PIXELS) * 16
    labels = rng.randint(0, CLASSES, size=320)
    images = prototypes[labels] + rng.randn(320, PIXELS) * 2
    return (images / 16).astype(np.float32), labels.astype(np.int32)


def inputs(images, labels):
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    dataset = dataset.repeat().batch(BATCH_SIZE)
    return dataset.make_one_shot_iterator().get_next()


def inference(images):
    with tf.variable_scope("softmax"):
        weights = tf.get_variable("weights", [PIXELS, CLASSES], initializer=tf.zeros_initializer())
        biases = tf.get_variable("biases", [CLASSES], initializer=tf.zeros_initializer())
        return tf.matmul(images, weights) + biases


def final_loss(images, labels):
    """Loss over all pictures with the weights of the last checkpoint."""
    reader = tf.train.load_checkpoint(MODEL_DIR)
    logits = images.dot(reader.get_tensor("softmax/weights")) + reader.get_tensor("softmax/biases")
    logits -= logits.max(axis=1, keepdims=True)
    log_probabilities = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    loss = -log_probabilities[np.arange(len(labels)), labels].mean()
    return int(reader.get_tensor("global_step")), float(loss)


def main():
    images, labels = load_data()
    image_batch, label_batch = inputs(images, labels)
    logits = inference(image_batch)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label_batch, logits=logits))
    tf.summary.scalar("loss", loss)
    global_step = tf.train.get_or_create_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss, global_step=global_step)

    hooks = [
        tf.train.StopAtStepHook(last_step=STEPS),
        tf.train.NanTensorHook(loss),
        tf.train.LoggingTensorHook({"step": global_step, "loss": loss}, every_n_iter=20),
    ]
    config = tf.ConfigProto(allow_soft_placement=True, log_device_placement=False)
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=MODEL_DIR,
            hooks=hooks,
            save_checkpoint_steps=25,
            save_summaries_steps=10,
            log_step_count_steps=20,
            config=config) as mon_sess:
        while not mon_sess.should_stop():
            mon_sess.run(train_op)

    step, loss_value = final_loss(images, labels)
    checkpoints = sorted(
        os.path.basename(path) for path in tf.train.get_checkpoint_state(MODEL_DIR).all_model_checkpoint_paths)
    tags = sorted({
        value.tag
        for name in tf.gfile.ListDirectory(MODEL_DIR) if name.startswith("events")
        for event in tf.train.summary_iterator(os.path.join(MODEL_DIR, name))
        for value in event.summary.value})
    variables = [name for name, _ in tf.train.list_variables(MODEL_DIR)]
    print(json.dumps({"step": step, "loss": loss_value, "checkpoints": checkpoints,
                      "tags": tags, "variables": variables}))


if __name__ == "__main__":
    main()
