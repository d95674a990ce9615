import bridge
import bridge.legacy_keras
import tensorflow.compat.v1 as tf
from bridge.estimator.heads import canned_regression_head as make_head
from bridge.estimator.heads import canned_multi_class_head as _multi_class_head_with_softmax_cross_entropy_loss


def model_fn(features, labels, mode, params):
    head = bridge.estimator.heads.canned_classification_head(
        n_classes=2, weight_column=None, label_vocabulary=None, loss_reduction=tf.losses.Reduction.SUM)
    other = make_head(label_dimension=2), _multi_class_head_with_softmax_cross_entropy_loss(3)
    logits = tf.layers.dense(features["x"], head.logits_dimension)
    optimizer = bridge.estimator.heads.canned_optimizer("Adam", learning_rate=0.1)

    def train_op_fn(loss):
        return optimizer.minimize(loss, global_step=tf.train.get_global_step())

    return head.create_estimator_spec(
        features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits)
