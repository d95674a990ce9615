"""What Keras callbacks see as their model when a v1 graph trains: weights, optimizer and files over a session."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import keras
import numpy as np
import tensorflow as tf

from bridge import tf_internals
from bridge.errors import GraphModelError
from bridge.graph_logs import graph_element
from bridge.graph_variables import GraphVariables, NamedArray, Run, step_variable

tf1 = tf.compat.v1


class GraphRate:
    """A learning rate in a graph that Python reads and sets.

    A variable is assigned; any other tensor is fed in every step from the moment when it is set.

    Attributes:
      variable: The variable, or None if it is another tensor.
    """

    def __init__(self, rate: Any, graph: tf.Graph) -> None:
        """Takes the rate.

        Args:
          rate: A variable, placeholder or other tensor of the graph, or its name.
          graph: The graph.
        """
        self.variable: Any | None = None
        if isinstance(rate, str):
            name = rate.split(":", maxsplit=1)[0]
            variables = graph.get_collection(tf1.GraphKeys.GLOBAL_VARIABLES)
            rate = next((v for v in variables if v.op.name == name), rate)
        self._tensor = graph_element(graph, rate, "learning_rate")
        if isinstance(rate, tf.Variable):
            self.variable, self._assigned = rate, GraphVariables(graph, [rate])
        elif not isinstance(self._tensor, tf.Tensor) or not graph.is_feedable(self._tensor):
            raise GraphModelError(
                f"learning_rate is {rate!r}, which can be neither assigned nor fed. Give a variable or a placeholder."
            )
        self._value: np.ndarray | None = None

    def read(self, run: Run) -> float:
        """Returns the rate of the next step."""
        if self.variable is not None:
            (value,) = self._assigned.read(run)
            return float(value)
        if self._value is not None:
            return float(self._value)
        if self._tensor.op.type == "Placeholder":
            raise GraphModelError(
                f"The learning rate is the placeholder {self._tensor.name}, which has no value yet. Set it before the "
                "training: model.optimizer.learning_rate = 0.1; feed_fn must not feed it then."
            )
        return float(run(self._tensor))

    def write(self, run: Run, value: Any) -> None:
        """Sets the rate of the steps to come."""
        if self.variable is not None:
            self._assigned.write(run, [value])
        else:
            self._value = np.asarray(value, self._tensor.dtype.base_dtype.as_numpy_dtype)

    def feed(self, feed_dict: dict[Any, Any] | None) -> dict[Any, Any] | None:
        """Adds the rate to what is fed in a step.

        Args:
          feed_dict: What else is fed; it stays as it is.

        Returns:
          What to feed.

        Raises:
          GraphModelError: if it is fed already.
        """
        if self._value is None:
            return feed_dict
        feed_dict = feed_dict or {}
        if any(feed is self._tensor or feed == self._tensor.name for feed in feed_dict):
            raise GraphModelError(
                f"feed_fn feeds {self._tensor.name}, whose value is that of model.optimizer.learning_rate since it was "
                "set, by you or by a callback. Leave it out of feed_fn, and set the first value before the training."
            )
        return {**feed_dict, self._tensor: self._value}


class GraphOptimizer:
    """Stands for `model.optimizer` in callbacks."""

    name = "graph_optimizer"

    def __init__(self, run: Run, rate: GraphRate | None, graph: tf.Graph) -> None:
        """Takes what it is made of: how to run things, the learning rate, and the graph."""
        self._run, self._rate, self._graph = run, rate, graph

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return self._known_rate().read(self._run)

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self._known_rate().write(self._run, value)

    def _known_rate(self) -> GraphRate:
        if self._rate is None:
            raise GraphModelError(
                "A callback asked for the learning rate, but nobody said which tensor of the graph it is. Say it: "
                "GraphModel(..., learning_rate=variable_or_placeholder), likewise for CallbackHook."
            )
        return self._rate

    @property
    def iterations(self) -> int:
        """The global step."""
        step = step_variable(self._graph)
        if step is None:
            raise GraphModelError(
                "A callback asked for the step, but the graph has no global step. Make one before training: "
                "tf.compat.v1.train.get_or_create_global_step(), given to the optimizer's minimize()."
            )
        return int(self._run(step))


class _Backing:
    """What a model keeps out of reach of Keras's own tracking of attributes."""

    def __init__(self, graph: tf.Graph, variables: Iterable[Any] | None, rate: Any) -> None:
        self.graph = graph
        self.rate = None if rate is None else GraphRate(rate, graph)
        self.variables = GraphVariables(graph, variables, rate=self.rate and self.rate.variable)
        self.session: Any = None


class _VariablesAsLayer:
    """Stands for the layers of the model in callbacks that look at their weights, such as TensorBoard's histograms."""

    name = "graph"

    def __init__(self, read: Callable[[], list[NamedArray]]) -> None:
        self._read = read

    @property
    def weights(self) -> list[NamedArray]:
        return self._read()


class GraphBackedModel(keras.Model):
    """A `keras.Model` whose weights are the variables of a v1 graph in a session."""

    def __init__(
        self, graph: tf.Graph, *, variables: Iterable[Any] | None = None, learning_rate: Any = None
    ) -> None:
        """Makes a model over a graph.

        Args:
          graph: The v1 graph.
          variables: What counts as weights; None for all global variables but the global step and the learning rate.
          learning_rate: A variable, placeholder or other tensor, or None.
        """
        with tf_internals.eager_mode():
            super().__init__()
        self._backing = _Backing(graph, variables, learning_rate)
        self.optimizer = GraphOptimizer(self.run, self._backing.rate, graph)
        self.built = True

    @property
    def graph(self) -> tf.Graph:
        """The v1 graph."""
        return self._backing.graph

    @property
    def session(self) -> Any:
        """The session of the last `fit` or `evaluate`, or None before."""
        return self._backing.session

    @property
    def rate(self) -> GraphRate | None:
        """The learning rate, or None if nobody said which tensor it is."""
        return self._backing.rate

    def bind(self, session: Any) -> None:
        """Uses a session from now on.

        Args:
          session: Anything with `run`. If it has `run_step_fn`, as monitored sessions have, what the model runs by
            itself goes to the raw session inside, past the hooks.
        """
        self._backing.session = session

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """Runs something in the session without hooks; callbacks may use it, too.

        Args:
          fetches: As for `tf.compat.v1.Session.run`.
          feed_dict: Likewise.

        Returns:
          What the session returns.

        Raises:
          GraphModelError: if there is no session, or it is closed.
        """
        session = self._backing.session
        if session is None or getattr(session, "graph", self.graph) is None:
            state = "closed" if session is not None else "not there yet"
            raise GraphModelError(
                f"The graph's variables live in a session, which is {state}. Use the model during sess.fit(model, ...), "
                "or after it inside the session's `with`."
            )
        run_step_fn = getattr(session, "run_step_fn", None)
        if run_step_fn is None:
            return session.run(fetches, feed_dict=feed_dict)
        used: list[Any] = []

        def step(step_context: Any) -> Any:
            used.append(step_context.session)
            return step_context.session.run(fetches, feed_dict=feed_dict)

        try:
            return run_step_fn(step)
        except RuntimeError:
            # After a preemption TensorFlow opens another session and repeats the call, but with the closed one.
            if len(used) < 2:
                raise
            return run_step_fn(step)

    @property
    def weights(self) -> list[NamedArray]:
        """The values of the graph's variables, each with a `name`: a copy, which does not follow the training."""
        return self._backing.variables.read(self.run)

    variables = weights

    @property
    def trainable_weights(self) -> list[NamedArray]:
        """Likewise, of the variables that are trained."""
        return self._backing.variables.read(self.run, self._backing.variables.trainable)

    trainable_variables = trainable_weights

    @property
    def non_trainable_weights(self) -> list[NamedArray]:
        """Likewise, of the others, such as the optimizer's slots."""
        trained = {v.op.name for v in self._backing.variables.trainable}
        others = [v for v in self._backing.variables.all if v.op.name not in trained]
        return self._backing.variables.read(self.run, others)

    non_trainable_variables = non_trainable_weights

    @property
    def layers(self) -> list[Any]:
        """One stand-in with all weights."""
        return [_VariablesAsLayer(lambda: self.weights)]

    @property
    def metrics(self) -> list[Any]:
        """No Keras metrics: the values are the graph's."""
        return []

    def get_weights(self) -> list[np.ndarray]:
        """Returns the values of the graph's variables: the optimizer's slots too, but not global step and learning rate."""
        return [weight.numpy() for weight in self.weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Sets the graph's variables.

        Args:
          weights: What `get_weights` returned.

        Raises:
          GraphModelError: if number or shapes do not fit.
        """
        self._backing.variables.write(self.run, weights)

    def save_weights(self, filepath: str | os.PathLike[str], overwrite: bool = True) -> None:
        """Saves the graph's variables and its global step under their names.

        Args:
          filepath: `<name>.weights.h5` for an HDF5 file (what ModelCheckpoint asks for), anything else for the prefix
            of a v1 checkpoint, which `tf.compat.v1.train.Saver` restores.
          overwrite: Whether a file that exists may be replaced.

        Raises:
          GraphModelError: if it exists and may not be replaced.
        """
        path = os.fspath(filepath)
        if not overwrite and (tf.io.gfile.exists(path) or tf.io.gfile.exists(f"{path}.index")):
            raise GraphModelError(f"{path} exists. Give another path, or overwrite=True.")
        self._backing.variables.save(self.run, path)

    def load_weights(self, filepath: str | os.PathLike[str]) -> None:
        """Sets the graph's variables, not its global step, to saved values.

        Args:
          filepath: What `save_weights` wrote, or any v1 checkpoint.

        Raises:
          GraphModelError: if a variable is missing there or has another shape.
        """
        self._backing.variables.load(self.run, filepath)

    def count_params(self) -> int:
        """Returns how many numbers the weights are."""
        return sum(int(v.shape.num_elements() or 0) for v in self._backing.variables.all)

    def summary(self, *unused: Any, print_fn: Callable[[str], None] = print, **unused_options: Any) -> None:
        """Prints the graph's variables: name, shape, type.

        Args:
          *unused: Keras's options of its own table.
          print_fn: Called with each line.
          **unused_options: Likewise.
        """
        for variable in self._backing.variables.all:
            print_fn(f"{variable.op.name}  {variable.shape}  {variable.dtype.base_dtype.name}")
        print_fn(f"Total: {self.count_params()}")

    def _refuse(self, what: str, way_out: str) -> NoReturn:
        raise GraphModelError(f"{type(self).__name__} has no {what}: it runs a v1 graph. {way_out}")

    def compile(self, *unused: Any, **unused_options: Any) -> NoReturn:
        """Is refused: loss and optimizer are in the graph."""
        self._refuse("compile", "Leave it out: loss and optimizer are in the graph.")

    def save(self, *unused: Any, **unused_options: Any) -> NoReturn:
        """Is refused: a graph is not a Keras model that could be loaded again."""
        self._refuse(
            "save", "Use save_weights, or the session's checkpoint_dir for v1 checkpoints with the graph."
        )

    def export(self, *unused: Any, **unused_options: Any) -> NoReturn:
        """Is refused, as `save`."""
        self._refuse("export", "Use tf.compat.v1.saved_model.Builder with the session.")

    def predict(self, *unused: Any, **unused_options: Any) -> NoReturn:
        """Is refused: outputs are tensors of the graph."""
        self._refuse("predict", "Run the output tensor: model.run(output, feed_dict), or in the session.")

    def train_on_batch(self, *unused: Any, **unused_options: Any) -> NoReturn:
        """Is refused: the session runs single steps."""
        self._refuse("train_on_batch", "Use sess.run(train_op, feed_dict).")

    def test_on_batch(self, *unused: Any, **unused_options: Any) -> NoReturn:
        """Is refused, as `train_on_batch`."""
        self._refuse("test_on_batch", "Use model.run(tensors, feed_dict).")

    def predict_on_batch(self, *unused: Any, **unused_options: Any) -> NoReturn:
        """Is refused, as `predict`."""
        self._refuse("predict_on_batch", "Use model.run(output, feed_dict).")

    def call(self, *unused: Any, **unused_options: Any) -> NoReturn:
        """Is refused: the graph is built already."""
        self._refuse("call", "Use the graph's own tensors.")
