"""The programs of the oracle: each builds the hooks of one small training run, the same in both worlds.

A scenario gets a `Run` (a folder, a clock, a trace to write into) and returns hooks, or callables without arguments
that make a hook inside the step's graph. It relies only on what both graphs name alike: `global_step`, `loss`,
`batch/x`, `batch/y`, `learning_rate`, `dense/kernel`, `dense/bias`, `dense/output`, `gradients/dense/kernel`. A
table needs no training: it is a function that returns what it found.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import numpy as np
import tensorflow.compat.v1 as tf

from tests.oracle.recording import Run, told

KERNEL = np.array([[0.5], [-0.25], [0.125]], np.float32)
BIAS = np.array([0.25], np.float32)
LEARNING_RATE = 0.125


@dataclasses.dataclass(frozen=True)
class Scenario:
    """One program: its hooks, and the training run that they are in."""

    name: str
    make_hooks: Callable[[Run], list[Any]]
    batches: int = 5
    epochs: int = 2
    start_step: int = 0
    nan_batch: int | None = None
    make_scaffold: Callable[[Run], Any] | None = None
    # Whether the data come from an iterator in the v1 graph, so that their end is an OutOfRangeError there.
    iterator: bool = False
    # Whether the v1 graph has reference variables, whose name is that of their value, in place of resource variables.
    reference_variables: bool = False

    @property
    def room(self) -> str:
        return self.name.split("/")[0]

    def epoch(self) -> tuple[np.ndarray, np.ndarray]:
        """The batches of one epoch, stacked: x of shape (batches, 2, 3), y of shape (batches, 2, 1)."""
        x = (np.arange(self.batches * 6) * 5 % 11 - 5).reshape(-1, 2, 3) / 8
        y = (np.arange(self.batches * 2) * 3 % 7 - 3).reshape(-1, 2, 1) / 4
        if self.nan_batch is not None:
            y[self.nan_batch] = np.nan
        return x.astype(np.float32), y.astype(np.float32)


@dataclasses.dataclass(frozen=True)
class Table:
    """A program that trains nothing."""

    name: str
    look_up: Callable[[Run], Any]

    @property
    def room(self) -> str:
        return self.name.split("/")[0]


SCENARIOS: dict[str, Scenario | Table] = {}


def scenario(name: str, **options: Any) -> Callable[[Callable[[Run], Any]], Callable[[Run], Any]]:
    def register(make_hooks: Callable[[Run], Any]) -> Callable[[Run], Any]:
        SCENARIOS[name] = Scenario(name, make_hooks, **options)
        return make_hooks

    return register


def table(name: str) -> Callable[[Callable[[Run], Any]], Callable[[Run], Any]]:
    def register(look_up: Callable[[Run], Any]) -> Callable[[Run], Any]:
        SCENARIOS[name] = Table(name, look_up)
        return look_up

    return register


def tensor(name: str) -> Any:
    return tf.get_default_graph().get_tensor_by_name(name + ":0")


def variable(name: str, graph: Any = None) -> Any:
    """The variable of that name; its tensor is a reference in one world and a handle in the other."""
    with (graph or tf.get_default_graph()).as_default():
        return next(found for found in tf.global_variables() if found.op.name == name)


def plain_scaffold(run: Run) -> Any:
    return tf.train.Scaffold()


def refusals(*attempts: Callable[[], object]) -> list[Any]:
    """What each attempt raises, None for one that goes through."""
    return [refusal(attempt) for attempt in attempts]


def refusal(attempt: Callable[[], object]) -> Any:
    try:
        attempt()
    except (ValueError, RuntimeError, TypeError) as error:
        return told(error)
    return None


class Tracer(tf.train.SessionRunHook):
    """Writes down each call it gets and the global step it sees there."""

    def __init__(self, run: Run, name: str = "hook", stop_at: int | None = None, fail_in: str = "") -> None:
        self._run, self._name, self._stop_at, self._fail_in = run, name, stop_at, fail_in

    def _step(self, session: Any) -> int:
        return int(session.run(tf.train.get_global_step(session.graph)))

    def _saw(self, call: str, *what: Any) -> None:
        self._run.saw(self._name, call, *what)
        if call == self._fail_in:
            raise ZeroDivisionError(f"{call} of {self._name}")

    def begin(self) -> None:
        graph = tf.get_default_graph()
        self._global_step = tf.train.get_global_step(graph)
        self._saw("begin", "finalized" if graph.finalized else "open")

    def after_create_session(self, session: Any, coord: Any) -> None:
        finalized = "finalized" if session.graph.finalized else "open"
        self._saw("after_create_session", finalized, self._step(session))

    def before_run(self, run_context: Any) -> Any:
        self._saw("before_run", self._step(run_context.session))
        return tf.train.SessionRunArgs(self._global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = self._step(run_context.session)
        self._saw("after_run", run_values.results, step)
        if step == self._stop_at:
            run_context.request_stop()

    def end(self, session: Any) -> None:
        self._saw("end", self._step(session))


class TracingListener(tf.train.CheckpointSaverListener):
    """A checkpoint listener which writes down its calls."""

    def __init__(self, run: Run, name: str, stop_from: int | None = None) -> None:
        self._run, self._name, self._stop_from = run, name, stop_from

    def begin(self) -> None:
        self._run.saw(self._name, "begin")

    def before_save(self, session: Any, global_step_value: Any) -> None:
        self._run.saw(self._name, "before_save", global_step_value)

    def after_save(self, session: Any, global_step_value: Any) -> bool | None:
        self._run.saw(self._name, "after_save", global_step_value)
        return self._stop_from is not None and global_step_value >= self._stop_from

    def end(self, session: Any, global_step_value: Any) -> None:
        self._run.saw(self._name, "end", global_step_value)


# --- hook life -------------------------------------------------------------------------------------------------


@scenario("hook_life/calls_and_steps", batches=2)
def _(run: Run) -> list[Any]:
    return [Tracer(run)]


@scenario("hook_life/two_hooks_keep_their_order", batches=2, epochs=1)
def _(run: Run) -> list[Any]:
    return [Tracer(run, "first"), Tracer(run, "second")]


@scenario("hook_life/chief_only_hooks_come_first", batches=2, epochs=1)
def _(run: Run) -> list[Any]:
    run.chief_only_hooks = [Tracer(run, "chief")]
    return [Tracer(run, "user")]


@scenario("hook_life/request_stop_lets_the_step_finish")
def _(run: Run) -> list[Any]:
    return [Tracer(run, "stopper", stop_at=3), Tracer(run, "other")]


@scenario("hook_life/an_error_in_before_run")
def _(run: Run) -> list[Any]:
    return [Tracer(run, "sound"), Tracer(run, "broken", fail_in="before_run")]


@scenario("hook_life/an_error_in_after_run")
def _(run: Run) -> list[Any]:
    return [Tracer(run, "sound"), Tracer(run, "broken", fail_in="after_run"), Tracer(run, "later")]


@scenario("hook_life/an_error_in_begin")
def _(run: Run) -> list[Any]:
    return [Tracer(run, "sound"), Tracer(run, "broken", fail_in="begin")]


@scenario("hook_life/an_error_in_end", batches=1)
def _(run: Run) -> list[Any]:
    return [Tracer(run, "broken", fail_in="end"), Tracer(run, "later")]


@scenario("hook_life/the_data_end", batches=2, iterator=True)
def _(run: Run) -> list[Any]:
    return [Tracer(run)]


class Raising(tf.train.SessionRunHook):
    """Raises `error` instead of the third step."""

    def __init__(self, error: Exception) -> None:
        self._error = error
        self._calls = 0

    def before_run(self, run_context: Any) -> None:
        self._calls += 1
        if self._calls == 3:
            raise self._error


@scenario("hook_life/out_of_range_from_a_hook_ends_training")
def _(run: Run) -> list[Any]:
    return [Tracer(run), Raising(tf.errors.OutOfRangeError(None, None, "no more"))]


@scenario("hook_life/stop_iteration_from_a_hook_ends_training")
def _(run: Run) -> list[Any]:
    return [Tracer(run), Raising(StopIteration("no more"))]


class OwnData(tf.train.SessionRunHook):
    """Fetches an element of its own three-element dataset in each step."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def begin(self) -> None:
        self._element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._element)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._run.saw("element", run_values.results)


@scenario("hook_life/a_hook's_own_data_end_in_the_step")
def _(run: Run) -> list[Any]:
    return [Tracer(run), OwnData(run)]


class OwnResources(tf.train.SessionRunHook):
    """Has a table, a queue and an iterator of its own, all made in `begin`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def begin(self) -> None:
        pairs = tf.lookup.KeyValueTensorInitializer(["even", "odd"], np.array([20, 30]))
        self._looked_up = tf.lookup.StaticHashTable(pairs, -1).lookup(tf.constant(["odd", "even", "none"]))
        queue = tf.FIFOQueue(20, [tf.float32], shapes=[[]])
        self._enqueue, self._size = queue.enqueue(tensor("loss")), queue.size()
        self._dequeue_all = queue.dequeue_many(queue.size())
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(5, 9).repeat())
        self._restart, self._element = iterator.initializer, iterator.get_next()

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._restart)

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs([self._looked_up, self._element, self._enqueue])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._run.saw(run_values.results, run_context.session.run(self._size))

    def end(self, session: Any) -> None:
        self._run.saw("losses", session.run(self._dequeue_all), "next", session.run(self._element))


@scenario("hook_life/resources_of_a_hook", batches=3)
def _(run: Run) -> list[Any]:
    return [OwnResources(run)]


class Fetcher(tf.train.SessionRunHook):
    """Fetches whatever `make_fetches` returns in `begin`, and writes down the results."""

    def __init__(self, run: Run, make_fetches: Callable[[], Any]) -> None:
        self._run, self._make_fetches = run, make_fetches

    def begin(self) -> None:
        self._fetches = self._make_fetches()

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._run.saw(type(run_values.results).__name__, run_values.results)


@scenario("hook_life/fetches_keep_their_structure", batches=2, epochs=1)
def _(run: Run) -> list[Any]:
    return [
        Fetcher(run, lambda: None),
        Fetcher(run, lambda: tensor("loss")),
        Fetcher(run, lambda: "loss:0"),
        Fetcher(run, lambda: [tensor("loss"), tf.train.get_global_step()]),
        Fetcher(run, lambda: (tensor("loss"), tensor("loss").op)),
        Fetcher(run, lambda: {"inner": {"bias": variable("dense/bias")}, "x": [tensor("batch/x")]}),
    ]


@scenario("hook_life/inner_tensors_by_name", batches=3, epochs=1)
def _(run: Run) -> list[Any]:
    names = ["batch/x:0", "batch/y:0", "dense/output:0", "gradients/dense/kernel:0", "learning_rate:0"]
    return [Fetcher(run, lambda: names)]


@scenario("hook_life/variables_are_read_before_the_step", batches=3, epochs=1)
def _(run: Run) -> list[Any]:
    def fetches() -> list[Any]:
        kernel = variable("dense/kernel")
        return [kernel, kernel + 0.0, tf.reduce_sum(kernel), tf.train.get_global_step()]

    return [Fetcher(run, fetches)]


@scenario(
    "hook_life/reference_variables_are_read_after_the_step", batches=3, epochs=1, reference_variables=True
)
def _(run: Run) -> list[Any]:
    return [Fetcher(run, lambda: [tf.train.get_global_step(), variable("dense/kernel")])]


# --- StopAtStepHook --------------------------------------------------------------------------------------------


@scenario("stop_at_step/last_step")
def _(run: Run) -> list[Any]:
    return [tf.train.StopAtStepHook(last_step=4)]


@scenario("stop_at_step/last_step_in_the_second_epoch")
def _(run: Run) -> list[Any]:
    return [tf.train.StopAtStepHook(last_step=7)]


@scenario("stop_at_step/last_step_beyond_the_data")
def _(run: Run) -> list[Any]:
    return [tf.train.StopAtStepHook(last_step=100)]


@scenario("stop_at_step/last_step_when_resumed", start_step=3)
def _(run: Run) -> list[Any]:
    return [tf.train.StopAtStepHook(last_step=5)]


@scenario("stop_at_step/last_step_already_reached", start_step=6)
def _(run: Run) -> list[Any]:
    return [tf.train.StopAtStepHook(last_step=5), Tracer(run)]


@scenario("stop_at_step/num_steps")
def _(run: Run) -> list[Any]:
    return [tf.train.StopAtStepHook(num_steps=6)]


@scenario("stop_at_step/num_steps_when_resumed", start_step=3)
def _(run: Run) -> list[Any]:
    return [tf.train.StopAtStepHook(num_steps=3), Tracer(run)]


@scenario("stop_at_step/the_earlier_of_two")
def _(run: Run) -> list[Any]:
    return [tf.train.StopAtStepHook(last_step=6), tf.train.StopAtStepHook(num_steps=2)]


@table("stop_at_step/refusals")
def _(run: Run) -> Any:
    return refusals(
        lambda: tf.train.StopAtStepHook(num_steps=3, last_step=3),
        tf.train.StopAtStepHook,
    )


# --- LoggingTensorHook -----------------------------------------------------------------------------------------


def step_and_loss() -> dict[str, Any]:
    return {"step": tf.train.get_global_step(), "loss": "loss"}


@scenario("logging_tensor/every_n_iter")
def _(run: Run) -> list[Any]:
    return [lambda: tf.train.LoggingTensorHook(step_and_loss(), every_n_iter=3)]


@scenario("logging_tensor/every_n_iter_when_resumed", start_step=4)
def _(run: Run) -> list[Any]:
    return [lambda: tf.train.LoggingTensorHook(step_and_loss(), every_n_iter=2)]


@scenario("logging_tensor/every_n_secs")
def _(run: Run) -> list[Any]:
    return [lambda: tf.train.LoggingTensorHook(step_and_loss(), every_n_secs=2)]


@scenario("logging_tensor/names_in_their_order")
def _(run: Run) -> list[Any]:
    return [tf.train.LoggingTensorHook(["loss:0", "learning_rate", "batch/y"], every_n_iter=4)]


@scenario("logging_tensor/the_step_by_name", reference_variables=True)
def _(run: Run) -> list[Any]:
    return [tf.train.LoggingTensorHook(["global_step", "loss"], every_n_iter=3)]


@scenario("logging_tensor/at_end_only", reference_variables=True)
def _(run: Run) -> list[Any]:
    return [tf.train.LoggingTensorHook(["global_step"], at_end=True)]


@scenario("logging_tensor/every_n_iter_and_at_end")
def _(run: Run) -> list[Any]:
    def make() -> Any:
        doubled = tf.train.get_global_step() * 2
        return tf.train.LoggingTensorHook({"doubled": doubled}, every_n_iter=4, at_end=True)

    return [make]


@scenario("logging_tensor/formatter")
def _(run: Run) -> list[Any]:
    def formatter(values: dict[str, Any]) -> str:
        return "100% sure: step {step} of loss {loss:.3f}".format(**values)

    return [lambda: tf.train.LoggingTensorHook(step_and_loss(), every_n_iter=5, formatter=formatter)]


@scenario("logging_tensor/arrays_and_tensors_of_the_graph")
def _(run: Run) -> list[Any]:
    def make() -> Any:
        return tf.train.LoggingTensorHook(
            {
                "output": tensor("dense/output"),
                "x": "batch/x",
                "small": tf.constant([[1e-7, 1.0], [2.5, -3e-5]], name="small"),
                "text": tf.constant("words"),
            },
            every_n_iter=4,
        )

    return [make]


@scenario("logging_tensor/an_unknown_name")
def _(run: Run) -> list[Any]:
    return [tf.train.LoggingTensorHook(["no_such_tensor"], every_n_iter=3)]


@table("logging_tensor/refusals")
def _(run: Run) -> Any:
    return refusals(
        lambda: tf.train.LoggingTensorHook(["t"]),
        lambda: tf.train.LoggingTensorHook(["t"], every_n_iter=1, every_n_secs=1),
        lambda: tf.train.LoggingTensorHook(["t"], every_n_iter=0),
        lambda: tf.train.LoggingTensorHook(["t"], every_n_iter=-2, at_end=True),
        lambda: tf.train.LoggingTensorHook(["t"], at_end=True),
    )


# --- CheckpointSaverHook ---------------------------------------------------------------------------------------


@scenario("checkpoint_saver/save_steps")
def _(run: Run) -> list[Any]:
    return [tf.train.CheckpointSaverHook(run.directory, save_steps=4)]


@scenario("checkpoint_saver/the_last_step_is_never_saved_twice")
def _(run: Run) -> list[Any]:
    return [tf.train.CheckpointSaverHook(run.directory, save_steps=5)]


@scenario("checkpoint_saver/only_the_last_five_are_kept")
def _(run: Run) -> list[Any]:
    return [tf.train.CheckpointSaverHook(run.directory, save_steps=1), tf.train.StopAtStepHook(last_step=7)]


@scenario("checkpoint_saver/save_steps_when_resumed", start_step=3)
def _(run: Run) -> list[Any]:
    return [tf.train.CheckpointSaverHook(run.directory, save_steps=4)]


@scenario("checkpoint_saver/save_secs")
def _(run: Run) -> list[Any]:
    return [tf.train.CheckpointSaverHook(run.directory, save_secs=3)]


@scenario("checkpoint_saver/basename")
def _(run: Run) -> list[Any]:
    return [tf.train.CheckpointSaverHook(run.path("deep"), save_steps=6, checkpoint_basename="net")]


@scenario("checkpoint_saver/listeners")
def _(run: Run) -> list[Any]:
    listeners = [TracingListener(run, "first"), TracingListener(run, "second")]
    hook = tf.train.CheckpointSaverHook(run.directory, save_steps=4, listeners=listeners)
    return [hook, Tracer(run)]


@scenario("checkpoint_saver/a_listener_stops_training")
def _(run: Run) -> list[Any]:
    listeners = [TracingListener(run, "stopper", stop_from=5), TracingListener(run, "other")]
    return [tf.train.CheckpointSaverHook(run.directory, save_steps=3, listeners=listeners)]


@scenario("checkpoint_saver/a_listener_that_always_stops")
def _(run: Run) -> list[Any]:
    listeners = [TracingListener(run, "stopper", stop_from=0)]
    return [tf.train.CheckpointSaverHook(run.directory, save_steps=3, listeners=listeners)]


@scenario("checkpoint_saver/scaffold", make_scaffold=plain_scaffold)
def _(run: Run) -> list[Any]:
    return [tf.train.CheckpointSaverHook(run.directory, save_steps=4, scaffold=run.scaffold)]


@scenario("checkpoint_saver/saver")
def _(run: Run) -> list[Any]:
    def make() -> Any:
        saver = tf.train.Saver({"w": variable("dense/kernel")}, max_to_keep=2)
        return tf.train.CheckpointSaverHook(run.directory, save_steps=2, saver=saver)

    return [make]


@scenario("checkpoint_saver/two_savers_in_the_collection")
def _(run: Run) -> list[Any]:
    def make() -> Any:
        for _ in range(2):
            tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
        return tf.train.CheckpointSaverHook(run.directory, save_steps=4)

    return [make]


class Counter(tf.train.SessionRunHook):
    """Keeps a variable of its own, made in `begin`, that counts the steps."""

    def begin(self) -> None:
        self._count = tf.get_variable("counter/count", [], tf.int32, tf.zeros_initializer(), trainable=False)
        self._increase = tf.assign_add(self._count, 1)

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._increase)


@scenario("checkpoint_saver/a_variable_of_a_hook")
def _(run: Run) -> list[Any]:
    return [Counter(), tf.train.CheckpointSaverHook(run.directory, save_steps=5)]


@scenario("checkpoint_saver/an_error_leaves_the_last_checkpoint")
def _(run: Run) -> list[Any]:
    class Failing(tf.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            if run_context.session.run(tf.train.get_global_step(run_context.session.graph)) == 5:
                raise ZeroDivisionError("at step 5")

    return [tf.train.CheckpointSaverHook(run.directory, save_steps=2), Failing()]


@table("checkpoint_saver/refusals")
def _(run: Run) -> Any:
    return refusals(
        lambda: tf.train.CheckpointSaverHook(run.directory),
        lambda: tf.train.CheckpointSaverHook(run.directory, save_steps=1, save_secs=1),
        lambda: tf.train.CheckpointSaverHook(run.directory, save_steps=1, saver=1, scaffold=2),
    )


# --- StepCounterHook -------------------------------------------------------------------------------------------


@scenario("step_counter/every_n_steps")
def _(run: Run) -> list[Any]:
    return [tf.train.StepCounterHook(every_n_steps=3, output_dir=run.directory)]


@scenario("step_counter/every_n_secs")
def _(run: Run) -> list[Any]:
    return [tf.train.StepCounterHook(every_n_steps=None, every_n_secs=1.5, output_dir=run.directory)]


@scenario("step_counter/when_resumed", start_step=5)
def _(run: Run) -> list[Any]:
    return [tf.train.StepCounterHook(every_n_steps=2, output_dir=run.directory)]


@scenario("step_counter/without_a_folder_it_only_logs")
def _(run: Run) -> list[Any]:
    return [tf.train.StepCounterHook(every_n_steps=2)]


@scenario("step_counter/a_writer_that_is_passed_in")
def _(run: Run) -> list[Any]:
    return [
        lambda: tf.train.StepCounterHook(
            every_n_steps=4, summary_writer=tf.summary.FileWriterCache.get(run.path("rates"))
        )
    ]


@table("step_counter/refusals")
def _(run: Run) -> Any:
    return refusals(
        lambda: tf.train.StepCounterHook(every_n_steps=None),
        lambda: tf.train.StepCounterHook(every_n_steps=1, every_n_secs=1),
    )


# --- SummarySaverHook ------------------------------------------------------------------------------------------


@scenario("summary_saver/save_steps")
def _(run: Run) -> list[Any]:
    def make() -> Any:
        # The name is taken by the loss itself, and so TensorFlow makes it "loss_1".
        summary = tf.summary.scalar("loss", tensor("loss"))
        return tf.train.SummarySaverHook(save_steps=3, output_dir=run.directory, summary_op=summary)

    return [make]


@scenario("summary_saver/save_steps_when_resumed", start_step=4)
def _(run: Run) -> list[Any]:
    def make() -> Any:
        summary = tf.summary.scalar("step_loss", tensor("loss"))
        return tf.train.SummarySaverHook(save_steps=4, output_dir=run.directory, summary_op=summary)

    return [make]


@scenario("summary_saver/save_secs")
def _(run: Run) -> list[Any]:
    def make() -> Any:
        summary = tf.summary.scalar("step_loss", tensor("loss"))
        return tf.train.SummarySaverHook(save_secs=2, output_dir=run.directory, summary_op=summary)

    return [make]


@scenario("summary_saver/a_list_of_summaries")
def _(run: Run) -> list[Any]:
    def make() -> Any:
        with tf.name_scope("watch"):
            summaries = [
                tf.summary.scalar("step", tf.train.get_global_step()),
                tf.summary.histogram("kernel", variable("dense/kernel")),
                tf.summary.scalar("bias", tf.reduce_sum(variable("dense/bias")), family="weights"),
            ]
        return tf.train.SummarySaverHook(save_steps=4, output_dir=run.path("list"), summary_op=summaries)

    return [make]


@scenario("summary_saver/tags_that_scripts_use", batches=2, epochs=1)
def _(run: Run) -> list[Any]:
    def make() -> Any:
        tags = [
            "step",
            "output",
            "input",
            "accuracy",
            "lr",
            "x",
            "y",
            "kernel",
            "weights",
            "train",
            "model",
            "metrics",
        ]
        summaries = [tf.summary.scalar(tag, float(index)) for index, tag in enumerate(tags)]
        return tf.train.SummarySaverHook(save_steps=5, output_dir=run.directory, summary_op=summaries)

    return [make]


@scenario("summary_saver/scaffold", make_scaffold=plain_scaffold)
def _(run: Run) -> list[Any]:
    def make() -> Any:
        tf.summary.scalar("step_loss", tensor("loss"))
        tf.summary.histogram("output", tensor("dense/output"))
        return tf.train.SummarySaverHook(save_steps=5, output_dir=run.directory, scaffold=run.scaffold)

    return [make]


@scenario("summary_saver/a_scaffold_without_summaries", make_scaffold=plain_scaffold)
def _(run: Run) -> list[Any]:
    return [tf.train.SummarySaverHook(save_steps=5, output_dir=run.directory, scaffold=run.scaffold)]


@scenario("summary_saver/evaluated_only_when_it_saves")
def _(run: Run) -> list[Any]:
    def watch(loss: Any) -> Any:
        run.saw("evaluated", loss)
        return loss

    def make() -> Any:
        watched = tf.py_func(watch, [tensor("loss")], tf.float32)
        watched.set_shape([])
        summary = tf.summary.scalar("watched", watched)
        return tf.train.SummarySaverHook(save_steps=4, output_dir=run.directory, summary_op=summary)

    return [make]


@scenario("summary_saver/two_hooks_share_a_folder")
def _(run: Run) -> list[Any]:
    def make(tag: str, steps: int) -> Callable[[], Any]:
        return lambda: tf.train.SummarySaverHook(
            save_steps=steps, output_dir=run.directory, summary_op=tf.summary.scalar(tag, tensor("loss"))
        )

    counter = tf.train.StepCounterHook(every_n_steps=4, output_dir=run.directory)
    return [make("often", 2), make("seldom", 5), counter]


@table("summary_saver/refusals")
def _(run: Run) -> Any:
    return refusals(
        lambda: tf.train.SummarySaverHook(save_steps=1),
        lambda: tf.train.SummarySaverHook(save_steps=1, scaffold=tf.train.Scaffold(), summary_op=1),
        lambda: tf.train.SummarySaverHook(save_steps=1, save_secs=1, summary_op=1),
        lambda: tf.train.SummarySaverHook(summary_op=1),
    )


# --- the smaller hooks -----------------------------------------------------------------------------------------


@scenario("nan_tensor/raises", nan_batch=2)
def _(run: Run) -> list[Any]:
    return [lambda: tf.train.NanTensorHook(tensor("loss")), Tracer(run)]


@scenario("nan_tensor/stops", nan_batch=2)
def _(run: Run) -> list[Any]:
    return [lambda: tf.train.NanTensorHook(tensor("loss"), fail_on_nan_loss=False), Tracer(run)]


@scenario("nan_tensor/stays_quiet")
def _(run: Run) -> list[Any]:
    return [lambda: tf.train.NanTensorHook(tensor("loss"))]


@scenario("global_step_waiter/starts_at_once_at_zero")
def _(run: Run) -> list[Any]:
    return [tf.train.GlobalStepWaiterHook(0)]


@scenario("global_step_waiter/starts_at_once_when_the_step_is_reached", start_step=3)
def _(run: Run) -> list[Any]:
    return [tf.train.GlobalStepWaiterHook(3)]


class OtherWorker(tf.train.SessionRunHook):
    """Moves the global step by 700 each time that somebody sleeps, as workers elsewhere would."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def after_create_session(self, session: Any, coord: Any) -> None:
        step = variable("global_step", session.graph)

        def work() -> None:
            step.load(int(session.run(step)) + 700, session)
            self._run.saw("slept until", self._run.clock.time(), "step", session.run(step))

        self._work = work

    def before_run(self, run_context: Any) -> None:
        self._run.clock.on_sleep = self._work

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._run.clock.on_sleep = lambda: None


@scenario("global_step_waiter/waits_for_other_workers", batches=2, epochs=1)
def _(run: Run) -> list[Any]:
    return [OtherWorker(run), tf.train.GlobalStepWaiterHook(2500), Tracer(run)]


@scenario("final_ops/values_with_a_feed")
def _(run: Run) -> list[Any]:
    def make() -> Any:
        factor = tf.placeholder(tf.float32, [], name="factor")
        ops = {"scaled": tf.reduce_sum(variable("dense/kernel")) * factor, "step": tf.train.get_global_step()}
        hook = tf.train.FinalOpsHook(ops, final_ops_feed_dict={factor: 2.0})
        run.afterwards(lambda: hook.final_ops_values)
        return hook

    return [make, tf.train.StopAtStepHook(last_step=4)]


@scenario("final_ops/the_loss_on_a_fed_batch")
def _(run: Run) -> list[Any]:
    def make() -> Any:
        feeds = {
            tensor("batch/x"): np.ones((2, 3), np.float32),
            tensor("batch/y"): np.zeros((2, 1), np.float32),
        }
        hook = tf.train.FinalOpsHook([tensor("loss"), tensor("dense/output")], final_ops_feed_dict=feeds)
        run.afterwards(lambda: hook.final_ops_values)
        return hook

    return [make]


@scenario("final_ops/nothing")
def _(run: Run) -> list[Any]:
    hook = tf.train.FinalOpsHook(None)
    run.afterwards(lambda: hook.final_ops_values)
    return [hook]


@scenario("feed_fn/a_learning_rate")
def _(run: Run) -> list[Any]:
    rates = iter([0.5, 0.25, 0.0, 0.0625] * 3)

    def make() -> Any:
        rate = tensor("learning_rate")
        return tf.train.FeedFnHook(lambda: {rate: next(rates)})

    return [make, Fetcher(run, lambda: ["learning_rate:0", "loss:0"])]


@scenario("feed_fn/two_hooks_feed_one_tensor")
def _(run: Run) -> list[Any]:
    def make() -> Any:
        rate = tensor("learning_rate")
        return tf.train.FeedFnHook(lambda: {rate: 0.5})

    return [make, make]


@scenario("feed_fn/a_placeholder_of_the_hook", batches=3, epochs=1)
def _(run: Run) -> list[Any]:
    class Scaler(tf.train.SessionRunHook):
        def begin(self) -> None:
            self._factor = tf.placeholder(tf.float32, [], name="factor")
            self._scaled = tensor("loss") * self._factor

        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs(self._scaled, feed_dict={self._factor: 4.0})

        def after_run(self, run_context: Any, run_values: Any) -> None:
            run.saw(run_values.results)

    return [Scaler()]


@scenario("profiler/save_steps")
def _(run: Run) -> list[Any]:
    return [lambda: tf.train.ProfilerHook(save_steps=3, output_dir=run.directory)]


@scenario("profiler/save_secs_when_resumed", start_step=2)
def _(run: Run) -> list[Any]:
    return [lambda: tf.train.ProfilerHook(save_secs=4, output_dir=run.directory, show_memory=True)]


@table("second_or_step_timer/decisions")
def _(run: Run) -> Any:
    def decide(moments: list[tuple[int, float]], **when: Any) -> list[Any]:
        timer = tf.train.SecondOrStepTimer(**when)
        found = []
        for step, seconds in moments:
            run.clock.sleep(seconds)
            triggers = timer.should_trigger_for_step(step)
            elapsed = timer.update_last_triggered_step(step) if triggers else None
            found.append([step, seconds, triggers, elapsed, timer.last_triggered_step()])
        timer.reset()
        found.append([timer.last_triggered_step(), timer.should_trigger_for_step(moments[-1][0])])
        return found

    return [
        decide([(0, 0), (0, 0), (1, 1), (3, 1), (3, 1), (4, 1), (9, 0), (8, 0), (12, 2)], every_steps=3),
        decide([(5, 0), (5, 9), (6, 0.5), (7, 1), (8, 1.5), (9, 0), (20, 2)], every_secs=2),
        refusals(
            tf.train.SecondOrStepTimer,
            lambda: tf.train.SecondOrStepTimer(every_secs=1, every_steps=1),
        ),
    ]


# --- Scaffold --------------------------------------------------------------------------------------------------


def _scaffold_with_init_fn(run: Run) -> Any:
    def init_fn(scaffold: Any, session: Any) -> None:
        run.saw("init_fn", scaffold is run.scaffold, session.graph.finalized)
        variable("dense/kernel", session.graph).load(np.ones((3, 1), np.float32), session)

    return tf.train.Scaffold(init_fn=init_fn)


@scenario("scaffold/init_fn_loads_weights", make_scaffold=_scaffold_with_init_fn)
def _(run: Run) -> list[Any]:
    return [Tracer(run), tf.train.StopAtStepHook(num_steps=2)]


@scenario("scaffold/pieces_are_made_when_the_graph_is_finalized", make_scaffold=plain_scaffold, batches=1)
def _(run: Run) -> list[Any]:
    pieces = ("init_op", "ready_op", "ready_for_local_init_op", "local_init_op", "summary_op", "saver")

    class Watcher(tf.train.SessionRunHook):
        def _made(self) -> list[str]:
            return [piece for piece in pieces if getattr(run.scaffold, piece) is not None]

        def begin(self) -> None:
            run.saw("begin", self._made())

        def after_create_session(self, session: Any, coord: Any) -> None:
            run.saw("after_create_session", self._made())

    return [Watcher()]


@scenario("scaffold/its_saver_is_the_checkpoint_hook's", make_scaffold=plain_scaffold)
def _(run: Run) -> list[Any]:
    class Watcher(tf.train.SessionRunHook):
        def after_create_session(self, session: Any, coord: Any) -> None:
            collections = tf.GraphKeys.SAVERS, tf.GraphKeys.READY_OP, tf.GraphKeys.LOCAL_INIT_OP
            run.saw([len(session.graph.get_collection(name)) for name in collections])

    saving = tf.train.CheckpointSaverHook(run.directory, save_steps=10)
    return [Watcher(), saving]


@scenario("scaffold/a_local_variable_of_a_hook", batches=2)
def _(run: Run) -> list[Any]:
    class Averager(tf.train.SessionRunHook):
        def begin(self) -> None:
            self._mean, self._update = tf.metrics.mean(tensor("loss"), name="loss_mean")

        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs(self._update)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            run.saw("after_run", run_values.results)

        def end(self, session: Any) -> None:
            run.saw("end", session.run(self._mean))

    return [Averager()]


# --- many together ---------------------------------------------------------------------------------------------


@scenario("together/as_a_user_would_set_them", batches=8, make_scaffold=plain_scaffold)
def _(run: Run) -> list[Any]:
    def summaries() -> Any:
        tf.summary.scalar("step_loss", tensor("loss"))
        tf.summary.histogram("kernel", variable("dense/kernel"))
        return tf.train.SummarySaverHook(save_steps=5, output_dir=run.directory, scaffold=run.scaffold)

    return [
        summaries,
        tf.train.CheckpointSaverHook(
            run.directory, save_steps=5, scaffold=run.scaffold, listeners=[TracingListener(run, "listener")]
        ),
        lambda: tf.train.LoggingTensorHook(step_and_loss(), every_n_iter=4),
        tf.train.StepCounterHook(every_n_steps=4, output_dir=run.directory),
        lambda: tf.train.NanTensorHook(tensor("loss")),
        tf.train.StopAtStepHook(last_step=13),
    ]
