"""Loops that become a fit do what they did: programs run before and after, in the same process, to the same end.

Before is TensorFlow's own session with the import line swapped; after is what the codemod makes of it, on the bridge.
Compared are what is printed, what is left in the lists and variables of the program, the calls that a hook sees, the
variables in every checkpoint, the event files, and the error that comes out, if one does.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from codemod.migrate import Migrated
from tests.codemod.conftest import ROOT, migrate

tf1 = tf.compat.v1

# A graph of three steps of every kind: an input that ends, a placeholder, a summary, and a hook that takes notes.
BUILD = """
import logging
import sys

import numpy as np
import tensorflow as tf

calls = []
losses = []
best = {}
TEN = 10


class Notes(tf.train.SessionRunHook):
    def begin(self):
        self.step = tf.train.get_global_step()

    def after_run(self, run_context, run_values):
        calls.append((int(run_context.session.run(self.step)), run_context.stop_requested))

    def end(self, session):
        calls.append(("end", int(session.run(self.step))))


class Batches:
    def __init__(self):
        self.number = 0

    def next_batch(self, size):
        self.number += 1
        return np.full([size], self.number, np.float32), self.number


def generated():
    for number in range(6):
        yield [float(number)]


tf.set_random_seed(3)
data = tf.data.Dataset.from_tensor_slices(np.arange(1, ROWS + 1, dtype=np.float32)).repeat(EPOCHS)
row = tf.data.make_one_shot_iterator(data).get_next()
x = tf.placeholder_with_default(tf.constant([1.0, 2.0]), [None], name="x")
w = tf.get_variable("w", initializer=[0.5, -1.0])
noise = tf.random_uniform([], seed=1)
loss = tf.reduce_sum(tf.square(w * 0.1 - row)) + tf.reduce_mean(x) + noise
large = loss > 100.0
vector = tf.stack([loss, row])
variable = tf.train.get_or_create_global_step()
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, variable, name="train")
with tf.control_dependencies([train_op]):
    global_step = variable.read_value()
# One thread, so that what hooks read is read at the same moment in all runs.
config = tf.ConfigProto(inter_op_parallelism_threads=1, use_per_session_threads=True)
tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
batches = Batches()
rows = generated()
hooks = [tf.train.StopAtStepHook(LAST_STEP), Notes()]
"""

WITH = "with tf.train.MonitoredTrainingSession(checkpoint_dir=WORK, hooks=hooks, config=config, save_checkpoint_steps=3, save_summaries_steps=2) as sess:"
NO_HOOKS = "with tf.train.MonitoredTrainingSession(checkpoint_dir=WORK, config=config, save_checkpoint_steps=3) as sess:"


def program(loop: str, *, rows: int = 50, epochs: int = 1, last_step: int = 7) -> str:
    values = {"ROWS": rows, "EPOCHS": epochs, "LAST_STEP": last_step}
    build = BUILD
    for name, value in values.items():
        build = build.replace(name, str(value))
    return build + textwrap.dedent(loop).strip("\n") + "\n"


def run(text: str, work: Path, times: int = 1) -> list[dict[str, Any]]:
    """Runs a program, perhaps several times in the same folder; returns what came of each run."""
    work.mkdir()
    results = []
    for _ in range(times):
        random.seed(1)
        np.random.seed(1)
        names: dict[str, Any] = {"__name__": "__main__", "WORK": str(work / "job")}
        output, error = io.StringIO(), None
        with tf.Graph().as_default(), contextlib.redirect_stdout(output):
            try:
                exec(compile(text, "program.py", "exec"), names)
            except Exception as raised:  # noqa: BLE001 -- whatever it is, both have to raise it
                error = f"{type(raised).__name__}: {str(raised).splitlines()[:1]}"
        tf1.summary.FileWriterCache.clear()  # After an error TensorFlow leaves what it wrote in its buffers.
        results.append(
            {
                "output": output.getvalue(),
                "error": error,
                "names": {name: repr(names.get(name)) for name in ("calls", "losses", "best")},
                "types": [type(value).__name__ for value in names.get("losses", ())],
                "checkpoints": checkpoints(work / "job"),
                "events": events(work),
            }
        )
    return results


def checkpoints(folder: Path) -> dict[str, Any]:
    found = {}
    for index in sorted(folder.glob("*.index")):
        reader = tf.train.load_checkpoint(str(index.with_suffix("")))
        names = reader.get_variable_to_shape_map()
        found[index.name] = {name: reader.get_tensor(name).tolist() for name in sorted(names)}
    return found


def events(folder: Path) -> list[Any]:
    """What was written of values: the file's folder, the step, the tag, the value; not rates, which are times."""
    found = []
    for path in sorted(folder.rglob("events*")):
        for event in tf1.train.summary_iterator(str(path)):
            found += [
                (path.parent.name, event.step, value.tag, value.simple_value)
                for value in event.summary.value
                if value.tag != "global_step/sec"
            ]
        path.unlink()  # Another run in the same second would write to a file of the same name.
    return sorted(found)


def migrated(text: str) -> Migrated:
    # disable_v2_behavior() is for programs of their own; here it would last for all tests of the process.
    return migrate(text, ignore=("TFB102",))


def swapped(text: str) -> str:
    return text.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf")


def assert_same(text: str, tmp_path: Path, times: int = 1) -> None:
    after = migrated(text)
    assert [loop.reason for loop in after.loops] == [""]
    assert "sess.fit(" in after.text
    assert "while " not in after.text
    assert migrated(after.text).text == after.text
    assert run(after.text, tmp_path / "after", times) == run(swapped(text), tmp_path / "before", times)


def body(text: str, opening: str = WITH, header: str = "while not sess.should_stop():") -> str:
    inner = textwrap.indent(textwrap.dedent(text).strip("\n"), " " * 8)
    return f"{opening}\n    {header}\n{inner}\n"


BARE = {
    "one operation": "sess.run(train_op)",
    "by name": "sess.run('train')",
    "by keyword": "sess.run(fetches=train_op, feed_dict=None)",
    "a list": "sess.run([train_op, loss])",
    "a dict": "sess.run({'a': train_op, 'b': [loss, vector]})",
    "results that nobody reads": "_, unread = sess.run([train_op, loss])",
    "a constant feed": "sess.run(train_op, {x: [4.0]})",
    "a feed that is computed": "sess.run(train_op, feed_dict={x: np.random.rand(2)})",
    "a feed that is called for": "sess.run(train_op, feed_dict={x: batches.next_batch(3)[0]})",
    "a feed that ends": "sess.run(train_op, feed_dict={x: next(rows)})",
    "a feed that is prepared": """
        batch, number = batches.next_batch(2)
        scaled = batch * number
        sess.run(train_op, feed_dict={x: scaled, 'x:0': scaled})
    """.replace(", 'x:0': scaled", ""),
}


@pytest.mark.parametrize("text", BARE.values(), ids=BARE)
def test_a_loop_that_only_runs(text: str, tmp_path: Path) -> None:
    assert_same(program(body(text)), tmp_path)


HEADERS = {
    "should_stop": (WITH, "while not sess.should_stop():", ""),
    "a guard inside": (WITH, "while True:", "if sess.should_stop():\n    break\n"),
    "rounds with a guard, the session ends first": (
        WITH,
        "for i in range(TEN):",
        "if sess.should_stop(): break\n",
    ),
    "rounds with a guard, the rounds end first": (
        WITH,
        "for i in range(5):",
        "if sess.should_stop(): break\n",
    ),
    "rounds of a session that nothing stops": (NO_HOOKS, "for _ in range(5):", ""),
    "forever, in a session that nothing stops": (NO_HOOKS, "while True:", ""),
    "rounds with hooks that never stop": (
        NO_HOOKS.replace("config=config", "config=config, hooks=[tf.train.NanTensorHook(loss)]"),
        "for _ in range(5):",
        "",
    ),
    "rounds from one on": (WITH, "for i in range(1, 5):", "if sess.should_stop(): break\n"),
    "rounds of a number that is found out": (
        WITH,
        "for i in range(batches.number + 5):",
        "if sess.should_stop(): break\n",
    ),
    "rounds of a number that is none": (
        WITH,
        "for i in range(batches.number):",
        "if sess.should_stop(): break\n",
    ),
    "rounds from a number that is found out": (
        WITH,
        "for i in range(batches.number - 2, TEN - 6):",
        "if sess.should_stop(): break\n",
    ),
    "rounds from one on of a number that is found out": (
        WITH,
        "for i in range(1, batches.number + 1):",
        "if sess.should_stop(): break\n",
    ),
}


@pytest.mark.parametrize(("opening", "header", "guard"), HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("text", ["sess.run(train_op)", "value = sess.run([loss, train_op])\nprint(value)"])
@pytest.mark.parametrize("size", [50, 4])
def test_a_loop_of_any_header(
    opening: str, header: str, guard: str, text: str, size: int, tmp_path: Path
) -> None:
    assert_same(program(body(guard + text, opening, header), rows=size), tmp_path)


@pytest.mark.parametrize(
    "text", ["sess.run(train_op)", "_, value = sess.run([train_op, loss])\nlosses.append(value)"]
)
def test_rounds_that_are_run_again_in_the_same_folder(text: str, tmp_path: Path) -> None:
    assert_same(program(body(text, NO_HOOKS, "for _ in range(4):")), tmp_path, times=3)


def test_a_job_that_goes_on(tmp_path: Path) -> None:
    text = body("_, value, step = sess.run([train_op, loss, global_step])\nprint(step, value)")
    assert_same(
        program(text.replace("hooks=hooks", "hooks=[tf.train.StopAtStepHook(num_steps=4)]")),
        tmp_path,
        times=3,
    )


def test_a_job_that_was_over_trains_nothing_where_tensorflow_trained_one_step_too_many(
    tmp_path: Path,
) -> None:
    text = program(body("sess.run(train_op)")).replace("StopAtStepHook(7)", "StopAtStepHook(last_step=7)")
    after = run(migrated(text).text, tmp_path / "after", 2)
    before = run(swapped(text), tmp_path / "before", 2)
    assert after[0] == before[0]
    assert (list(after[1]["checkpoints"])[-1], list(before[1]["checkpoints"])[-1]) == (
        "model.ckpt-7.index",
        "model.ckpt-8.index",
    )


ACTIONS = {
    "every result printed": """
        _, value, step = sess.run([train_op, loss, global_step])
        print("step", step, "loss", value, f"{value}", "%s" % value, str(value))
    """,
    "printed every so often": """
        _, value, step = sess.run([train_op, loss, global_step])
        if step % 3 == 0:
            print("step %d: %.3f" % (step, value))
        elif value > 1e9:
            print("large")
        else:
            pass
    """,
    "kept in a list, with its type": """
        value, _ = sess.run((loss, train_op))
        losses.append(value)
    """,
    "the tensors of a list under one name": """
        results = sess.run([train_op, loss, vector])
        print(results[0], results[1], results[2].tolist())
    """,
    "the tensors of a dict under one name": """
        results = sess.run({"loss": loss, "train": train_op})
        losses.append(results["loss"])
        print(sorted(results.items(), key=None))
    """.replace(", key=None", ""),
    "one tensor": """
        value = sess.run(vector)
        print(value.mean(), value.shape, value.dtype)
    """,
    "an array": """
        _, rows_of_it = sess.run([train_op, vector])
        best["largest"] = np.maximum(best.get("largest", 0.0), rows_of_it.max())
    """,
    "a counter that nobody reads after it": """
        sess.run(train_op)
        number += 1
        if number % 2:
            print("step", number)
    """,
    "several that are kept": """
        _, value = sess.run([train_op, loss])
        number, last = number + 1, value
        smallest = min(smallest, value)
        print(number, last, smallest)
    """,
    "with feeds": """
        batch, _ = batches.next_batch(2)
        _, value = sess.run([train_op, loss], feed_dict={x: batch})
        losses.append(value)
    """,
    "written to a file": """
        _, value = sess.run([train_op, loss])
        log.write("%r\\n" % value)
        log.flush()
    """,
    "summaries": """
        _, summary, step, value = sess.run([train_op, merged, global_step, loss])
        writer.add_summary(summary, step)
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="again", simple_value=value)]), step)
        writer.flush()
    """,
    "ended": """
        _, value, step = sess.run([train_op, loss, global_step])
        losses.append(value)
        if step > 3:
            print("enough")
            break
    """,
    "ended before the rest": """
        _, value, step = sess.run([train_op, loss, global_step])
        if step > 3: print("enough"); break
        losses.append(value)
    """,
    "ended in an else": """
        _, value, step = sess.run([train_op, loss, global_step])
        if step < 2:
            # Not yet.
            pass
        elif step < 4:
            losses.append(value)
        else:
            break  # At last.
    """,
    "the rest left out": """
        _, value, step = sess.run([train_op, loss, global_step])
        if step % 2:
            continue
        losses.append(value)
    """,
    "a loop inside": """
        _, value, both = sess.run([train_op, loss, vector])
        for index, one in enumerate(both):
            if index: continue
            losses.append(one)
            for _ in range(3):
                break
        else:
            number += 1
        print(number)
    """,
    "a file inside": """
        _, value = sess.run([train_op, loss])
        with open(WORK + ".more", "a") as more:
            more.write(str(value))
        print(open(WORK + ".more").read())
    """.replace('print(open(WORK + ".more").read())', "print(value)"),
    "functions of the program": """
        _, value, step = sess.run([train_op, loss, global_step])
        losses.append(rounded(value))
        show(step, value)
    """,
    "what is set before it": """
        started = number
        batch, _ = batches.next_batch(2)
        number += 1
        if number % 2:
            batch = batch * 2
        _, value = sess.run([train_op, loss], feed_dict={x: batch})
        print(started, number, batch, value)
    """,
    "what is set before it without feeds": """
        number += 1
        begun = number * 2
        value, _ = sess.run([loss, train_op])
        losses.append((begun, number, value))
    """,
    "feeds by earlier results": """
        _, last_value = sess.run([train_op, loss], feed_dict={x: [smallest * 1e-9]})
        smallest = min(smallest, last_value)
        print(smallest)
    """,
    "an error in it": """
        _, step = sess.run([train_op, global_step])
        print(1 / (step - 4))
    """,
    "an assertion in it": """
        _, step = sess.run([train_op, global_step])
        assert step < 4, "too far"
    """,
    "an action without results": """
        sess.run(train_op)
        print("ran")
        sys.stdout.flush()
    """,
    "names that are set anew": """
        _, value = sess.run([train_op, loss])
        value = value * 2
        shown = [round(float(v), 2) for v in (value, -value)]
        print(shown)
    """,
    "a truth value": """
        _, value = sess.run([train_op, large])
        print(value, not value, type(value))
    """.replace(", type(value)", ""),
    "comments and semicolons": """
        # before
        _, value = sess.run([train_op,  # inside
                             loss])  # behind
        print(value); losses.append(value)
        # last
    """,
}
PREPARED = """
number, smallest, last = 0, 1e9, None


def rounded(value):
    if value > 1e6:
        return "large"
    return round(float(value), 2)


def show(step, value):
    text = str(rounded(value))
    print(step, text)


writer = tf.summary.FileWriter(WORK + "/own")
log = open(WORK + ".log", "w")
"""


@pytest.mark.parametrize("size", [50, 4])
@pytest.mark.parametrize("text", ACTIONS.values(), ids=ACTIONS)
def test_a_loop_that_looks_at_the_results(text: str, size: int, tmp_path: Path) -> None:
    after = "\nlog.close()\nwriter.close()\nprint(open(WORK + '.log').read())\n"
    assert_same(program(PREPARED + body(text) + after, rows=size), tmp_path)


@pytest.mark.parametrize("text", ACTIONS.values(), ids=ACTIONS)
def test_a_loop_inside_a_function(text: str, tmp_path: Path) -> None:
    functions, _, begin = PREPARED.rpartition("\n\n\n")
    first, _, functions = functions.partition("\n\n\n")
    begin = f"{first}\n{begin}"
    inside = textwrap.indent(begin + body(text) + "\nlog.close()\nwriter.close()", "    ")
    after = "\ntrain()\nprint(open(WORK + '.log').read())\n"
    assert_same(program(f"{functions}\n\n\ndef train():\n{inside}\n{after}"), tmp_path)


def test_a_loop_in_an_inner_block_of_a_method(tmp_path: Path) -> None:
    text = """
    class Trainer:
        def __init__(self, verbose):
            self.train_op, self.verbose, self.losses = train_op, verbose, []

        def train(self, ops):
            with tf.train.MonitoredTrainingSession(hooks=hooks, config=config) as sess:
                if self.verbose:
                    with tf.device("/cpu:0"):
                        for step in range(5):
                            if sess.should_stop():
                                break
                            value = sess.run(ops["loss"])
                            self.losses.append((step, value))
                else:
                    while not sess.should_stop():
                        sess.run(self.train_op)
            return self.losses


    losses += Trainer(True).train({"loss": loss})
    """
    text = program(text)
    assert len(migrated(text).loops) == 2
    assert not any(loop.kept for loop in migrated(text).loops)
    assert run(migrated(text).text, tmp_path / "after") == run(swapped(text), tmp_path / "before")


READ_AFTER = {
    "the last results": """
        _, value, step = sess.run([train_op, loss, global_step])
    """,
    "what was made of them": """
        _, value, step = sess.run([train_op, loss, global_step])
        value = value * 2
        print(value)
    """,
    "with feeds": """
        batch, step = batches.next_batch(2)
        _, value = sess.run([train_op, loss], {x: batch})
        if step > 4: break
    """,
}


@pytest.mark.parametrize("size", [50, 4])
@pytest.mark.parametrize("is_function", [False, True])
@pytest.mark.parametrize("text", READ_AFTER.values(), ids=READ_AFTER)
def test_a_loop_whose_names_are_read_after_it(
    text: str, is_function: bool, size: int, tmp_path: Path
) -> None:
    whole = body(text) + "    print('in it', value, step)\nprint('behind it', value, step)\n"
    if is_function:
        whole = f"def train():\n{textwrap.indent(whole, '    ')}\n\ntrain()\n"
    assert_same(program(whole, rows=size), tmp_path)


CONDITIONS_OF_LOOPS = {
    "behind the question": (WITH, "while not sess.should_stop() and number < 4:"),
    "before and behind the question": (WITH, "while number < 9 and not sess.should_stop() and step < 3:"),
    "of results": (WITH, "while (step or 0) < 3 and not sess.should_stop():"),
    "false from the beginning": (WITH, "while not sess.should_stop() and number > 0:"),
    "without a question": (NO_HOOKS, "while number < 4:"),
}


@pytest.mark.parametrize("size", [50, 2])
@pytest.mark.parametrize(("opening", "header"), CONDITIONS_OF_LOOPS.values(), ids=CONDITIONS_OF_LOOPS)
def test_a_loop_with_another_condition(opening: str, header: str, size: int, tmp_path: Path) -> None:
    text = body(
        "_, step = sess.run([train_op, global_step])\nnumber += 1\nprint(number, step)\nif number > 30: break",
        opening,
        header,
    )
    after = "    print('in it', step)\nprint('behind it', number, step)\n"
    assert_same(program(f"number, step = 0, 0\n{text}{after}", rows=size), tmp_path)


OPENED = {
    "assigned": """
        sess = {call}
        {loop}
        print("behind it", sess.should_stop())
        sess.close()
    """,
    "assigned, in a try": """
        sess = {call}
        try:
            {loop}
        finally:
            print("finally")
            sess.close()
    """,
    "assigned in branches": """
        if losses:
            sess = None or tf.train.MonitoredTrainingSession()
        else:
            sess = {call}
        {loop}
        sess.close()
    """.replace("None or ", ""),
    "assigned, closed by a with": """
        session = {call}
        with session:
            {loop}
            print("in it")
        print("behind it")
    """,
    "assigned, closed by a with of another name": """
        session = {call}
        print(session.should_stop())
        with session as sess:
            {loop}
        print("behind it", session.should_stop())
    """,
    "in the graph's with": """
        with tf.get_default_graph().as_default():
            sess = {call}
            {loop}
            sess.close()
    """,
    "in a loop around": """
        for number in range(1):
            sess = {call}
            {loop}
            sess.close()
    """,
}


@pytest.mark.parametrize("size", [50, 4])
@pytest.mark.parametrize("text", OPENED.values(), ids=OPENED)
def test_a_loop_over_a_session_that_is_assigned(text: str, size: int, tmp_path: Path) -> None:
    name = "session" if "with session:" in text else "sess"
    loop = f"while not {name}.should_stop():\n    _, value = {name}.run([train_op, loss])\n    losses.append(value)"
    text = textwrap.dedent(text).replace("{call}", WITH.removeprefix("with ").removesuffix(" as sess:"))
    indent = next(line for line in text.splitlines() if "{loop}" in line).partition("{loop}")[0]
    text = text.replace("{loop}", loop.replace("\n", f"\n{indent}"))
    after = migrated(program(text, rows=size))
    assert [loop.reason for loop in after.loops] == [""]
    assert f"{name}.fit(" in after.text
    assert run(after.text, tmp_path / "after") == run(swapped(program(text, rows=size)), tmp_path / "before")


CAUGHT = {
    "it ends": """
        try:
            _, value = sess.run([train_op, loss]{feed})
            losses.append(value)
        except (tf.errors.OutOfRangeError, StopIteration):
            print("the end", number)
            break
        number += 1
    """,
    "it ends quietly": """
        try: sess.run(train_op{feed})
        except (tf.errors.OutOfRangeError, StopIteration): break
    """,
    "by kind": """
        # Each step.
        try:
            _, value = sess.run([train_op, loss]{feed})
            # What came of it.
            if value > 60: break
        except tf.errors.OutOfRangeError as error:
            print(error.op.type, value)
            break
        except StopIteration:
            # Nothing left.
            break
    """,
}


@pytest.mark.parametrize("size", [50, 4])
@pytest.mark.parametrize("feed", ["", ", feed_dict={x: next(rows)}"])
@pytest.mark.parametrize("text", CAUGHT.values(), ids=CAUGHT)
def test_a_loop_that_catches_the_end(text: str, feed: str, size: int, tmp_path: Path) -> None:
    caught = body(text.replace("{feed}", feed))
    assert_same(program(f"number = 0\n{caught}    print('in it')\nprint('behind it')\n", rows=size), tmp_path)


FOLLOWED = {
    "printed": "print('after it')",
    "run again": "print(sess.should_stop())\nprint(sess.run(loss))",
    "in an if": "if losses:\n    print(losses)",
}


@pytest.mark.parametrize("size", [50, 4])
@pytest.mark.parametrize("text", FOLLOWED.values(), ids=FOLLOWED)
def test_a_loop_that_statements_follow(text: str, size: int, tmp_path: Path) -> None:
    followed = body("_, value = sess.run([train_op, loss])\nlosses.append(value)")
    assert_same(
        program(followed + textwrap.indent(text, "    ") + "\nprint('outside')\n", rows=size), tmp_path
    )


@pytest.mark.parametrize("size", [50, 4])
@pytest.mark.parametrize("feed", ["", ", feed_dict={x: next(rows)}"])
def test_a_loop_in_a_try(size: int, feed: str, tmp_path: Path) -> None:
    text = f"""
    {WITH}
        try:
            while not sess.should_stop():
                _, value = sess.run([train_op, loss]{feed})
                print(value)
        except tf.errors.OutOfRangeError as error:
            print("the end", error.op.type)
        except StopIteration:
            print("nothing left to feed")
        else:
            print("stopped")
        finally:
            print("finally")
        print("behind")
    print("outside")
    """
    assert_same(program(text, rows=size), tmp_path)


def test_several_loops_in_one_program(tmp_path: Path) -> None:
    text = "number = 0\n" + "\n".join(
        body(
            "_, value, step = sess.run([train_op, loss, global_step])\nnumber = step\nprint(number, value)",
            WITH.replace("hooks=hooks", f"hooks=[tf.train.StopAtStepHook(num_steps={steps})]"),
        )
        for steps in (2, 3)
    )
    text = program(text)
    assert [loop.kept for loop in migrated(text).loops] == ["", ""]
    assert run(migrated(text).text, tmp_path / "after") == run(swapped(text), tmp_path / "before")


SUPERVISED_LOOPS = (
    """
    while not sv.should_stop():
        value = sess.run(loss)
        losses.append(value)
    """,
    """
    step = 0
    while not sv.should_stop() and step < 4:
        _, value, step = sess.run([train_op, loss, global_step])
        losses.append(value)
        print(step, value)
    """,
    """
    while not sv.should_stop():
        _, value = sess.run([train_op, loss])
        losses.append(value)
        if value > 20:
            break
    """,
)


def supervised(number: int) -> str:
    """A function that trains in a graph of its own, by the loop of that number."""
    build = textwrap.dedent(program("").partition("tf.set_random_seed(3)")[2])
    lines = [
        "losses = []",
        "batches_type, rows_type = Batches, generated",
        build.replace("Batches()", "batches_type()").replace("generated()", "rows_type()"),
        "sv = tf.train.Supervisor(logdir=WORK + str(number), saver=tf.train.Saver(), summary_op=None, global_step=variable)",
        "with sv.managed_session(config=config) as sess:",
        textwrap.indent(textwrap.dedent(SUPERVISED_LOOPS[number]).strip(), "    "),
        "sv.stop()",
        "print(number, losses, np.round(losses, 3).tolist())",
    ]
    inner = textwrap.indent("\n".join(lines), "        ")
    return f"def train_{number}(number):\n    with tf.Graph().as_default():\n{inner}\n\n\n"


def test_supervisors_that_are_the_bridge_s_session(tmp_path: Path) -> None:
    head = program("", rows=6).partition("tf.set_random_seed(3)")[0]
    calls = "\n".join(f"    train_{number}({number})" for number in range(len(SUPERVISED_LOOPS)))
    functions = "".join(supervised(number) for number in range(len(SUPERVISED_LOOPS))).replace(
        "(1, 50 + 1", "(1, 6 + 1"
    )
    text = f"{head}WORK = sys.argv[1]\n\n\n{functions}if __name__ == '__main__':\n{calls}\n"
    after = migrate(text, unsafe_fixes=True).text
    assert "Supervisor" not in after
    assert after.count("bridge.MonitoredTrainingSession(") == 3
    assert after.count(".fit(") == 3
    # The supervisor's threads look for the graph that TensorFlow 2's behaviour hides from them: a process of its own.
    before = swapped(text).replace("as tf\n", "as tf\ntf.disable_v2_behavior()\n", 1)
    printed = [alone(code, tmp_path / name) for name, code in (("after", after), ("before", before))]
    assert printed[0] == printed[1]
    assert printed[0].count("\n") == 7


def alone(text: str, folder: Path) -> str:
    """Runs a program in a process of its own; what it printed."""
    folder.mkdir()
    (folder / "program.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "program.py", str(folder / "job")]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SEVERAL = {
    "summaries now and then": """
        _, step = sess.run([train_op, global_step])
        if step % 2 == 0:
            writer.add_summary(sess.run(merged), step)
            writer.flush()
        print(step)
    """,
    "an evaluation of several runs now and then": """
        _, value = sess.run([train_op, loss])
        number += 1
        if number % 3 == 0:
            total = 0.0
            for _ in range(2):
                total += sess.run(loss)
            losses.append(total)
        print(number, value)
    """,
    "an evaluation in a function": """
        sess.run(train_op)
        number += 1
        if number % 2 == 0:
            look(sess, "evaluated")
    """,
    "a look at each step": """
        sess.run(train_op)
        value = sess.run(loss)
        losses.append(value)
        if value > 60: break
    """,
    "a look before each step": """
        step = sess.run(variable)
        sess.run(train_op)
        print(step, sess.run(variable))
    """,
    "a look before each step, for what is fed": """
        step = sess.run(variable)
        batch = np.full([2], step, np.float32)
        _, value = sess.run([train_op, loss], feed_dict={x: batch})
        print(step, value)
    """,
    "feeds that are fetched": """
        _, value = sess.run([train_op, loss], feed_dict={x: [sess.run(row)]})
        print(value)
    """,
    "asked in the middle": """
        _, value = sess.run([train_op, loss])
        if sess.should_stop():
            print("stopped")
            break
        print(value)
    """,
    "asked behind another run": """
        _, value = sess.run([train_op, loss])
        again = sess.run(loss)
        if sess.should_stop():
            break
        print(value, again)
    """,
}


@pytest.mark.parametrize("size", [50, 8, 5])
@pytest.mark.parametrize("text", SEVERAL.values(), ids=SEVERAL)
def test_a_loop_of_several_runs(text: str, size: int, tmp_path: Path) -> None:
    functions = "\n\ndef look(session, word):\n    print(word, session.run(loss))\n\n\n"
    after = "\nwriter.close()\nprint(number)\n"
    assert_same(program(PREPARED + functions + body(text) + after, rows=size), tmp_path)


@pytest.mark.parametrize("stop", [3, 4, 5])
@pytest.mark.parametrize("name", ["a look at each step", "a look before each step"])
def test_any_run_may_be_the_one_that_stops(name: str, stop: int, tmp_path: Path) -> None:
    # A hook that counts runs asks for the end in another run than the step's.
    hook = f"""
    class After(tf.train.SessionRunHook):
        def begin(self):
            self.runs = 0

        def after_run(self, run_context, run_values):
            self.runs += 1
            if self.runs == {stop}:
                run_context.request_stop()


    hooks.append(After())
    """
    assert_same(program(PREPARED + textwrap.dedent(hook) + body(SEVERAL[name])), tmp_path)


EPOCHS = {
    "rounds": (
        NO_HOOKS,
        """
        for epoch in range(3):
            for number in range(4):
                _, value = sess.run([train_op, loss])
                losses.append((number, value))
            print("epoch", epoch, value)
        """,
    ),
    "rounds of a number that grows": (
        NO_HOOKS,
        """
        for epoch in range(3):
            for _ in range(epoch):
                _, value = sess.run([train_op, loss])
            if epoch:
                print("epoch", epoch, value)
        """,
    ),
    "rounds of which the first has none": (
        NO_HOOKS,
        """
        for epoch in range(3):
            for _ in range(epoch):
                _, value = sess.run([train_op, loss])
            print("epoch", epoch, value)
        """,
    ),
    "until the session stops": (
        WITH,
        """
        for epoch in range(3):
            while not sess.should_stop():
                _, value = sess.run([train_op, loss], feed_dict={x: batches.next_batch(2)[0]})
                print(epoch, value)
                if value > 30 * (epoch + 1):
                    break
            print("epoch", epoch)
        """,
    ),
    "with a look between them": (
        NO_HOOKS,
        """
        best["value"] = 1e9
        for epoch in range(3):
            print(sess.run(variable))
            for _ in range(2):
                sess.run(train_op)
            value = sess.run(loss)
            if value < best["value"]:
                best["value"] = value
        """,
    ),
    "in rounds without end": (
        NO_HOOKS,
        """
        epoch = 0
        while epoch < 3:
            number = 0
            while number < 2:
                sess.run(train_op)
                number += 1
            epoch += 1
            print(epoch, number)
        """,
    ),
    "in a try": (
        NO_HOOKS,
        """
        for epoch in range(3):
            try:
                for _ in range(3):
                    sess.run(train_op)
                print("whole")
            except tf.errors.OutOfRangeError:
                print("the end")
        """,
    ),
}


@pytest.mark.parametrize("size", [50, 5])
@pytest.mark.parametrize("is_function", [False, True])
@pytest.mark.parametrize(("opening", "text"), EPOCHS.values(), ids=EPOCHS)
def test_epochs_of_rounds(opening: str, text: str, is_function: bool, size: int, tmp_path: Path) -> None:
    whole = f"{opening}\n{textwrap.indent(textwrap.dedent(text).strip(), '    ')}\nprint('behind it')\n"
    if is_function:
        whole = f"def train():\n{textwrap.indent(whole, '    ')}\n\ntrain()\n"
    text = program(whole, rows=size)
    after = migrated(text)
    assert {loop.kept for loop in after.loops} == {""}
    assert "sess.fit(" in after.text
    assert run(after.text, tmp_path / "after") == run(swapped(text), tmp_path / "before")


HANDED_IN = {
    "an attribute": """
        class Trainer:
            def __init__(self):
                self.sess = None
                self.train_op = train_op
                self.sess = {call}

            def train(self):
                while not self.sess.should_stop():
                    _, value = self.sess.run([self.train_op, loss])
                    losses.append(value)
                print("done", self.sess.should_stop())

            def close(self):
                self.sess.close()


        trainer = Trainer()
        trainer.train()
        trainer.close()
    """,
    "an attribute, in another graph": """
        class Trainer:
            def __init__(self):
                self.sess = {call}

            def train(self, op):
                while not self.sess.should_stop():
                    _, value = self.sess.run([op, loss])
                    losses.append(value)
                    if value > 60: break
                self.sess.close()


        trainer = Trainer()
        with tf.Graph().as_default():
            trainer.train(train_op)
    """,
    "an attribute that is closed already": """
        class Trainer:
            def __init__(self):
                self.sess = {call}

            def train(self):
                while not self.sess.should_stop():
                    self.sess.run(train_op)
                    print("step")
                print("done")


        trainer = Trainer()
        trainer.train()
        trainer.sess.close()
        trainer.train()
    """,
    "a parameter": """
        def train(session, op, end):
            while not session.should_stop():
                _, step = session.run([op, global_step])
                print(step)
                if step >= end:
                    break


        with {call} as sess:
            train(sess, train_op, 3)
            train(op=train_op, session=sess, end=5)
            print("in it")
        print("behind it")
    """,
    "a parameter, of rounds": """
        def train(rounds, session, op=train_op):
            for number in range(rounds):
                if session.should_stop():
                    break
                print(number, session.run([loss, op])[0])


        with {call} as sess:
            train(2, sess)
            train(0, sess)
            train(3, sess)
    """.replace(
        "print(number, session.run([loss, op])[0])",
        "value, _ = session.run([loss, op])\n                print(number, value)",
    ),
}


@pytest.mark.parametrize("size", [50, 4])
@pytest.mark.parametrize("text", HANDED_IN.values(), ids=HANDED_IN)
def test_a_loop_over_a_session_that_is_handed_in(text: str, size: int, tmp_path: Path) -> None:
    call = WITH.removeprefix("with ").removesuffix(" as sess:")
    text = program(textwrap.dedent(text).replace("{call}", call), rows=size)
    after = migrated(text)
    assert [loop.reason for loop in after.loops] == [""]
    assert ".fit(" in after.text
    assert run(after.text, tmp_path / "after") == run(swapped(text), tmp_path / "before")


OWN_HOOKS = NO_HOOKS.replace("config=config", "config=config, hooks=[counts, nans]")


@pytest.mark.parametrize("size", [50, 3])
def test_rounds_with_hooks_of_one_s_own_that_never_stop(size: int, tmp_path: Path) -> None:
    text = """
    class Counts(tf.train.SessionRunHook):
        def before_run(self, run_context):
            calls.append(int(run_context.session.run(variable)))
            return tf.train.SessionRunArgs(loss)

        def after_run(self, run_context, run_values):
            losses.append(run_values.results)


    counts = Counts()
    nans = tf.train.NanTensorHook(loss)
    """
    rounds = body("sess.run(train_op)", OWN_HOOKS, "for _ in range(5):")
    assert_same(program(textwrap.dedent(text) + rounds, rows=size), tmp_path)


# ---------------------------------------------------------------------------------------------------------------------
# Any body from a small grammar: whatever of it is rewritten does the same.

VALUES = ("value", "step", "number", "total")
EXPRESSIONS = st.sampled_from(
    [
        *VALUES,
        "len(losses)",
        "value * 2",
        "step % 3",
        "float(value)",
        "round(float(value), 1)",
        "losses[-1:]",
        "i",
    ]
)
CONDITIONS = st.sampled_from(["step % 2 == 0", "number > 2", "value < 900", "total", "i % 2"])


def _statements(depth: int = 0) -> st.SearchStrategy[str]:
    simple = st.one_of(
        st.builds("print({})".format, EXPRESSIONS),
        st.builds("losses.append({})".format, EXPRESSIONS),
        st.builds("{} = {}".format, st.sampled_from(["total", "number", "value", "held"]), EXPRESSIONS),
        st.builds("total += {}".format, st.sampled_from(["value", "step", "1"])),
        st.sampled_from(
            [
                "number += 1",
                "print(held)",
                "best['v'] = value",
                "pass",
                "break",
                "continue",
                "sess.run(loss)",
                "value = sess.run(loss)",
                "print(sess.run(variable))",
                "if sess.should_stop(): break",
            ]
        ),
    )
    if depth:
        return simple
    block = st.lists(_statements(1), min_size=1, max_size=2).map(
        lambda lines: textwrap.indent("\n".join(lines), "    ")
    )
    return st.one_of(
        simple,
        simple,
        st.builds("if {}:\n{}".format, CONDITIONS, block),
        st.builds("if {}:\n{}\nelse:\n{}".format, CONDITIONS, block, block),
    )


LOOPS = st.builds(
    lambda header, before, run, action, after: (header, before, run, action, after),
    st.sampled_from(list(HEADERS.values())),
    st.sampled_from(
        ["", "", "batch, held = batches.next_batch(2)\n", "number += 1\n", "held = sess.run(variable)\n"]
    ),
    st.sampled_from(
        [
            "_, value, step = sess.run([train_op, loss, global_step]{feed})",
            "value, step = sess.run([loss, train_op]{feed})",
            "value = sess.run(loss{feed})",
            "sess.run(train_op{feed})",
        ]
    ),
    st.lists(_statements(), max_size=4),
    st.sampled_from(["", "", "print(total)", "print(number, held)", "value = 1\nprint(value)"]),
)


def test_whatever_is_rewritten_does_the_same() -> None:
    rewritten: list[str] = []

    @settings(max_examples=60, deadline=None, derandomize=True, phases=[Phase.generate])
    @given(loop=LOOPS, feeds=st.sampled_from(["", "", ", {x: [number]}", ", feed_dict={x: batch}"]))
    def check(loop: Any, feeds: str) -> None:
        (opening, header, guard), before, run_, action, after = loop
        statements = "\n".join([guard + before + run_.replace("{feed}", feeds), *action])
        start = "number, total, held, value, step, i, batch = 0, 0.0, None, 0.0, 0, 0, [0.0]\n"
        text = program(start + body(statements, opening, header) + after + "\n", last_step=4)
        outcome = migrated(text)
        assert len(outcome.loops) == 1
        if outcome.loops[0].kept:
            assert ".fit(" not in outcome.text
            return
        rewritten.append(outcome.text)
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            assert run(outcome.text, place / "after") == run(swapped(text), place / "before")

    check()
    assert len(rewritten) > 20
    assert len([text for text in rewritten if "def after_step(" in text]) > 3
