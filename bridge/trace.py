"""Traces one Keras step into a TensorFlow function, and notes which tensor inside it is what.

The step runs once, symbolically, just as Keras would trace it. While it does, calls of layers, losses and optimizers
are watched, so that their tensors can be named in the v1 graph. Nothing that the step computes is changed.
"""

from __future__ import annotations

import contextlib
import functools
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from bridge import keras_internals, keras_replicas, random_state, tf_internals
from bridge.errors import UnsupportedModelError
from bridge.step_unit import StepUnit

tf1 = tf.compat.v1

# Several steps may be traced by several threads; replica threads of a strategy must find their step's observer.
_observers: list[StepObserver] = []
_patch_lock = threading.RLock()


class StepObserver:
    """What was seen while a step ran once.

    Attributes:
      layer_outputs: From `id(layer)` to the structure that its first call in the step returned.
      gradients: Pairs of the variable and the gradient that reached an optimizer.
      loss: The loss of this step, before any scaling, or None if the step shows none.
      rates: The tensors through which the main optimizer used its learning rate, if they can be told.
      hidden_rate: Whether it was used inside a branch too, which no feed reaches.
    """

    def __init__(self, fed_rate: tf.Tensor | None = None) -> None:
        """Prepares to watch.

        Args:
          fed_rate: What the optimizer gets to use as its learning rate, or None for its own.
        """
        self._fed_rate = fed_rate
        self.start(None)

    def start(self, graph: tf.Graph | None) -> None:
        """Forgets what was seen. TensorFlow traces a second time if the first one created variables.

        Args:
          graph: The graph of the step that starts.
        """
        self.layer_outputs: dict[int, Any] = {}
        self.gradients: list[tuple[tf.Variable, Any]] = []
        self.rates: list[tf.Tensor] = []
        self.hidden_rate = False
        self.graph = graph
        self._losses: dict[str, list[Any]] = {"scaled": [], "computed": [], "target": [], "vector": []}
        self.hidden_loss = False
        self._layers: list[Any] = []  # Keeps layers alive, so that their ids stay theirs.

    @property
    def loss(self) -> Any:
        """The step's loss before any scaling, or None where the step has no single one.

        It is what the optimizer was asked to scale, or what `compute_loss` returned, or what was differentiated:
        the first of these that happened just once.
        """
        for losses in self._losses.values():
            if len(losses) == 1:
                return losses[0]
        return None

    def sees(self, tensor: Any) -> bool:
        """Tells whether a tensor belongs to the step itself and not to a function inside it."""
        return self.graph is None or getattr(tensor, "graph", None) is self.graph

    def _sees_all(self, structure: Any) -> bool:
        flat = [t for t in tf.nest.flatten(structure, expand_composites=True) if t is not None]
        return bool(flat) and all(isinstance(t, tf.Tensor) and self.sees(t) for t in flat)

    def saw_layer(self, layer: Any, outputs: Any) -> None:
        """Notes a layer's outputs; only the first call in a step counts."""
        if id(layer) not in self.layer_outputs and self._sees_all(outputs):
            self.layer_outputs[id(layer)] = outputs
            self._layers.append(layer)

    def saw_loss(self, loss: Any, how: str) -> None:
        """Notes a loss.

        Args:
          loss: The tensor.
          how: "scaled" (given to the optimizer to scale), "computed" (by `compute_loss`) or "target" (of a tape).
        """
        if not _in_first_replica():
            return
        if how == "target" and isinstance(loss, tf.Tensor) and loss.shape.rank != 0:
            how = "vector"  # Of a gradient by the inputs, perhaps.
        if isinstance(loss, tf.Tensor) and self.sees(loss):
            self._losses[how].append(loss)
        elif isinstance(loss, tf.Tensor):
            self.hidden_loss = True

    def saw_gradients(self, pairs: list[tuple[Any, Any]]) -> None:
        """Notes the gradients that an optimizer was given."""
        known = {id(variable) for variable, _ in self.gradients}
        for gradient, variable in pairs:
            inner = keras_internals.tf_variable(variable)
            if gradient is not None and id(inner) not in known and self._sees_all(gradient):
                self.gradients.append((inner, gradient))

    def saw_rate(self, rate: Any) -> Any:
        """Notes the learning rate and returns a tensor of its own for it, through which it can be fed."""
        if self.graph is None:  # The step runs eagerly.
            rate = rate if self._fed_rate is None else self._fed_rate
        elif tf1.get_default_graph() is not self.graph:
            self.hidden_rate = True
            return rate
        self.rates.append(tf.identity(tf.convert_to_tensor(rate), name="learning_rate"))
        return self.rates[-1]


def _in_first_replica() -> bool:
    context = tf.distribute.get_replica_context()
    if context is None:
        return True
    replica = tf.get_static_value(context.replica_id_in_sync_group)
    return replica is None or int(replica) == 0


@contextlib.contextmanager
def observing(model: Any, observer: StepObserver) -> Iterator[None]:
    """Context in which the observer is told of everything that the model's step calls.

    Args:
      model: A compiled model.
      observer: Is told.

    Yields:
      Nothing.
    """
    layer_class = keras_internals.package_of(model).layers.Layer
    optimizers = keras_internals.optimizers_of(model)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_patch_lock)
        _observers.append(observer)
        stack.callback(_observers.remove, observer)
        stack.enter_context(_replaced(layer_class, "__call__", _watch_layer))
        stack.enter_context(_replaced(tf.GradientTape, "gradient", _watch_tape))
        if hasattr(model, "compute_loss"):
            stack.enter_context(
                _overridden(model, "compute_loss", lambda loss, *_, **__: observer.saw_loss(loss, "computed"))
            )
        for optimizer in optimizers:
            for method in ("apply_gradients", "apply"):
                if hasattr(optimizer, method):
                    watch = functools.partial(_watch_gradients, observer, optimizer, method)
                    stack.enter_context(_overridden(optimizer, method, before=watch))
            for method in ("scale_loss", "get_scaled_loss"):
                if hasattr(optimizer, method):
                    stack.enter_context(
                        _overridden(optimizer, method, before=functools.partial(_watch_scaling, observer))
                    )
        if optimizers:
            stack.enter_context(keras_internals.ObservedRate(optimizers[0], observer.saw_rate))
        yield


@contextlib.contextmanager
def _replaced(owner: type, name: str, wrap: Callable[[Any], Any]) -> Iterator[None]:
    original = getattr(owner, name)
    setattr(owner, name, wrap(original))
    try:
        yield
    finally:
        setattr(owner, name, original)


@contextlib.contextmanager
def _overridden(
    instance: Any,
    name: str,
    after: Callable[..., None] | None = None,
    before: Callable[..., Any] | None = None,
) -> Iterator[None]:
    """Puts a watching function over a method of one object. `object.__setattr__` keeps Keras from tracking it."""
    original = getattr(instance, name)
    previous = vars(instance).get(name)

    @functools.wraps(original)
    def watched(*args: Any, **kwargs: Any) -> Any:
        if before is not None:
            args = before(*args, **kwargs)
        result = original(*args, **kwargs)
        if after is not None:
            after(result)
        return result

    object.__setattr__(instance, name, watched)
    try:
        yield
    finally:
        if previous is None:
            vars(instance).pop(name)
        else:
            object.__setattr__(instance, name, previous)


def _watch_layer(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def watched(layer: Any, *args: Any, **kwargs: Any) -> Any:
        outputs = original(layer, *args, **kwargs)
        for observer in _observers:
            observer.saw_layer(layer, outputs)
        return outputs

    return watched


def _watch_tape(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def gradient(tape: tf.GradientTape, target: Any, *args: Any, **kwargs: Any) -> Any:
        for observer in _observers:
            observer.saw_loss(target, "target")
        return original(tape, target, *args, **kwargs)

    return gradient


def _watch_scaling(observer: StepObserver, *args: Any, **kwargs: Any) -> Any:
    """Notes the loss that an optimizer is asked to scale; returns the positional arguments to call it with."""
    observer.saw_loss(args[0] if args else kwargs.get("loss"), "scaled")
    return args


def _watch_gradients(observer: StepObserver, optimizer: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    """Notes the gradients that an optimizer is called with; returns the positional arguments to call it with."""
    if method == "apply":
        gradients = args[0] if args else kwargs["grads"]
        variables = args[1] if len(args) > 1 else kwargs.get("trainable_variables")
        observer.saw_gradients(list(zip(gradients, variables or optimizer._trainable_variables, strict=True)))
        return args
    if args:
        args = (list(args[0]), *args[1:])  # A zip can be read only once.
        observer.saw_gradients(args[0])
    elif isinstance(kwargs.get("grads_and_vars"), (list, tuple)):
        observer.saw_gradients(kwargs["grads_and_vars"])
    return args


class StepTrace:
    """One traced step of a model.

    Attributes:
      kind: "train", "test" or "predict".
      spec: The structure of `tf.TypeSpec` of one batch.
      function: The concrete function; its graph is what the step graph imports.
      graph_def: The step's graph, with the state of random operations taken out.
      arguments: The function's tensors that stand for the batch.
      variables: All variables that the step uses, in the order of their first use.
      captures: Pairs of a function's tensor and the live handle or value that it stands for.
      random: The random state that was taken out.
      drawn: Whether some program has drawn from random operations that keep their own state.
      effects: Names of the operations that a whole step must run.
      outputs: The step's results in their structure, as tensors of the function's graph.
      observer: What each inner tensor is.
      summaries: v1 summary tensors that the model's own code made.
      jit: Whether the model was compiled for XLA.
      eager: Whether the model runs its steps eagerly; then the graph only names their tensors.
    """

    def __init__(self, model: Any, kind: str, spec: Any) -> None:
        """Traces `model.train_step`, `test_step` or `predict_step`, once.

        Args:
          model: A compiled model. Its variables are created here if they do not exist yet.
          kind: "train", "test" or "predict".
          spec: The structure of `tf.TypeSpec` of one batch, as an iterator's `element_spec`.
        """
        self.kind = kind
        self.spec = spec
        self.model = model
        self.eager = bool(model.run_eagerly)
        self.observer = StepObserver()
        step = whole_step(model, kind)

        def traced(data: Any) -> Any:
            self.observer.start(tf1.get_default_graph())
            return step(data)

        if not keras_internals.is_tf_keras(model):
            traced = tf.autograph.experimental.do_not_convert(traced)
        # Keras and TensorFlow build other operations for XLA (loops of known length, for instance), so that the trace
        # must know; the graph itself runs either way.
        self.jit = bool(model.jit_compile) and not self.eager
        python_state, numpy_state = random.getstate(), np.random.get_state()
        try:
            with observing(model, self.observer):
                self.function = tf.function(traced, jit_compile=self.jit or None).get_concrete_function(spec)
        except Exception as error:
            if self.eager:
                raise UnsupportedModelError(
                    f"The {kind} step of this model runs eagerly (run_eagerly=True), but hooks need its graph, and it "
                    f"cannot be traced: {error} Keep what needs values out of the step, for example in a callback or "
                    "behind tf.py_function."
                ) from error
            raise
        finally:
            if self.eager:
                # The step has not run yet: what it draws in Python must be what it would have drawn.
                random.setstate(python_state)
                np.random.set_state(numpy_state)
        graph = self.function.graph
        self.outputs = self.function.structured_outputs
        self.graph_def = graph.as_graph_def()
        captured = self.function.captured_inputs
        self.arguments = self.function.inputs[: len(self.function.inputs) - len(captured)]
        self.captures = list(zip(self.function.inputs[len(self.arguments) :], captured, strict=True))
        # TensorFlow keeps them in a set, whose order is another one each time; names are made in this order.
        order = {id(live): position for position, (_, live) in enumerate(self.captures)}
        self.variables = sorted(graph.variables, key=lambda v: _first_use(v, order))
        self._check_replicas()
        self.effects = [operation.name for operation in graph.control_outputs]
        # XLA keeps random state of its own.
        self.random = (
            random_state.RandomState({}, [], []) if self.jit else random_state.take_out(self.graph_def)
        )
        self.effects += self.random.effects
        self.drawn = False
        self._unit: StepUnit | None = None
        # A function's graph starts with the collections of the graph around it.
        # The program's own default graph hands its collections down; what was made eagerly has no graph.
        summaries = graph.get_collection(tf1.GraphKeys.SUMMARIES)
        self.summaries = [summary for summary in summaries if getattr(summary, "graph", None) is graph]

    @property
    def unsaved_random(self) -> list[str]:
        """Names of random operations whose state stays in TensorFlow's kernels, where no checkpoint finds it."""
        # A step that runs eagerly is not run from the graph out of which the state was taken.
        taken_out = [name.removesuffix("/counter") for name in self.random.counters]
        return [*self.random.others, *(taken_out if self.eager else ())]

    def _check_replicas(self) -> None:
        """Refuses what ends in an error that stops all replicas at the first batch of another size."""
        sparse = any(isinstance(gradient, tf.IndexedSlices) for _, gradient in self.observer.gradients)
        open_size = any(not tensor.shape.rank or tensor.shape[0] is None for tensor in self.arguments)
        if self.model.distribute_strategy.num_replicas_in_sync > 1 and sparse and open_size:
            raise UnsupportedModelError(
                "Under a strategy of several replicas, a model with sparse gradients (an Embedding) needs batches of one "
                "size when it has hooks: use dataset.batch(n, drop_remainder=True)."
            )

    def run_eagerly(self, batch: list[tf.Tensor], rate: tf.Tensor | None) -> dict[str, tf.Tensor]:
        """Runs the step eagerly, as Keras does with `run_eagerly=True`.

        Args:
          batch: The flat batch.
          rate: A learning rate to use instead of the optimizer's, or None.

        Returns:
          From the names of the traced step's tensors that are known by a documented name to their values in this run.
        """
        data = tf.nest.pack_sequence_as(self.spec, batch, expand_composites=True)
        seen = StepObserver(fed_rate=rate)
        with observing(self.model, seen):
            outputs = whole_step(self.model, self.kind)(data)
        known = self.observer
        values: dict[str, tf.Tensor] = {}

        def match(traced: Any, real: Any) -> None:
            flat = [tf.nest.flatten(structure, expand_composites=True) for structure in (traced, real)]
            # Older Keras 3 (3.12, for one) gives the logs of an eager step as floats.
            values.update(
                (tensor.name, tf.convert_to_tensor(value, tensor.dtype))
                for tensor, value in zip(*flat, strict=True)
                if isinstance(tensor, tf.Tensor)
            )

        match(self.outputs, outputs)
        match(known.rates, seen.rates)
        if known.loss is not None and seen.loss is not None:
            match(known.loss, seen.loss)
        for key, layer_outputs in known.layer_outputs.items():
            if key in seen.layer_outputs:
                match(layer_outputs, seen.layer_outputs[key])
        gradients = {id(variable): gradient for variable, gradient in seen.gradients}
        for variable, gradient in known.gradients:
            if id(variable) in gradients:
                match(gradient, gradients[id(variable)])
        return values

    def unit(self, outputs: list[str]) -> StepUnit:
        """Returns the step as one function that XLA compiles, the same for all programs of all fits.

        Args:
          outputs: Names of the step's tensors that it returns.
        """
        if self._unit is None:
            self._unit = StepUnit(self.function, self.graph_def, outputs)
        return self._unit


def whole_step(model: Any, kind: str) -> Callable[[Any], Any]:
    """Returns the function from one batch to the step's results, strategy and counters included.

    Args:
      model: A compiled model.
      kind: "train", "test" or "predict".

    Returns:
      A function that does in one step what the model's own compiled function does in one.
    """
    one_step = getattr(model, f"{kind}_step")
    counter = keras_internals.step_counters(model).get(kind)

    def replica_step(data: Any) -> Any:
        outputs = one_step(data)
        if counter is not None:
            tensors = [
                t for t in tf.nest.flatten(outputs, expand_composites=True) if isinstance(t, tf.Tensor)
            ]
            with tf.control_dependencies(tensors[-1:]):
                counter.assign_add(1)
        return outputs

    def step(data: Any) -> Any:
        data = tf.nest.map_structure(_without_optional, data)
        outputs = model.distribute_strategy.run(replica_step, args=(data,))
        return keras_replicas.reduce_replicas(model, outputs, kind)

    return step


def _without_optional(value: Any) -> Any:
    """Keras passes an absent input through `tf.data` as an empty Optional."""
    return None if isinstance(value, tf.experimental.Optional) else value


def _first_use(variable: tf.Variable, order: dict[int, int]) -> int:
    """Returns where in the captures of a function the first of a variable's replicas stands, or a number behind all."""
    return min(order.get(id(part.handle), len(order)) for part in tf_internals.replicas(variable))
