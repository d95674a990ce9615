import tensorflow as tf
from tensorflow.contrib import estimator as contrib_estimator
from tensorflow.contrib import predictor
from tensorflow.contrib.estimator import multi_head
from tensorflow.contrib.estimator.python.estimator import head as head_lib
from tensorflow.contrib.predictor import from_saved_model
from tensorflow.python.estimator.canned.baseline import BaselineClassifier


def model_fn(features, labels, mode, params):
    heads = [
        contrib_estimator.binary_classification_head(name="clicks"),
        tf.contrib.estimator.regression_head(name="price"),
        head_lib.multi_class_head(3, name="kind"),
        tf.estimator.MultiLabelHead(4, name="tags"),
    ]
    head = multi_head(heads)
    logits = tf.estimator.experimental.dnn_logit_fn_builder(
        head.logits_dimension, [8], params, tf.nn.relu, dropout=None, input_layer_partitioner=None, batch_norm=False
    )(features, mode)
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.AdamOptimizer(), 5.0)
    return head.create_estimator_spec(features, mode, logits, labels, optimizer=optimizer)


class Server(object):
    def __init__(self, folder, columns, receiver_fn):
        baseline = tf.contrib.estimator.forward_features(BaselineClassifier(), keys="id")
        linear = tf.estimator.LinearEstimator(tf.contrib.estimator.binary_classification_head(), columns)
        self.predictors = [from_saved_model(folder), predictor.from_estimator(linear, receiver_fn)]
        self.old = tf.contrib.predictor.from_saved_model(folder, signature_def_key="predict")
        self.baseline = baseline
