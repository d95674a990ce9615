"""`InMemoryEvaluatorHook`: evaluates in the training process, with the weights as they are, without a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError
from bridge.estimator.estimator import Estimator
from bridge.estimator.replicas import replicas_of

tf1 = tf.compat.v1
_SessionRunHook: Any = tf1.train.SessionRunHook


class InMemoryEvaluatorHook(_SessionRunHook):
    """Evaluates before the first step, every N steps, and at the end.

    It stands for `tf.estimator.experimental.InMemoryEvaluatorHook`.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        """Takes the evaluation.

        Args:
          estimator: The Estimator that trains.
          input_fn: As for `Estimator.evaluate`.
          steps: As for `Estimator.evaluate`.
          hooks: `SessionRunHook`s of the evaluation.
          name: As for `Estimator.evaluate`.
          every_n_iter: Runs between two evaluations.

        Raises:
          EstimatorError: (a ValueError) a number cannot be, or the Estimator is one of several processes.
        """
        if not every_n_iter or every_n_iter < 0:
            raise EstimatorError(f"invalid every_n_iter={every_n_iter}. Give a positive number.")
        config = estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise EstimatorError(
                "InMemoryEvaluator supports only single machine (aka Local) setting. In a cluster, start a task `evaluator`."
            )
        self._estimator, self._input_fn = estimator, input_fn
        self._hooks = estimator._evaluation_hooks(hooks, steps)
        self._eval_dir = estimator.eval_dir(name)
        self._timer = tf1.train.SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Builds the evaluation's graph."""
        self._timer.reset()
        self._runs = 0
        alone = replicas_of(None)
        with self._estimator._graph(alone) as graph:
            self._graph = graph
            self._evaluation = self._estimator._prepare_evaluation(alone, self._input_fn, self._hooks, None)
            for part in ("saver", "init_fn"):
                if getattr(self._evaluation.scaffold, part) is not None:
                    raise EstimatorError(
                        f"InMemoryEvaluator does not support custom {part}. Use train_and_evaluate, which evaluates checkpoints."
                    )
            self._variables = {variable.name: variable for variable in tf1.global_variables()}

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Evaluates the initial or restored weights."""
        del coord
        if tf1.get_collection(tf1.GraphKeys.SAVEABLE_OBJECTS):
            raise EstimatorError(
                "InMemoryEvaluator does not support saveables other than global variables, such as tables. Use "
                "train_and_evaluate, which evaluates checkpoints."
            )
        trained = {variable.name: variable for variable in tf1.global_variables()}
        self._trained = {name: trained[name] for name in self._variables if name in trained}
        with self._graph.as_default():
            self._feeds = {
                name: tf1.placeholder(variable.dtype.base_dtype) for name, variable in self._trained.items()
            }
            self._assign = tf.group(
                *(tf1.assign(self._variables[name], feed) for name, feed in self._feeds.items())
            )
        self._evaluate(session)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Evaluates every N runs."""
        del run_values
        self._runs += 1
        if self._timer.should_trigger_for_step(self._runs):
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        """Evaluates the last weights."""
        self._evaluate(session)

    def _evaluate(self, session: Any) -> None:
        values = session.run(self._trained)
        feeds = {self._feeds[name]: value for name, value in values.items()}

        def take_weights(scaffold: Any, evaluating: Any) -> None:
            del scaffold
            evaluating.run(self._assign, feed_dict=feeds)

        with self._graph.as_default():
            scaffold = tf1.train.Scaffold(init_fn=take_weights, copy_from_scaffold=self._evaluation.scaffold)
            self._estimator._run_evaluation(
                self._evaluation._replace(scaffold=scaffold), None, self._eval_dir
            )
        self._timer.update_last_triggered_step(self._runs)
