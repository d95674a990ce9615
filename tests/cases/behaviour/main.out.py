#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""Trains."""
from __future__ import absolute_import
import os

import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
import project.model


def main():
    with tf.Session() as sess:
        sess.run(project.model.loss, os.environ)


if __name__ == "__main__":
    main()
