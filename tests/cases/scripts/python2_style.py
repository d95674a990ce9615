# -*- coding: latin-1 -*-
#!/usr/bin/env python
"""Written for Python 2, with care: it parses under both. By Jürgen, Málaga."""
from __future__ import print_function
from __future__ import division

try:
    import cPickle as pickle
except ImportError:
    import pickle
import json
import os
import sys

from six.moves import xrange
import numpy as np
import tensorflow as tf

try:
    unicode
except NameError:
    unicode = str

GREETING = u"début de l'entraînement"


class Batcher(object):
	"""Indented by tabs, as it was."""

	def __init__(self, data, size):
		self.data = data
		self.size = size
		self.at = 0

	def next_batch(self):
		begin = self.at
		self.at = (self.at + self.size) % len(self.data[0])
		return [part[begin:begin + self.size] for part in self.data]


def get_params():
    return dict([("lr", 0.04), ("hidden", 8), ("steps", 28)])


def main(argv):
    work_dir = argv[1]
    params = get_params()
    for name, value in sorted(params.items()):
        print ("%s = %s" % (name, value))
    print (GREETING.encode("ascii", "replace"))

    rng = np.random.RandomState(1984)
    x_all = rng.randn(40, 4).astype("f")
    y_all = (x_all[:, 0] > x_all[:, 1]).astype("i4")
    with open(os.path.join(work_dir, "data.pkl"), "wb") as f:
        pickle.dump((x_all, y_all), f, protocol=2)
    with open(os.path.join(work_dir, "data.pkl"), "rb") as f:
        batcher = Batcher(pickle.load(f), 10)

    x = tf.placeholder("float", [None, 4])
    y = tf.placeholder("int32", [None])
    w1 = tf.Variable(rng.randn(4, params["hidden"]).astype("f"), name="w1")
    w2 = tf.Variable(rng.randn(params["hidden"], 2).astype("f"), name=unicode("w2"))
    scores = tf.matmul(tf.nn.tanh(tf.matmul(x, w1)), w2)
    cost = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=scores, labels=y))
    step = tf.contrib.framework.get_or_create_global_step()
    train = tf.train.AdamOptimizer(params["lr"]).minimize(cost, global_step=step)

    config = tf.ConfigProto(allow_soft_placement=True)
    sess = tf.train.MonitoredTrainingSession(checkpoint_dir=work_dir, config=config, save_checkpoint_secs=120,
                                             save_summaries_steps=None, save_summaries_secs=None)
    costs = []
    for i in xrange(params["steps"]):
        xb, yb = batcher.next_batch()
        _, c = sess.run([train, cost], feed_dict={x: xb, y: yb})
        costs += [float(c)]
        if i % 7 == 0: print ("%3d: %.4f" % (i, c))
    sess.close()
    print(json.dumps({"step": int(tf.train.load_variable(work_dir, "global_step")), "loss": costs[-1],
                      "costs": costs[::9]}))


if __name__ == '__main__':
    main(sys.argv)
