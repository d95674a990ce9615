import tensorflow as tf
from tensorflow.contrib.training import HParams
from tensorflow.contrib.framework import get_or_create_global_step, nest
from tensorflow.contrib import lookup as lookup_lib

framework = tf.contrib.framework
signal = tf.contrib.signal


def input_fn(words):
    hparams = HParams(size=3)
    table = lookup_lib.index_table_from_file(vocabulary_file="words.txt", num_oov_buckets=1)
    back = tf.contrib.lookup.index_to_string_table_from_tensor(["a"])
    initializer = tf.contrib.lookup.KeyValueTensorInitializer(["a"], [1])
    counts = tf.contrib.lookup.HashTable(initializer, 0)
    dataset = tf.data.Dataset.from_tensor_slices(words).apply(tf.contrib.data.enumerate_dataset(3))
    dataset = dataset.apply(
        tf.contrib.data.padded_batch_and_drop_remainder(
            hparams.size, padded_shapes=[None]))
    dataset.apply(tf.contrib.data.batch_and_drop_remainder(batch_size=3))
    return nest.map_structure(tf.identity, (table, back, counts, nest.is_sequence(dataset)))


def model(x):
    get_or_create_global_step()
    framework.get_global_step()
    framework.init_from_checkpoint("model", {"/": "/"})
    signal.stft(x, 3, 3)
    tf.contrib.metrics.confusion_matrix(x, x)
    return tf.contrib.distributions.Normal(0.0, 1.0).sample(), tf.contrib.linalg.LinearOperatorDiag(x)
