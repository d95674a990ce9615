import tensorflow as tf
from tensorflow.contrib import framework as contrib_framework
from tensorflow.contrib.framework import nest

sort = contrib_framework.sort


def data(dataset, structure):
    dataset = dataset.apply(tf.contrib.data.shuffle_and_repeat(10))
    writer = tf.train.SummaryWriter("logs")
    tf.merge_all_summaries()
    return nest.flatten(structure), sort(dataset), writer
