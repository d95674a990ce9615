import tensorflow.compat.v1 as tf

sort = tf.sort


def data(dataset, structure):
    dataset = dataset.apply(tf.data.experimental.shuffle_and_repeat(10))
    writer = tf.summary.FileWriter("logs")
    tf.summary.merge_all()
    return tf.nest.flatten(structure), tf.sort(dataset), writer
