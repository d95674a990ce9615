"""What differs between Keras 3 and tf_keras, and the private Keras names that the bridge needs.

Everything else in the bridge asks this module, so that one place changes when Keras moves something.
`tests/bridge/test_keras_internals.py` fails with a clear message when a release does.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import keras
import tensorflow as tf

from bridge.errors import UnsupportedModelError

# Where the TensorBoard callbacks look for a compiled function's graph: the first tells them that there is one.
GRAPH_ATTRIBUTES = ("function_spec", "_concrete_stateful_fn", "_concrete_variable_creation_fn")


def is_tf_keras(model: Any) -> bool:
    """Tells whether `model` belongs to tf_keras (Keras 2), not to Keras 3."""
    legacy = sys.modules.get("tf_keras")
    return legacy is not None and isinstance(model, legacy.Model)


def package_of(model: Any) -> Any:
    """Returns the Keras package (`keras` or `tf_keras`) that `model` belongs to."""
    return sys.modules["tf_keras"] if is_tf_keras(model) else keras


def check_model(model: Any) -> None:
    """Refuses models whose training step cannot become a TensorFlow graph.

    Args:
      model: What Keras handed to the callback.

    Raises:
      UnsupportedModelError: for another backend than TensorFlow, a model that is not compiled, or not a model.
    """
    if not tf.executing_eagerly():
        raise UnsupportedModelError(
            "HookCallback needs eager execution around fit, which makes the v1 graph by itself: take out "
            "disable_eager_execution() or disable_v2_behavior(), and call fit outside of tf.Graph().as_default()."
        )
    if not is_tf_keras(model) and not isinstance(model, keras.Model):
        raise UnsupportedModelError(
            f"HookCallback needs a keras.Model or tf_keras.Model, but the model is a {type(model).__name__}."
        )
    if not is_tf_keras(model) and keras.backend.backend() != "tensorflow":
        raise UnsupportedModelError(
            f"Session hooks need Keras's TensorFlow backend, but the backend is {keras.backend.backend()!r}. "
            "Set KERAS_BACKEND=tensorflow before importing keras."
        )
    strategy = model.distribute_strategy
    if type(strategy).__name__ in ("ParameterServerStrategyV2", "TPUStrategy", "TPUStrategyV2"):
        raise UnsupportedModelError(
            f"Hooks cannot run in a step under {type(strategy).__name__}, whose variables live in other processes or "
            "devices. Use MirroredStrategy or MultiWorkerMirroredStrategy."
        )


def check_function(model: Any, kind: str) -> None:
    """Refuses models that compile their step in a way of their own, which hooks would replace.

    Args:
      model: A Keras model.
      kind: "train", "test" or "predict".

    Raises:
      UnsupportedModelError: if the model overrides Keras's method that makes the compiled function.
    """
    name = f"make_{kind}_function"
    own = name in vars(model) or getattr(type(model), name) is not getattr(package_of(model).Model, name)
    if own:
        raise UnsupportedModelError(
            f"{type(model).__name__} overrides {name}, but hooks run around the model's {kind}_step. Move what it does "
            f"into {kind}_step, or train without hooks."
        )


def sublayers(layer: Any) -> list[Any]:
    """Returns the direct sublayers of a layer or model, in Keras's order, without metrics and inputs."""
    kinds = package_of_layer(layer)
    children = layer._flatten_layers(include_self=False, recursive=False)
    if isinstance(layer, kinds.Model):
        children = list(layer.layers) + list(children)
    seen: set[int] = set()
    found = []
    for child in children:
        if id(child) in seen or isinstance(child, (kinds.layers.InputLayer, kinds.metrics.Metric)):
            continue
        seen.add(id(child))
        found.append(child)
    return found


def package_of_layer(layer: Any) -> Any:
    """Returns the Keras package that a layer belongs to."""
    legacy = sys.modules.get("tf_keras")
    return legacy if legacy is not None and isinstance(layer, legacy.layers.Layer) else keras


def has_given_name(layer: Any) -> bool:
    """Tells whether the user certainly named the layer.

    Keras 3 does not record it (since 3.10), so that there a name of the form `dense_3` counts as Keras's own, in all
    versions alike.
    """
    recorded = getattr(layer, "_auto_config", None)
    return (
        package_of_layer(layer) is not keras
        and recorded is not None
        and recorded.config.get("name") is not None
    )


def tf_variable(variable: Any) -> tf.Variable:
    """Returns the `tf.Variable` inside a Keras 3 variable or tf_keras's `AutoCastVariable`, or the variable itself."""
    if isinstance(variable, keras.Variable):
        variable = variable._value if getattr(variable, "_value", None) is not None else variable.value
    return variable._variable if type(variable).__name__.startswith("AutoCast") else variable


def short_name(variable: Any) -> str:
    """Returns the last part of a variable's name: `kernel`."""
    return str(variable.name).split(":")[0].rsplit("/", 1)[-1]


def full_name(variable: Any) -> str:
    """Returns Keras's own path of a variable: `sequential_1/dense_3/kernel`."""
    return str(getattr(variable, "path", variable.name)).split(":")[0]


def optimizers_of(model: Any) -> list[Any]:
    """Returns the model's optimizer and every other one that it keeps in an attribute, each once."""
    package = package_of(model)
    kinds: tuple[type, ...] = (package.optimizers.Optimizer,)
    if is_tf_keras(model):
        kinds += (package.optimizers.legacy.Optimizer,)

    def candidates() -> Iterator[Any]:
        yield getattr(model, "optimizer", None)
        for value in list(vars(model).values()):
            yield value
            if isinstance(value, dict):
                yield from value.values()
            elif isinstance(value, (list, tuple)):
                yield from value

    found: list[Any] = []
    for value in candidates():
        if isinstance(value, kinds) and not any(value is other for other in found):
            found.append(value)
    inner = [o.inner_optimizer for o in found if hasattr(o, "inner_optimizer")]
    return [o for o in found if not any(o is i for i in inner)]


def optimizer_variables(optimizer: Any) -> list[Any]:
    """Returns an optimizer's variables; tf_keras's legacy optimizers have a method instead of a property."""
    variables = optimizer.variables
    found = list(variables() if callable(variables) and not isinstance(variables, list) else variables)
    rate = rate_variable(optimizer)
    if rate is not None and not any(tf_variable(v) is tf_variable(rate) for v in found):
        found.append(rate)
    return found


def step_variable(optimizer: Any) -> Any:
    """Returns the variable that counts the optimizer's batches.

    With `gradient_accumulation_steps`, the public `iterations` is a quotient, not a variable; the bridge counts every
    batch, as `global_step` did.
    """
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    counter = getattr(optimizer, "_iterations", None)
    if counter is not None:
        return counter
    # tf_keras's legacy optimizers make it when it is first asked for, and name it by the scope of their step.
    with tf.name_scope(getattr(optimizer, "_name", None) or type(optimizer).__name__):
        return optimizer.iterations


def rate_variable(optimizer: Any) -> Any | None:
    """Returns the variable that holds the learning rate, or None if it is a schedule or a constant."""
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    rate = getattr(optimizer, "_learning_rate", None)
    if rate is None:
        rate = getattr(optimizer, "_hyper", {}).get("learning_rate")
    return rate if hasattr(rate, "assign") else None


def schedule_of(optimizer: Any) -> Callable[[Any], Any] | None:
    """Returns the optimizer's learning rate schedule, or None."""
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    rate = getattr(optimizer, "_learning_rate", None)
    if rate is None:
        rate = getattr(optimizer, "_hyper", {}).get("learning_rate")
    return rate if callable(rate) and not hasattr(rate, "assign") else None


class ObservedRate:
    """Context in which the optimizer's reading of its learning rate goes through `observe`.

    Keras 3 reads it in one private method; tf_keras reads the variable where it is used, which the step graph finds
    by itself, so nothing is done there.
    """

    def __init__(self, optimizer: Any, observe: Callable[[Any], Any]) -> None:
        """Prepares the context.

        Args:
          optimizer: The optimizer, or a loss-scaling one around it.
          observe: Is given what the optimizer would use, and returns what it uses instead.
        """
        self._optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        self._observe = observe

    def __enter__(self) -> None:
        original = getattr(self._optimizer, "_get_current_learning_rate", None)
        if original is not None:
            replacement = lambda: self._observe(original())  # noqa: E731
            object.__setattr__(self._optimizer, "_get_current_learning_rate", replacement)

    def __exit__(self, *unused: object) -> None:
        vars(self._optimizer).pop("_get_current_learning_rate", None)


def snake_case(name: str) -> str:
    """Turns a class name into the name that Keras gives its first instance: `Conv2D` to `conv2d`."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def step_counters(model: Any) -> dict[str, tf.Variable]:
    """Returns tf_keras's own batch counters, which its compiled functions advance: by kind of step."""
    if not is_tf_keras(model):
        return {}
    return {"train": model._train_counter, "test": model._test_counter, "predict": model._predict_counter}


def steps_per_execution(model: Any) -> int:
    """Returns the compiled `steps_per_execution` as a number."""
    if is_tf_keras(model):
        counter = model._steps_per_execution
        return 1 if counter is None else int(counter.numpy())
    return int(model.steps_per_execution)


def build_ahead(model: Any, kind: str, spec: Any) -> None:
    """Creates the variables of a built model's optimizer and metrics, so that its step is traced only once.

    TensorFlow traces a function again if the first trace created variables, which doubles the time to the first step.
    Keras 3 does the same before a `fit` under a strategy. Only for a step that is Keras's own: another one might use
    its optimizers in other ways.

    Args:
      model: A compiled model.
      kind: "train", "test" or "predict".
      spec: The structure of `tf.TypeSpec` of one batch.
    """
    if is_tf_keras(model) or kind != "train" or not hasattr(model, "_symbolic_build"):
        return
    stock = (
        type(model).train_step is keras.Model.train_step
        and type(model).compute_loss is keras.Model.compute_loss
    )
    dense = all(type(part) is tf.TensorSpec for part in tf.nest.flatten(spec))
    if stock and dense and all(layer.built for layer in model._flatten_layers()):
        with model.distribute_strategy.scope():
            model._symbolic_build(data_batch=spec)


def is_built(model: Any) -> bool:
    """Tells whether all layers of a model have their variables."""
    return all(layer.built for layer in model._flatten_layers())


def build_optimizer(model: Any) -> bool:
    """Creates the variables of a built model's optimizer, if they do not exist yet.

    Args:
      model: A compiled model.

    Returns:
      Whether all variables of the model and its optimizer exist now.
    """
    optimizer = model.optimizer
    if optimizer is None or not is_built(model):
        return False
    if is_tf_keras(model):
        if isinstance(optimizer, package_of(model).optimizers.legacy.Optimizer):
            return False  # Makes each slot when it first applies a gradient.
        has_slots = bool(getattr(optimizer, "_built", False))
    else:
        has_slots = optimizer.built
    if not has_slots:
        # tf_keras names some of the variables by the scope of its own first step.
        name = getattr(getattr(optimizer, "inner_optimizer", optimizer), "name", None)
        scope = tf.name_scope(name) if is_tf_keras(model) else contextlib.nullcontext()
        with model.distribute_strategy.scope(), scope:
            optimizer.build(model.trainable_variables)
    return True


def create_slots(model: Any) -> None:
    """Creates all variables of a built model's optimizer, those of tf_keras's legacy optimizers too.

    Args:
      model: A compiled model. Layers that were never called have no variables, and so no slots.
    """
    optimizer = model.optimizer
    if optimizer is None:
        return
    with model.distribute_strategy.scope():
        if hasattr(optimizer, "build"):
            if not getattr(optimizer, "built", getattr(optimizer, "_built", False)):
                optimizer.build(model.trainable_variables)
        else:  # The legacy ones make a slot when they first apply a gradient, or by this private method.
            getattr(optimizer, "inner_optimizer", optimizer)._create_all_weights(model.trainable_variables)


def start_at_epoch(model: Any, epoch: int) -> Callable[[], None] | None:
    """Makes a `fit` that is about to enter its loop start at another epoch.

    Args:
      model: The model whose `fit` has just called `on_train_begin`.
      epoch: The epoch, from 1; `sys.maxsize` for none at all.

    Returns:
      A function that takes the change back, or None where this Keras offers no way.
    """
    if is_tf_keras(model):
        name = "_maybe_load_initial_counters_from_ckpt"
        object.__setattr__(model, name, lambda *unused: (epoch, 0))
        return lambda: vars(model).pop(name, None) and None
    if not hasattr(model, "_initial_epoch"):
        return None
    before = model._initial_epoch
    model._initial_epoch = epoch

    def restore() -> None:
        model._initial_epoch = before

    return restore


# Under a strategy whose replicas live in several processes, Keras 3's own fit fails in two places: its symbolic build
# takes the batch of several workers apart in a way that does not exist, and its joining of the replicas' results asks
# for the mean over an axis that scalars do not have. Nothing public lies between them and `fit`.


def starts_after_last_epoch(model: Any) -> bool:
    """Tells whether `start_at_epoch` keeps the fit from running any epoch."""
    if is_tf_keras(model):
        own = vars(model).get("_maybe_load_initial_counters_from_ckpt")
        return own is not None and bool(own(1, 0)[0] == sys.maxsize)
    return bool(getattr(model, "_initial_epoch", None) == sys.maxsize)


def can_start_at_epoch(model: Any) -> bool:
    """Tells whether `start_at_epoch` works for this model's Keras."""
    return is_tf_keras(model) or hasattr(model, "_initial_epoch")


def continue_counting(callback_list: Any, model: Any, batches: int) -> None:
    """Gives Keras's own counters of batches the value that they had when the earlier run stopped.

    Args:
      callback_list: The callbacks of the running fit, whose `on_train_begin` is over.
      model: The model.
      batches: How many batches of this fit were trained before.
    """
    kind = package_of(model).callbacks.TensorBoard
    for callback in getattr(callback_list, "callbacks", ()):
        if isinstance(callback, kind):
            callback._global_train_batch = batches
            callback._previous_epoch_iterations = batches
    for counter in [model._train_counter] if is_tf_keras(model) else []:
        counter.assign(batches)


def suspend_validation(model: Any, is_wanted: Callable[[], bool]) -> None:
    """Makes a `fit` validate, and look at its metrics after an epoch, only while somebody wants it.

    Args:
      model: The model.
      is_wanted: Tells whether what Keras would do now is wanted.
    """
    restore_validation(model)
    should_eval, metrics = model._should_eval, model.get_metrics_result
    object.__setattr__(
        model, "_should_eval", lambda *args, **kwargs: is_wanted() and should_eval(*args, **kwargs)
    )
    # Metrics that no batch has reached yet may not even be built.
    object.__setattr__(model, "get_metrics_result", lambda: metrics() if is_wanted() else {})


def restore_validation(model: Any) -> None:
    """Takes `suspend_validation` back. Twice is fine."""
    if "_should_eval" in vars(model):
        object.__delattr__(model, "_should_eval")
        object.__delattr__(model, "get_metrics_result")


def averages_weights(optimizer: Any) -> bool:
    """Tells whether an optimizer keeps averages, which `fit` puts over the weights at its end."""
    return bool(getattr(getattr(optimizer, "inner_optimizer", optimizer), "use_ema", False))


def swaps_averages(callback: Any) -> bool:
    """Tells whether a callback lets averages take turns with the weights, of Keras 3's `SwapEMAWeights`."""
    return isinstance(callback, getattr(keras.callbacks, "SwapEMAWeights", ()))


def replace_function(model: Any, name: str, function: Any) -> None:
    """Gives a model another compiled function.

    Args:
      model: The model.
      name: "train_function", "test_function" or "predict_function".
      function: What takes the place of the present one, also where tf_keras's TensorBoard callback looks for its graph.
    """
    present = getattr(model, name, None)
    setattr(model, name, function)
    if present is not None and getattr(model, "train_tf_function", None) is present:
        model.train_tf_function = function
