"""tf.contrib.data and tf.contrib.lookup: words to numbers, batches without remainder, embeddings."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

VOCABULARY = ["<unk>", "good", "bad", "film", "plot", "very", "not"]
SENTENCES = [
    ("good film", 1), ("bad plot", 0), ("very good plot", 1), ("not good", 0), ("very bad film", 0),
    ("not bad film", 1), ("good good plot", 1), ("bad bad film", 0), ("unknown word good", 1), ("not very good", 0),
] * 4


def input_fn():
    table = tf.contrib.lookup.index_table_from_tensor(tf.constant(VOCABULARY), default_value=0)
    sentences, labels = zip(*SENTENCES)
    dataset = tf.data.Dataset.from_tensor_slices((list(sentences), np.array(labels, np.float32)))

    def parse(sentence, label):
        words = tf.string_split([sentence]).values
        return {"ids": table.lookup(words), "length": tf.size(words)}, label

    dataset = dataset.map(parse)
    dataset = dataset.apply(tf.contrib.data.shuffle_and_repeat(1, count=6, seed=1))
    dataset = dataset.padded_batch(8, padded_shapes=({"ids": [3], "length": []}, []))
    dataset = dataset.apply(tf.contrib.data.ignore_errors())
    return dataset.make_initializable_iterator()


def main():
    directory = os.path.join(sys.argv[1], "words")
    iterator = input_fn()
    features, labels = iterator.get_next()
    with tf.variable_scope("embedding"):
        table = tf.get_variable("table", initializer=np.random.RandomState(1).randn(7, 4).astype(np.float32) * 0.3)
    with tf.device("/cpu:0"):
        embedded = tf.nn.embedding_lookup(table, features["ids"])
    mask = tf.expand_dims(tf.sequence_mask(features["length"], 3, dtype=tf.float32), -1)
    mean = tf.reduce_sum(embedded * mask, axis=1) / tf.to_float(features["length"])[:, None]
    w = tf.get_variable("w", initializer=np.ones((4, 1), np.float32) * 0.1)
    logits = tf.squeeze(tf.matmul(mean, w), [1])
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    global_step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=global_step)

    def step_of(run):
        return run([train_op, loss])[1]

    scaffold = tf.train.Scaffold(local_init_op=tf.group(
        tf.local_variables_initializer(), tf.tables_initializer(), iterator.initializer))
    losses = []
    with tf.train.MonitoredTrainingSession(checkpoint_dir=directory, scaffold=scaffold) as sess:
        while not sess.should_stop():
            losses.append(float(step_of(sess.run)))

    print(json.dumps({"step": int(tf.train.load_variable(directory, "global_step")), "loss": losses[-1],
                      "losses": losses[::10], "runs": len(losses),
                      "embedding": tf.train.load_variable(directory, "embedding/table")[1].tolist()}))


if __name__ == "__main__":
    main()
