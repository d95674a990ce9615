import bridge.lookup
import tensorflow.compat.v1 as tf
from bridge.hparams import HParams
from bridge import lookup as lookup_lib

signal = tf.signal


def input_fn(words):
    hparams = HParams(size=3)
    table = lookup_lib.index_table_from_file(vocabulary_file="words.txt", num_oov_buckets=1)
    back = bridge.lookup.index_to_string_table_from_tensor(["a"])
    initializer = tf.lookup.KeyValueTensorInitializer(["a"], [1])
    counts = tf.lookup.StaticHashTable(initializer, 0)
    dataset = tf.data.Dataset.from_tensor_slices(words).apply(tf.data.experimental.enumerate_dataset(3))
    dataset = dataset.padded_batch(
        hparams.size, padded_shapes=[None], drop_remainder=True)
    dataset.batch(batch_size=3, drop_remainder=True)
    return tf.nest.map_structure(tf.identity, (table, back, counts, tf.nest.is_nested(dataset)))


def model(x):
    tf.train.get_or_create_global_step()
    tf.train.get_global_step()
    tf.train.init_from_checkpoint("model", {"/": "/"})
    signal.stft(x, 3, 3)
    tf.confusion_matrix(x, x)
    return tf.distributions.Normal(0.0, 1.0).sample(), tf.linalg.LinearOperatorDiag(x)
