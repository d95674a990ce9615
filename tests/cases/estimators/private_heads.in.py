import tensorflow as tf
from tensorflow.python.estimator.canned import head as head_lib
from tensorflow.python.estimator.canned import optimizers
from tensorflow.python.estimator.canned.head import _regression_head as make_head
from tensorflow_estimator.python.estimator.canned.head import _multi_class_head_with_softmax_cross_entropy_loss
from tensorflow.python.ops.losses import losses


def model_fn(features, labels, mode, params):
    head = head_lib._binary_logistic_or_multi_class_head(
        n_classes=2, weight_column=None, label_vocabulary=None, loss_reduction=losses.Reduction.SUM)
    other = make_head(label_dimension=2), _multi_class_head_with_softmax_cross_entropy_loss(3)
    logits = tf.layers.dense(features["x"], head.logits_dimension)
    optimizer = optimizers.get_optimizer_instance("Adam", learning_rate=0.1)

    def train_op_fn(loss):
        return optimizer.minimize(loss, global_step=tf.train.get_global_step())

    return head.create_estimator_spec(
        features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits)
