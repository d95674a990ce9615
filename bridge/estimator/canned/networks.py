"""The two networks of canned estimators, with the variables' names that they have in v1's checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from bridge.estimator.canned.heads import Head
from bridge.estimator.canned.optimizers import optimizer_of
from bridge.estimator.errors import EstimatorError
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.model_fn import EstimatorSpec
from bridge.estimator.run_config import RunConfig

tf1 = tf.compat.v1

ModelFn = Callable[..., EstimatorSpec]

_DEEP_RATE, _LINEAR_RATE = 0.05, 0.2
_INPUT_SLICE = 64 << 20
_BATCH_NORM_MOMENTUM, _BATCH_NORM_EPSILON = 0.999, 0.001


def _check_features(features: Any) -> None:
    if not isinstance(features, dict):
        raise EstimatorError(f"features should be a dictionary of Tensors, but they are {features!r}.")


def _partitioner(config: RunConfig, min_slice_size: int = 256 << 10) -> Any:
    """Splits variables over the parameter servers, as v1 did.

    Without servers there is one part, by whose name v1 calls the optimizer's slots in its checkpoints.
    """
    return tf1.min_max_variable_partitioner(
        max_partitions=config.num_ps_replicas, min_slice_size=min_slice_size
    )


def _summarise(value: Any, scope: str) -> None:
    tf1.summary.scalar(f"{scope}/fraction_of_zero_values", tf.nn.zero_fraction(value))
    tf1.summary.histogram(f"{scope}/activation", value)


def _dense(net: Any, units: int, activation: Any) -> Any:
    kernel = tf1.get_variable("kernel", [net.shape[-1], units], initializer=tf1.glorot_uniform_initializer())
    bias = tf1.get_variable("bias", [units], initializer=tf1.zeros_initializer())
    net = tf.nn.bias_add(tf.matmul(net, kernel), bias)
    return net if activation is None else activation(net)


def _batch_norm(net: Any, is_training: bool) -> Any:
    size = [net.shape[-1]]
    ones, zeros = tf1.ones_initializer(), tf1.zeros_initializer()
    gamma = tf1.get_variable("gamma", size, initializer=ones)
    beta = tf1.get_variable("beta", size, initializer=zeros)
    tf1.get_variable_scope().set_partitioner(None)
    moving_mean = tf1.get_variable("moving_mean", size, initializer=zeros, trainable=False)
    moving_variance = tf1.get_variable("moving_variance", size, initializer=ones, trainable=False)
    mean, variance = moving_mean, moving_variance
    if is_training:
        mean, variance = tf.nn.moments(net, [0])
        for moving, value in ((moving_mean, mean), (moving_variance, variance)):
            update = tf1.assign_sub(moving, (moving - value) * (1 - _BATCH_NORM_MOMENTUM))
            tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, update)
    return tf.nn.batch_normalization(net, mean, variance, beta, gamma, _BATCH_NORM_EPSILON)


def deep_model_fn(
    head: Head,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    optimizer: Any,
    activation_fn: Any,
    dropout: float | None,
    batch_norm: bool,
    input_layer_partitioner: Any,
) -> ModelFn:
    """Returns the `model_fn` of a network of dense layers over feature columns; arguments as for `DNNClassifier`."""

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        _check_features(features)
        is_training = mode == ModeKeys.TRAIN
        with tf1.variable_scope("dnn", partitioner=_partitioner(config)):
            input_partitioner = input_layer_partitioner or _partitioner(config, _INPUT_SLICE)
            with tf1.variable_scope("input_from_feature_columns", partitioner=input_partitioner):
                net = tf1.feature_column.input_layer(features, feature_columns)
            for index, units in enumerate(hidden_units):
                with tf1.variable_scope(f"hiddenlayer_{index}") as scope:
                    net = _dense(net, units, activation_fn)
                    if dropout is not None and is_training:
                        net = tf.nn.dropout(net, rate=dropout)
                    if batch_norm:
                        with tf1.variable_scope(f"batchnorm_{index}"):
                            net = _batch_norm(net, is_training)
                _summarise(net, scope.name)
            with tf1.variable_scope("logits") as scope:
                logits = _dense(net, head.logits_dimension, None)
            _summarise(logits, scope.name)
            made = optimizer_of(optimizer, _DEEP_RATE) if is_training else None
            # Inside of the scope, which is a part of the slots' names in v1's checkpoints.
            return head.spec(features, labels, mode, logits, made)

    return model_fn


def linear_model_fn(
    head: Head, feature_columns: Sequence[Any], optimizer: Any, partitioner: Any, sparse_combiner: str
) -> ModelFn:
    """Returns the `model_fn` of a linear model over feature columns; arguments as for `LinearClassifier`."""

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        _check_features(features)
        columns_to_variables: dict[Any, Any] = {}
        with tf1.variable_scope("linear", partitioner=partitioner or _partitioner(config, _INPUT_SLICE)):
            logits = tf1.feature_column.linear_model(
                features,
                feature_columns,
                units=head.logits_dimension,
                sparse_combiner=sparse_combiner,
                cols_to_vars=columns_to_variables,
            )
            _summarise_linear(columns_to_variables, head.logits_dimension)
            made = None
            if mode == ModeKeys.TRAIN:
                rate = min(_LINEAR_RATE, 1.0 / math.sqrt(len(feature_columns)))
                made = optimizer_of(optimizer, rate)
            return head.spec(features, labels, mode, logits, made)

    return model_fn


def _summarise_linear(columns_to_variables: dict[Any, Any], units: int) -> None:
    bias = columns_to_variables.pop("bias")[0]
    weights = [variable for variables in columns_to_variables.values() for variable in variables]
    if units > 1:
        tf1.summary.histogram("bias", bias)
    else:
        tf1.summary.scalar("bias", bias[0])
    zeros = tf.add_n([tf.reduce_sum(tf.cast(tf.equal(variable, 0), tf.float32)) for variable in weights])
    sizes = tf.add_n([tf.size(variable) for variable in weights])
    tf1.summary.scalar("fraction_of_zero_weights", zeros / tf.cast(sizes, tf.float32))
