"""The models of the exactness table: tiny, and each with something that a step graph could get wrong.

Each builder takes the Keras package (`keras` or `tf_keras`) and returns a model that is not compiled yet.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf

Keras = Any  # The module `keras` or `tf_keras`.
Model = Any

FEATURES = 6
CLASSES = 3
STEPS, STEP_FEATURES = 5, 4  # of a sequence
SIDE = 6  # of an image
VOCABULARY = 11


def mlp(k: Keras) -> Model:
    return k.Sequential([k.Input((FEATURES,)), k.layers.Dense(5, activation="relu"), k.layers.Dense(1)])


def classifier(k: Keras) -> Model:
    return k.Sequential(
        [
            k.Input((FEATURES,)),
            k.layers.Dense(5, activation="tanh"),
            k.layers.Dense(CLASSES, activation="softmax"),
        ]
    )


def normed(k: Keras) -> Model:
    return k.Sequential(
        [
            k.Input((FEATURES,)),
            k.layers.Dense(6, activation="relu", kernel_regularizer="l2"),
            k.layers.BatchNormalization(),
            k.layers.Dropout(0.3),
            k.layers.Dense(1),
        ]
    )


def undropped(k: Keras) -> Model:
    return k.Sequential(
        [
            k.Input((FEATURES,)),
            k.layers.Dense(6, activation="relu"),
            k.layers.BatchNormalization(),
            k.layers.Dense(1),
        ]
    )


def deferred(k: Keras) -> Model:
    """Has no variables before the first batch."""
    return k.Sequential([k.layers.Dense(5, activation="relu"), k.layers.Dropout(0.2), k.layers.Dense(1)])


def dicts(k: Keras) -> Model:
    """Takes and gives dictionaries; one layer serves both inputs."""
    left, right = k.Input((FEATURES,), name="left"), k.Input((FEATURES,), name="right")
    shared = k.layers.Dense(5, activation="relu")
    joined = k.layers.Concatenate()([shared(left), shared(right)])
    outputs = {
        "total": k.layers.Dense(1, name="total")(joined),
        "label": k.layers.Dense(CLASSES, activation="softmax", name="label")(joined),
    }
    return k.Model({"left": left, "right": right}, outputs)


def lists(k: Keras) -> Model:
    first, second = k.Input((FEATURES,)), k.Input((FEATURES,))
    a = k.layers.Dense(4, activation="relu")(first)
    b = k.layers.Dense(4, activation="gelu")(second)
    joined = k.layers.Add()([a, b])
    return k.Model(
        [first, second], [k.layers.Dense(1)(joined), k.layers.Dense(2)(k.layers.Multiply()([a, b]))]
    )


def nested(k: Keras) -> Model:
    """A model within a model, the inner one used twice."""
    encoder = k.Sequential(
        [k.Input((FEATURES,)), k.layers.Dense(FEATURES, activation="relu"), k.layers.LayerNormalization()],
        name="encoder",
    )
    inputs = k.Input((FEATURES,))
    return k.Model(inputs, k.layers.Dense(1)(encoder(encoder(inputs))))


def subclassed(k: Keras) -> Model:
    """Subclassed, with layers in a list, an auxiliary loss and a metric of its own."""

    class Block(k.layers.Layer):
        def __init__(self, units: int) -> None:
            super().__init__()
            self.inner = k.layers.Dense(units, activation="relu")
            self.norm = k.layers.BatchNormalization()

        def call(self, inputs: Any, training: bool = False) -> Any:
            return self.norm(self.inner(inputs), training=training)

    class Tower(k.Model):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [Block(5), Block(4)]
            self.drop = k.layers.Dropout(0.25)
            self.head = k.layers.Dense(1)

        def call(self, inputs: Any, training: bool = False) -> Any:
            for block in self.blocks:
                inputs = block(inputs, training=training)
            self.add_loss(0.01 * tf.reduce_mean(tf.square(inputs)))
            return self.head(self.drop(inputs, training=training))

    return Tower()


def conv(k: Keras) -> Model:
    return k.Sequential(
        [
            k.Input((SIDE, SIDE, 1)),
            k.layers.Conv2D(4, 3, activation="relu"),
            k.layers.BatchNormalization(),
            k.layers.MaxPooling2D(),
            k.layers.Flatten(),
            k.layers.Dense(CLASSES),
        ]
    )


def separable(k: Keras) -> Model:
    return k.Sequential(
        [
            k.Input((SIDE, SIDE, 1)),
            k.layers.SeparableConv2D(3, 3, padding="same", activation="swish"),
            k.layers.DepthwiseConv2D(3, use_bias=False),
            k.layers.SpatialDropout2D(0.2),
            k.layers.Conv2DTranspose(2, 3, strides=2),
            k.layers.GlobalAveragePooling2D(),
            k.layers.Dense(CLASSES),
        ]
    )


def augmented(k: Keras) -> Model:
    """Changes its images at random before it looks at them."""
    return k.Sequential(
        [
            k.Input((SIDE, SIDE, 1)),
            k.layers.RandomFlip("horizontal"),
            k.layers.RandomTranslation(0.2, 0.2),
            k.layers.GaussianNoise(0.1),
            k.layers.Conv2D(3, 3, activation="relu"),
            k.layers.GlobalMaxPooling2D(),
            k.layers.Dense(CLASSES),
        ]
    )


def conv1d(k: Keras) -> Model:
    return k.Sequential(
        [
            k.Input((STEPS, STEP_FEATURES)),
            k.layers.Conv1D(4, 3, padding="causal", activation="relu"),
            k.layers.GlobalMaxPooling1D(),
            k.layers.Dense(1),
        ]
    )


def lstm(k: Keras) -> Model:
    return k.Sequential(
        [
            k.Input((STEPS, STEP_FEATURES)),
            k.layers.LSTM(4, return_sequences=True, dropout=0.2),
            k.layers.LSTM(3),
            k.layers.Dense(1),
        ]
    )


def gru(k: Keras) -> Model:
    """Bidirectional, over sequences of any length."""
    return k.Sequential(
        [k.Input((None, STEP_FEATURES)), k.layers.Bidirectional(k.layers.GRU(3)), k.layers.Dense(1)]
    )


def stateful_lstm(k: Keras) -> Model:
    """Keeps its state from batch to batch."""
    inputs = k.Input(batch_shape=(8, STEPS, STEP_FEATURES))
    return k.Model(inputs, k.layers.Dense(1)(k.layers.LSTM(3, stateful=True)(inputs)))


def embedding(k: Keras) -> Model:
    """Sparse gradients, and a mask that goes through a recurrent layer."""
    return k.Sequential(
        [
            k.Input((STEPS,), dtype="int32"),
            k.layers.Embedding(VOCABULARY, 4, mask_zero=True),
            k.layers.GRU(3),
            k.layers.Dense(CLASSES),
        ]
    )


def attention(k: Keras) -> Model:
    tokens = k.Input((STEPS,), dtype="int32")
    hidden = k.layers.Embedding(VOCABULARY, 4)(tokens)
    attended = k.layers.MultiHeadAttention(2, 2, dropout=0.1)(hidden, hidden)
    hidden = k.layers.LayerNormalization()(k.layers.Add()([hidden, attended]))
    return k.Model(tokens, k.layers.Dense(CLASSES)(k.layers.GlobalAveragePooling1D()(hidden)))


def words(k: Keras) -> Model:
    """Looks strings up and scales numbers inside the model."""
    text, numbers = k.Input((STEPS,), dtype="string", name="text"), k.Input((FEATURES,), name="numbers")
    lookup = k.layers.StringLookup(vocabulary=[f"word{i}" for i in range(VOCABULARY - 2)])
    scaling = k.layers.Normalization()
    scaling.adapt(np.linspace(-1, 3, 4 * FEATURES, dtype="float32").reshape(4, FEATURES))
    embedded = k.layers.Embedding(VOCABULARY, 3)(lookup(text))
    joined = k.layers.Concatenate()([k.layers.Flatten()(embedded), scaling(numbers)])
    return k.Model({"text": text, "numbers": numbers}, k.layers.Dense(1)(joined))


def ragged(k: Keras) -> Model:
    """Takes rows of unequal length as they are."""

    class Bag(k.Model):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = k.layers.Embedding(VOCABULARY, 4)
            self.head = k.layers.Dense(1)

        def call(self, inputs: Any) -> Any:
            flat = self.embedding(inputs.values)
            return self.head(tf.math.segment_sum(flat, inputs.value_rowids()))

    return Bag()


def sparse(k: Keras) -> Model:
    return k.Sequential(
        [k.Input((FEATURES,), sparse=True), k.layers.Dense(5, activation="relu"), k.layers.Dense(1)]
    )


def frozen(k: Keras) -> Model:
    model = normed(k)
    model.layers[0].trainable = False
    model.layers[1].trainable = False  # A frozen BatchNormalization is not updated either.
    return model


def constrained(k: Keras) -> Model:
    return k.Sequential(
        [
            k.Input((FEATURES,)),
            k.layers.Dense(5, activation="relu", kernel_constraint="max_norm", activity_regularizer="l1"),
            k.layers.Dense(1, bias_constraint="non_neg"),
        ]
    )


def counting(k: Keras) -> Model:
    """Writes variables of its own: one of Keras, one of TensorFlow that Keras does not know, one only at times."""

    class Counting(k.layers.Layer):
        def build(self, shape: Any) -> None:
            self.calls = self.add_weight(
                name="calls", shape=(), dtype="float32", initializer="zeros", trainable=False
            )
            self.raw = tf.Variable(0.0, trainable=False)

        def call(self, inputs: Any) -> Any:
            self.calls.assign_add(1.0)
            self.raw.assign_add(tf.reduce_mean(inputs))
            scale = tf.cond(
                tf.reduce_sum(inputs) > 0, lambda: 1.0 + tf.convert_to_tensor(self.calls), lambda: 2.0
            )
            return inputs * scale

    return k.Sequential(
        [k.Input((FEATURES,)), Counting(), k.layers.Dense(4, activation="relu"), k.layers.Dense(1)]
    )


def noisy(k: Keras) -> Model:
    """Draws numbers with TensorFlow's own random operations, whose state lies in the kernel."""

    class Noise(k.layers.Layer):
        def call(self, inputs: Any) -> Any:
            return inputs + 0.1 * tf.random.normal(tf.shape(inputs))

    return k.Sequential(
        [k.Input((FEATURES,)), Noise(), k.layers.Dense(4, activation="relu"), k.layers.Dense(1)]
    )


def shuffled(k: Keras) -> Model:
    """Mixes up the features of a batch by an operation whose state stays in its kernel."""

    class Shuffle(k.layers.Layer):  # type: ignore[misc, name-defined]
        def call(self, inputs: Any) -> Any:
            return tf.transpose(tf.random.shuffle(tf.transpose(inputs)))

        def compute_output_shape(self, shape: Any) -> Any:
            return shape

    return k.Sequential([k.Input((FEATURES,)), Shuffle(), k.layers.Dense(1)])


def own_step(k: Keras) -> Model:
    """A `train_step` of its own, with its own metric."""

    class Own(k.Model):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = k.layers.Dense(5, activation="relu")
            self.head = k.layers.Dense(1)
            self.norm_metric = k.metrics.Mean(name="norm")

        @property
        def metrics(self) -> list[Any]:
            return [*super().metrics, self.norm_metric]

        def call(self, inputs: Any) -> Any:
            return self.head(self.hidden(inputs))

        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.abs(self(x, training=True) - tf.cast(y, "float32")))
            variables = self.trainable_variables
            gradients = tape.gradient(loss, variables)
            self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
            self.norm_metric.update_state(tf.linalg.global_norm(gradients))
            return {"loss": loss, "norm": self.norm_metric.result()}

    return Own()


def gan(k: Keras) -> Model:
    """Two networks that are trained by two optimizers, one after the other, in one step."""

    class Gan(k.Model):
        def __init__(self) -> None:
            super().__init__()
            self.generator = k.Sequential([k.Input((2,)), k.layers.Dense(FEATURES)], name="generator")
            self.critic = k.Sequential(
                [k.Input((FEATURES,)), k.layers.Dense(4, activation="relu"), k.layers.Dense(1)]
            )
            self.critic_loss = k.metrics.Mean(name="critic_loss")
            self.generator_loss = k.metrics.Mean(name="generator_loss")
            self.built = True

        def compile(self, critic_optimizer: Any, generator_optimizer: Any, **rest: Any) -> None:
            super().compile(**rest)
            self.critic_optimizer = critic_optimizer
            self.generator_optimizer = generator_optimizer
            self.score = k.losses.BinaryCrossentropy(from_logits=True)

        @property
        def metrics(self) -> list[Any]:
            return [self.critic_loss, self.generator_loss]

        def call(self, inputs: Any) -> Any:
            return self.critic(inputs)

        def train_step(self, data: Any) -> dict[str, Any]:
            real = data[0]
            noise = tf.cos(real[:, :2] * 7.0)
            count = tf.shape(real)[0]
            with tf.GradientTape() as tape:
                loss = self.score(tf.ones([count, 1]), self.critic(real, training=True))
                loss += self.score(tf.zeros([count, 1]), self.critic(self.generator(noise), training=True))
            variables = self.critic.trainable_variables
            self.critic_optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            with tf.GradientTape() as tape:
                fooled = self.score(tf.ones([count, 1]), self.critic(self.generator(noise, training=True)))
            variables = self.generator.trainable_variables
            self.generator_optimizer.apply_gradients(
                zip(tape.gradient(fooled, variables), variables, strict=True)
            )
            self.critic_loss.update_state(loss)
            self.generator_loss.update_state(fooled)
            return {m.name: m.result() for m in self.metrics}

    return Gan()


def accumulating_step(k: Keras) -> Model:
    """A `train_step` that adds gradients up by itself and applies them every third batch."""

    class Accumulating(k.Model):
        def __init__(self) -> None:
            super().__init__()
            self.head = k.layers.Dense(1)

        def build(self, shape: Any) -> None:
            self.head.build(shape)
            self.seen = tf.Variable(0, dtype=tf.int64, trainable=False)
            self.sums = [
                tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.head.trainable_variables
            ]
            self.built = True

        def call(self, inputs: Any) -> Any:
            return self.head(inputs)

        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(x, training=True) - tf.cast(y, "float32")))
            gradients = tape.gradient(loss, self.trainable_variables)
            for total, gradient in zip(self.sums, gradients, strict=True):
                total.assign_add(gradient)
            self.seen.assign_add(1)
            tf.cond(self.seen % 3 == 0, self._apply, lambda: None)
            return {"loss": loss}

        def _apply(self) -> None:
            self.optimizer.apply_gradients(
                [(s / 3.0, v) for s, v in zip(self.sums, self.trainable_variables, strict=True)]
            )
            for total in self.sums:
                total.assign(tf.zeros_like(total))

    return Accumulating()


def activations(k: Keras) -> Model:
    """Dense layers and activations apart, and ways to normalise."""
    kinds = ("relu", "gelu", "swish", "selu", "softplus", "sigmoid", "softmax", "exponential")
    pairs = [layer for kind in kinds for layer in (k.layers.Dense(5), k.layers.Activation(kind))]
    norms = [k.layers.LayerNormalization(), k.layers.GroupNormalization(5), k.layers.UnitNormalization()]
    return k.Sequential([k.Input((FEATURES,)), *pairs, *norms, k.layers.Dense(1)])


def residual(k: Keras) -> Model:
    """Convolutions with BatchNormalization, an activation of its own, and a way around them."""
    inputs = k.Input((SIDE, SIDE, 1))
    x = k.layers.Conv2D(4, 3, padding="same")(inputs)
    for _ in range(2):
        y = k.layers.ReLU()(k.layers.BatchNormalization()(k.layers.Conv2D(4, 3, padding="same")(x)))
        y = k.layers.BatchNormalization()(k.layers.Conv2D(4, 3, padding="same")(y))
        x = k.layers.ReLU()(k.layers.Add()([x, y]))
    return k.Model(inputs, k.layers.Dense(CLASSES)(k.layers.GlobalAveragePooling2D()(x)))


def transformer(k: Keras) -> Model:
    tokens = k.Input((STEPS,), dtype="int32")
    x = k.layers.Embedding(VOCABULARY, 4)(tokens)
    x = k.layers.LayerNormalization()(k.layers.Add()([x, k.layers.MultiHeadAttention(2, 2)(x, x)]))
    y = k.layers.Dense(4)(k.layers.Dense(8, activation="gelu")(x))
    x = k.layers.LayerNormalization()(k.layers.Add()([x, y]))
    return k.Model(tokens, k.layers.Dense(CLASSES)(k.layers.Flatten()(x)))


def arithmetic(k: Keras) -> Model:
    """Chains of layers that TensorFlow's optimizer likes to put in another order."""
    inputs = k.Input((FEATURES,))
    a, b, c = (k.layers.Dense(4)(inputs) for _ in range(3))
    total, product = k.layers.Add()([a, b, c]), k.layers.Multiply()([a, b, c])
    rest = k.layers.Rescaling(2.0, -1.0)(k.layers.Rescaling(0.5, 1.0)(k.layers.Subtract()([total, product])))
    turned = k.layers.Permute((2, 1))(k.layers.Permute((2, 1))(k.layers.Reshape((2, 2))(rest)))
    dot = k.layers.Dot(1)([rest, k.layers.Average()([a, b, c])])
    return k.Model(inputs, k.layers.Dense(1)(k.layers.Concatenate()([dot, k.layers.Flatten()(turned)])))


def with_policy(builder: Any, policy: str) -> Any:
    """Returns a builder whose layers compute in `policy`, such as `mixed_float16`."""

    @functools.wraps(builder)
    def build(k: Keras) -> Model:
        before = k.mixed_precision.global_policy() if hasattr(k.mixed_precision, "global_policy") else None
        before = before or k.mixed_precision.dtype_policy()
        k.mixed_precision.set_global_policy(policy)
        try:
            return builder(k)
        finally:
            k.mixed_precision.set_global_policy(before)

    return build
