"""The v1 graph of a Keras step, over the model's own live variables.

`StepGraph` imports a traced step into a plain `tf.Graph`, replaces every captured variable by a v1 variable of a
stable name, and gives the tensors that hooks ask for documented names. Hooks build and fetch in this graph;
`LiveSession` runs it.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import tensorflow as tf

from bridge import keras_internals, names, tf_internals
from bridge.trace import StepTrace

tf1 = tf.compat.v1

STEP_SCOPE = "keras_step"


@dataclasses.dataclass(frozen=True)
class GraphName:
    """One documented name of a step graph.

    Attributes:
      name: The operation's name, for instance `dense/output`.
      kind: "variable", "optimizer", "random", "metric", "step", "other", "batch", "loss", "logs", "rate", "layer",
        "gradient" or "operation".
      shape: The static shape.
      dtype: The element type, or None for an operation.
    """

    name: str
    kind: str
    shape: tf.TensorShape | None
    dtype: tf.DType | None


class StepGraph:
    """A Keras step as a v1 graph.

    Attributes:
      graph: The `tf.Graph`, not finalised.
      train_op: The operation that runs the whole step, for training, evaluation or prediction alike.
      outputs: The step's results (for training: Keras's running logs) in their structure.
      variables: The live variables that the graph's own stand for.
      batch: The placeholders of one batch, flat, in the order of the iterator's components.
      bindings: From a tensor's name in the graph to the live eager tensor that stands behind it.
      initializers: Names of the operations that would initialise a live variable.
      aliases: From a named tensor to the inner tensors of the step that it shows; feeding one feeds the others.
      loss: The inner tensor of the step's loss, if it has one.
      absent: From a documented name that this step does not have to the reason.
      unreachable: From a named tensor that cannot be fed to the reason and the way out.
      results: Names of the inner tensors that Keras itself asks the step for.
      unit_outputs: Names of inner tensors that are the step's results even when it runs as one compiled unit.
      names: The documented names.
    """

    def __init__(self, model: Any, trace: StepTrace, position: tf.Variable | None = None) -> None:
        """Builds the graph.

        Args:
          model: The model that was traced.
          trace: Its traced step.
          position: Counts the batches of a job, whatever the optimizer makes of them; None for no such count.
        """
        self.trace = trace
        self.graph = tf.Graph()
        self.bindings: dict[str, tf.Tensor] = {}
        self.initializers: dict[str, str] = {}
        self.aliases: dict[str, list[tf.Tensor]] = {}
        self.unit_outputs: set[str] = set()
        self.names: list[GraphName] = []
        self.mirrored: dict[str, tf.Variable] = {}
        self.unreachable: dict[str, str] = {}
        self.loss: tf.Tensor | None = None
        self.absent: dict[str, str] = {}
        self._proxies: dict[int, Any] = {}  # by id of the live handle
        # Asked before the graph is the default one: distributed variables cannot be looked at from inside.
        self.step_variable = self._choose_step(model, {id(live) for _, live in trace.captures})
        self.variables = names.variables_of(model, self.step_variable, trace.variables)
        self.variables += [
            names.NamedVariable(f"random_state/counter_{number}", "random", counter, False)
            for number, counter in enumerate(trace.random.counters.values())
        ]
        layers = names.layer_names(model)
        if position is not None:
            self.variables.append(names.NamedVariable(names.POSITION, "position", position, False))
        self._position = position
        with self.graph.as_default():
            for variable in self.variables:
                self._add_variable(variable)
            self.batch = self._add_batch()
            inner = self._import_step()
            self.outputs = self._add_results(inner)
            self._add_inner_names(model, layers, inner)
            for summary in trace.summaries:
                tf1.add_to_collection(tf1.GraphKeys.SUMMARIES, inner(summary))

    def shown_by(self, tensor: tf.Tensor) -> list[tf.Tensor]:
        """Returns the inner tensors of the step that a named tensor shows; a feed must replace them too."""
        return self.aliases.get(tensor.name, [])

    def is_live(self, variable: Any) -> bool:
        """Tells whether a v1 variable of the graph stands for one of the model's, which always has a value."""
        return any(variable is proxy for proxy in self._proxies.values())

    def _choose_step(self, model: Any, captured: set[int]) -> tf.Variable:
        """Finds the counter that this step advances; a step without one gets a counter of its own."""
        counters = [
            keras_internals.tf_variable(keras_internals.step_variable(o))
            for o in keras_internals.optimizers_of(model)
        ]
        advanced = [c for c in counters if captured.intersection(map(id, _handles(c)))]
        self.advances_step = bool(advanced) or self.trace.kind != "train"
        if advanced or (counters and self.trace.kind != "train"):
            return (advanced or counters)[0]
        return _own_step(model)

    def _add_variable(self, named: names.NamedVariable) -> None:
        keys = tf1.GraphKeys
        collections = {
            "metric": [keys.LOCAL_VARIABLES, keys.METRIC_VARIABLES],
            "step": [keys.GLOBAL_VARIABLES, keys.GLOBAL_STEP],
        }.get(named.kind, [keys.GLOBAL_VARIABLES])
        handles = _handles(named.variable)
        for replica, handle in enumerate(handles):
            variable = named.variable
            proxy = tf1.Variable(
                tf.zeros([size or 0 for size in variable.shape], variable.dtype),
                trainable=named.trainable and replica == 0,
                collections=collections if replica == 0 else [],
                name=named.name if replica == 0 else f"{named.name}/replica_{replica}",
                use_resource=True,
                validate_shape=variable.shape.is_fully_defined(),
            )
            self._proxies[id(handle)] = proxy
            tf_internals.register_variable(proxy)
            self.bindings[proxy.handle.name] = handle
            self.initializers[proxy.initializer.name] = proxy.initializer.inputs[1].name
        if len(handles) > 1:
            self.mirrored[self._proxies[id(handles[0])].handle.name] = named.variable
        kind = "variable" if named.kind == "model" else named.kind
        self._list(named.name, kind, named.variable.shape, named.variable.dtype)
        if named.kind == "step":
            self.global_step = self._proxies[id(handles[0])]
            with tf.name_scope(f"{names.GLOBAL_STEP}/"):
                # Built-in hooks would make a guarded reading of it here, with a branch in every step.
                tf1.add_to_collection(tf_internals.GLOBAL_STEP_READ_KEY, self.global_step.value())

    def _add_batch(self) -> list[tf.Tensor]:
        paths = _batch_names(self.trace.spec, self.trace.kind)
        placeholders = []
        for argument, path in zip(self.trace.arguments, paths, strict=True):
            placeholder = tf1.placeholder(argument.dtype, argument.shape, name=path)
            placeholders.append(placeholder)
            self._list(placeholder.op.name, "batch", placeholder.shape, placeholder.dtype)
        return placeholders

    def _import_step(self) -> Any:
        """Imports the traced step; returns the function from its tensors to the imported ones."""
        trace = self.trace
        inputs = {
            argument.name: placeholder
            for argument, placeholder in zip(trace.arguments, self.batch, strict=True)
        }
        for tensor, live in trace.captures:
            proxy = self._proxies.get(id(live))
            if proxy is not None:
                inputs[tensor.name] = proxy.handle
            else:  # Tables, generators and constants that the step captured.
                inputs[tensor.name] = self._add_stand_in(tensor.op.name, tensor.dtype, tensor.shape, live)
        for name, counter in trace.random.counters.items():
            inputs[f"{name}:0"] = self._proxies[id(counter.handle)].handle
        self.inputs = inputs
        tf.graph_util.import_graph_def(trace.graph_def, input_map=inputs, name=STEP_SCOPE)

        def inner(tensor: tf.Tensor) -> tf.Tensor:
            if tensor.name in inputs:
                return inputs[tensor.name]
            return self.graph.get_tensor_by_name(f"{STEP_SCOPE}/{tensor.name}")

        return inner

    def _add_stand_in(self, name: str, dtype: tf.DType, shape: Any, live: tf.Tensor) -> tf.Tensor:
        stand_in = tf1.placeholder(dtype, shape, name=f"captured/{name}")
        self.bindings[stand_in.name] = live
        return stand_in

    def _add_results(self, inner: Any) -> Any:
        traced = tf.nest.flatten(self.trace.outputs, expand_composites=True)
        flat = [None if tensor is None else inner(tensor) for tensor in traced]
        self.results = {tensor.name for tensor in flat if tensor is not None}
        self.unit_outputs.update(self.results)
        effects = [self.graph.get_operation_by_name(f"{STEP_SCOPE}/{name}") for name in self.trace.effects]
        done = [*effects, *(tensor.op for tensor in flat if tensor is not None)]
        counters = [] if self.advances_step else [self.global_step]
        if self._position is not None:
            counters.append(self._proxies[id(self._position.handle)])
        if counters:
            with tf.control_dependencies(done), tf.name_scope(f"{STEP_SCOPE}_counter/"):
                done = [tf1.assign_add(counter, tf.ones([], counter.dtype)).op for counter in counters]
        self.train_op = tf.group(*done, name="train_op")
        self._list("train_op", "operation", None, None)
        return tf.nest.pack_sequence_as(self.trace.outputs, flat, expand_composites=True)

    def _add_inner_names(self, model: Any, layers: dict[int, str], inner: Any) -> None:
        observer = self.trace.observer
        logs = self.outputs if isinstance(self.outputs, dict) else {}
        for key, tensor in logs.items():
            if isinstance(tensor, tf.Tensor):
                self._alias(f"logs/{key}", "logs", tensor)
        loss = observer.loss
        if loss is not None:
            loss = inner(loss)
            self.unit_outputs.add(loss.name)
            self.loss = loss
            self._alias("loss", "loss", loss)
        else:
            self.absent["loss"] = (
                "The step computes its loss inside a tf.function of its own: take the decorator off train_step."
                if observer.hidden_loss
                else "The step has no single loss that can be told."
            ) + " 'logs/loss', if the step returns it, is Keras's running value."
        self._add_rate(model, inner)
        for key, outputs in observer.layer_outputs.items():
            if layers.get(key):
                self._alias_all(f"{layers[key]}/output", "layer", outputs, inner)
            elif key == id(model):
                self._alias_all("model/output", "layer", outputs, inner)
        for variable, gradient in observer.gradients:
            proxy = self._proxies.get(id(_handles(variable)[0]))
            if proxy is not None:
                self._alias_all(f"gradients/{proxy.op.name}", "gradient", gradient, inner)

    def _add_rate(self, model: Any, inner: Any) -> None:
        """Names the learning rate that the step uses; where no feed can reach its use, feeding is refused."""
        observer = self.trace.observer
        optimizers = keras_internals.optimizers_of(model)
        if not optimizers:
            return
        inside = [inner(rate) for rate in observer.rates]
        hidden = observer.hidden_rate
        variable = keras_internals.rate_variable(optimizers[0])
        handle = None if variable is None else _handles(keras_internals.tf_variable(variable))[0]
        proxy = self._proxies.get(id(handle))
        if inside:
            value = inside[0]
        elif proxy is not None:
            value = proxy.read_value()
            uses = [op for op in proxy.handle.consumers() if op.name.startswith(f"{STEP_SCOPE}/")]
            inside = [op.outputs[0] for op in uses if op.type == "ReadVariableOp"]
            hidden = hidden or not inside or len(inside) < len(uses)
        else:
            schedule = keras_internals.schedule_of(optimizers[0])
            if schedule is None:
                return
            value = tf.convert_to_tensor(schedule(self.global_step.read_value()))
            hidden = True
        alias = tf.identity(value, name="learning_rate")
        self.aliases[alias.name] = inside
        if hidden:
            self.unreachable[alias.name] = (
                "the optimizer reads its learning rate where no feed reaches it (a schedule of tf_keras, gradient "
                "accumulation or loss scaling). Use model.optimizer.learning_rate.assign(...), or a schedule."
            )
        self._list("learning_rate", "rate", alias.shape, alias.dtype)

    def _alias_all(self, name: str, kind: str, structure: Any, inner: Any) -> None:
        flat = tf.nest.flatten(structure, expand_composites=True)
        paths = _component_names(structure)
        for path, tensor in zip(paths, flat, strict=True):
            if tensor is not None:
                self._alias(f"{name}/{path}" if path else name, kind, inner(tensor))

    def _alias(self, name: str, kind: str, tensor: tf.Tensor) -> None:
        alias = tf.identity(tensor, name=_op_name(name))
        self.aliases[alias.name] = [tensor]
        self._list(alias.op.name, kind, alias.shape, alias.dtype)

    def _list(self, name: str, kind: str, shape: tf.TensorShape | None, dtype: tf.DType | None) -> None:
        self.names.append(GraphName(name, kind, shape, dtype))


def _op_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.\\/>-]", "_", name).lstrip("_-/\\>") or "unnamed"


def _handles(variable: tf.Variable) -> list[tf.Tensor]:
    return [component.handle for component in tf_internals.replicas(variable)]


def _own_step(model: Any) -> tf.Variable:
    """Returns the bridge's own step counter for a model none of whose optimizers counts its steps."""
    counter = vars(model).get("_bridge_global_step")
    if counter is None:
        with tf.init_scope():
            counter = tf.Variable(0, trainable=False, dtype=tf.int64, name=names.GLOBAL_STEP)
        object.__setattr__(model, "_bridge_global_step", counter)
    return counter


def _batch_names(spec: Any, kind: str) -> list[str]:
    """Names the flat components of a batch: `batch/x`, `batch/y`, `batch/sample_weight`, and what is in them."""
    parts = spec if isinstance(spec, tuple) and len(spec) <= 3 else (spec,)
    if kind == "predict":
        parts = parts[:1] if isinstance(spec, tuple) else parts
    found: list[str] = []
    for label, part in zip(("x", "y", "sample_weight"), parts, strict=False):
        found.extend(f"batch/{label}/{path}" if path else f"batch/{label}" for path in _component_names(part))
    return [_op_name(name) for name in found]


def _component_names(structure: Any) -> list[str]:
    """Names the flat components of a structure by their keys, positions and, in composites, their roles."""
    if structure is None:
        return []
    if isinstance(structure, dict):
        # tf.nest takes dictionaries in the order of their sorted keys.
        pairs = [(str(key), structure[key]) for key in sorted(structure)]
    elif hasattr(structure, "_fields"):
        pairs = list(zip(structure._fields, structure, strict=True))
    elif isinstance(structure, (list, tuple)):
        pairs = [(str(position), value) for position, value in enumerate(structure)]
    else:
        count = len(tf.nest.flatten(structure, expand_composites=True))
        return [""] if count == 1 and not _is_composite(structure) else _role_names(structure, count)
    return [f"{key}/{path}" if path else key for key, value in pairs for path in _component_names(value)]


def _is_composite(value: Any) -> bool:
    return isinstance(
        value, (tf.RaggedTensor, tf.RaggedTensorSpec, tf.SparseTensor, tf.SparseTensorSpec, tf.IndexedSlices)
    )


def _role_names(value: Any, count: int) -> list[str]:
    if isinstance(value, (tf.RaggedTensor, tf.RaggedTensorSpec)):
        splits = [f"row_splits_{i}" if i else "row_splits" for i in range(count - 1)]
        return ["values", *splits]
    if isinstance(value, (tf.SparseTensor, tf.SparseTensorSpec)):
        return ["indices", "values", "dense_shape"]
    if isinstance(value, tf.IndexedSlices):
        return ["values", "indices", "dense_shape"][:count]
    return [f"replica_{i}" if i else "" for i in range(count)]  # PerReplica
