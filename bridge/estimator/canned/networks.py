"""The networks of canned estimators, with the variables' names that they have in v1's checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
_BASELINE_RATE = 0.3
_COMBINED_DEEP_RATE, _COMBINED_LINEAR_RATE = 0.001, 0.005  # Others than those of each alone, as in v1.
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


@dataclass(frozen=True)
class DeepPart:
    """Dense layers over feature columns.

    Attributes:
      hidden_units: The size of each hidden layer.
      feature_columns: Dense columns.
      optimizer: As for `DNNClassifier`.
      activation_fn: The hidden layers' activation.
      dropout: The probability with which a value is dropped; None for none.
      batch_norm: Whether batch normalization comes after each hidden layer.
    """

    hidden_units: Sequence[int]
    feature_columns: Sequence[Any]
    optimizer: Any
    activation_fn: Any
    dropout: float | None
    batch_norm: bool

    def logits(self, features: Any, units: int, is_training: bool, input_partitioner: Any) -> Any:
        """Returns the logits; it is called in the scope of the part's variables.

        Args:
          features: The features.
          units: How many logits an example has.
          is_training: Whether the network is trained.
          input_partitioner: The partitioner of the columns' variables.
        """
        with tf1.variable_scope("input_from_feature_columns", partitioner=input_partitioner):
            net = tf1.feature_column.input_layer(features, self.feature_columns)
        for index, size in enumerate(self.hidden_units):
            with tf1.variable_scope(f"hiddenlayer_{index}") as scope:
                net = _dense(net, size, self.activation_fn)
                if self.dropout is not None and is_training:
                    net = tf.nn.dropout(net, rate=self.dropout)
                if self.batch_norm:
                    with tf1.variable_scope(f"batchnorm_{index}"):
                        net = _batch_norm(net, is_training)
            _summarise(net, scope.name)
        with tf1.variable_scope("logits") as scope:
            logits = _dense(net, units, None)
        _summarise(logits, scope.name)
        return logits


@dataclass(frozen=True)
class LinearPart:
    """A linear model over feature columns.

    Attributes:
      feature_columns: Columns, dense or categorical.
      optimizer: As for `DNNClassifier`.
      sparse_combiner: How several values of a categorical column come together.
    """

    feature_columns: Sequence[Any]
    optimizer: Any
    sparse_combiner: str

    def logits(self, features: Any, units: int) -> Any:
        """Returns the logits; it is called in the scope of the part's variables.

        Args:
          features: The features.
          units: How many logits an example has.
        """
        columns_to_variables: dict[Any, Any] = {}
        logits = tf1.feature_column.linear_model(
            features,
            self.feature_columns,
            units=units,
            sparse_combiner=self.sparse_combiner,
            cols_to_vars=columns_to_variables,
        )
        _summarise_linear(columns_to_variables, units)
        return logits

    def made_optimizer(self, highest_rate: float) -> Any:
        """Returns the optimizer; one that is a name has the rate that v1 gave it.

        Args:
          highest_rate: What the rate is for few columns.
        """
        return optimizer_of(self.optimizer, min(highest_rate, 1.0 / math.sqrt(len(self.feature_columns))))


def deep_model_fn(head: Head, part: DeepPart, input_layer_partitioner: Any) -> ModelFn:
    """Returns the `model_fn` of a network of dense layers; arguments as for `DNNClassifier`."""

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        _check_features(features)
        is_training = mode == ModeKeys.TRAIN
        made = optimizer_of(part.optimizer, _DEEP_RATE) if is_training else None
        with tf1.variable_scope("dnn", partitioner=_partitioner(config)):
            input_partitioner = input_layer_partitioner or _partitioner(config, _INPUT_SLICE)
            logits = part.logits(features, head.logits_dimension, is_training, input_partitioner)
            # Inside of the scope, which is a part of the slots' names in v1's checkpoints.
            return spec_of(head, features, labels, mode, logits, _step_of(made))

    return model_fn


def linear_model_fn(head: Head, part: LinearPart, partitioner: Any) -> ModelFn:
    """Returns the `model_fn` of a linear model over feature columns; arguments as for `LinearClassifier`."""

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        _check_features(features)
        with tf1.variable_scope("linear", partitioner=partitioner or _partitioner(config, _INPUT_SLICE)):
            # In this scope, unlike that of dense layers, as in v1: a function may summarise its rate.
            made = part.made_optimizer(_LINEAR_RATE) if mode == ModeKeys.TRAIN else None
            logits = part.logits(features, head.logits_dimension)
            return spec_of(head, features, labels, mode, logits, _step_of(made))

    return model_fn


def baseline_model_fn(head: Any, optimizer: Any, weight_column: Any) -> ModelFn:
    """Returns the `model_fn` of a constant prediction; arguments as for `BaselineEstimator`.

    Args:
      head: What stands on the logits.
      optimizer: As there.
      weight_column: What is no feature whose size counts, for it may be missing from a served example.
    """
    weight = getattr(weight_column, "key", weight_column)

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        _check_features(features)
        sizes = [tf.shape(value)[0] for name, value in features.items() if name != weight]
        if not sizes:
            raise EstimatorError(
                "There are no features, so that the number of examples is not known. Give one."
            )
        checks = [tf1.assert_equal(sizes[0], size) for size in sizes[1:]]
        with tf1.control_dependencies(checks), tf1.variable_scope("baseline"):
            shape = [head.logits_dimension]
            bias = tf1.get_variable("bias", shape, initializer=tf1.zeros_initializer())
            logits = bias * tf.ones([sizes[0], *shape])

        def train(loss: Any) -> Any:
            return _step_of(optimizer_of(optimizer, _BASELINE_RATE))(loss)

        return spec_of(head, features, labels, mode, logits, train)

    return model_fn


def combined_model_fn(
    head: Head, linear: LinearPart | None, deep: DeepPart | None, input_layer_partitioner: Any
) -> ModelFn:
    """Returns the `model_fn` of the sum of a linear model and dense layers.

    Args:
      head: What stands on the sum of the logits.
      linear: The linear model; None for none.
      deep: The dense layers; None for none.
      input_layer_partitioner: As for `DNNLinearCombinedClassifier`.
    """

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        _check_features(features)
        is_training = mode == ModeKeys.TRAIN
        input_partitioner = input_layer_partitioner or _partitioner(config, _INPUT_SLICE)
        logits, optimizers = [], {}
        if deep is not None:
            with tf1.variable_scope("dnn", partitioner=_partitioner(config)) as scope:
                logits.append(deep.logits(features, head.logits_dimension, is_training, input_partitioner))
            if is_training:
                optimizers[scope.name] = _one_of_two(optimizer_of(deep.optimizer, _COMBINED_DEEP_RATE))
        if linear is not None:
            with tf1.variable_scope("linear", partitioner=input_partitioner) as scope:
                logits.append(linear.logits(features, head.logits_dimension))
                _summarise(logits[-1], scope.name)
            if is_training:
                optimizers[scope.name] = _one_of_two(linear.made_optimizer(_COMBINED_LINEAR_RATE))

        def train(loss: Any) -> Any:
            # Each optimizer has the variables of its own part, and one global step is counted after both.
            steps = [made.minimize(loss, var_list=_trainable(name)) for name, made in optimizers.items()]
            with tf1.control_dependencies(steps):
                return tf.group(tf1.assign_add(tf1.train.get_global_step(), 1))

        # Outside of the parts' scopes: here they are no part of the slots' names in v1's checkpoints.
        return spec_of(head, features, labels, mode, sum(logits[1:], logits[0]), train)

    return model_fn


def spec_of(
    head: Any, features: Any, labels: Any, mode: str, logits: Any, train: Callable[[Any], Any]
) -> EstimatorSpec:
    """Returns what a head, perhaps the user's own, makes of logits.

    Args:
      head: The head.
      features: The features.
      labels: The labels; None in predictions.
      mode: One of `ModeKeys`.
      logits: The logits.
      train: Returns the step of the training for a loss; it counts the global step. It is called in trainings only.
    """

    def train_op_fn(loss: Any) -> Any:
        # Only heads of contrib run the updates of batch normalization themselves.
        return tf.group(train(loss), *tf1.get_collection(tf1.GraphKeys.UPDATE_OPS))

    spec: EstimatorSpec = head.create_estimator_spec(
        features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn
    )
    return spec


def _step_of(optimizer: Any) -> Callable[[Any], Any]:
    return lambda loss: optimizer.minimize(loss, global_step=tf1.train.get_global_step())


def _trainable(scope: str) -> Any:
    return tf1.get_collection(tf1.GraphKeys.TRAINABLE_VARIABLES, scope=scope)


def _one_of_two(optimizer: Any) -> Any:
    if isinstance(optimizer, tf1.train.SyncReplicasOptimizer):
        raise EstimatorError(
            "SyncReplicasOptimizer does not support multi optimizers case, as DNNLinearCombined models have it. Use a DNN or a linear "
            "model, or give the optimizer that it wraps."
        )
    return optimizer


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
