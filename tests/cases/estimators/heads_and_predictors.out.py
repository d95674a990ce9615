import bridge
import tensorflow.compat.v1 as tf
from bridge.estimator import heads as contrib_estimator
from bridge.estimator import predictor
from bridge.estimator.heads import multi_head
from bridge.estimator import heads as head_lib
from bridge.estimator.predictor import from_saved_model
from bridge.estimator import BaselineClassifier


def model_fn(features, labels, mode, params):
    heads = [
        contrib_estimator.binary_classification_head(name="clicks"),
        bridge.estimator.heads.regression_head(name="price"),
        head_lib.multi_class_head(3, name="kind"),
        bridge.estimator.MultiLabelHead(4, name="tags"),
    ]
    head = multi_head(heads)
    logits = bridge.estimator.experimental.dnn_logit_fn_builder(
        head.logits_dimension, [8], params, tf.nn.relu, dropout=None, input_layer_partitioner=None, batch_norm=False
    )(features, mode)
    optimizer = bridge.estimator.clip_gradients_by_norm(tf.train.AdamOptimizer(), 5.0)
    return head.create_estimator_spec(features, mode, logits, labels, optimizer=optimizer)


class Server(object):
    def __init__(self, folder, columns, receiver_fn):
        baseline = bridge.estimator.forward_features(BaselineClassifier(), keys="id")
        linear = bridge.estimator.LinearEstimator(bridge.estimator.heads.binary_classification_head(), columns)
        self.predictors = [from_saved_model(folder), predictor.from_estimator(linear, receiver_fn)]
        self.old = bridge.estimator.predictor.from_saved_model(folder, signature_def_key="predict")
        self.baseline = baseline
