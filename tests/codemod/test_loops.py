"""Which loops become a fit, which stay, and with what reason."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from codemod.loops import Kept
from codemod.report import render
from codemod.results import FileResult, RunResult
from tests.codemod.conftest import Command, migrate

WITH = "with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:"
WHILE = "while not sess.should_stop():"


def function(body: str, opening: str = WITH, first: str = "", last: str = "") -> str:
    text = f"import tensorflow as tf\n\n\ndef train(train_op, loss, x, hooks, data):\n    total, n, best = 0, 0, None\n{first}"
    text += f"    {opening}\n{textwrap.indent(textwrap.dedent(body).strip(), ' ' * 8)}\n"
    return text + last


def loop(body: str, header: str = WHILE) -> str:
    return f"{header}\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}"


RUN = "sess.run(train_op)"
NO_HOOKS = "with tf.train.MonitoredTrainingSession() as sess:"
OWN_HOOKS = "with tf.train.MonitoredTrainingSession(hooks=own) as sess:"
FIVE = "for _ in range(5):"


def hook(body: str) -> str:
    """A hook of the file's own, with that in its after_run."""
    return f"\n\nclass Own(tf.train.SessionRunHook):\n    def after_run(self, context, values):\n        {body}\n"


def handed(call: str, loop_of: str = "", rest: str = "") -> str:
    """A function that is given the session, with what calls it."""
    inner = textwrap.indent(loop_of or loop(RUN), "    ")
    begin = f"import tensorflow as tf\n\n\ndef go(sess, train_op):\n{inner}\n\n\n"
    return f"{begin}def main(train_op, hooks):\n    {WITH}\n        {call}\n{rest}"


def owned(made: str, method: str = "") -> str:
    """A class whose session is an attribute."""
    inner = method or loop("self.sess.run(self.op)", "while not self.sess.should_stop():")
    begin = f"import tensorflow as tf\n\n\nclass Job:\n    def __init__(self, op):\n        self.op = op\n        {made}\n"
    return f"{begin}\n    def train(self):\n{textwrap.indent(inner, '        ')}\n"


SESS = "self.sess = tf.train.MonitoredTrainingSession()"
KEPT = {
    # The place.
    "assigned, but something else before": (
        Kept.ELSEWHERE,
        function(
            loop(RUN),
            "if True:",
            "    sess = data.session()\n    sess = tf.train.MonitoredTrainingSession()\n",
        ),
    ),
    "assigned in a graph that the loop is not in": (
        Kept.ELSEWHERE,
        function(
            loop(RUN),
            "if True:",
            "    with tf.Graph().as_default():\n        sess = tf.train.MonitoredTrainingSession()\n",
        ),
    ),
    "closed already": (
        Kept.ELSEWHERE,
        function(loop(RUN), "if True:", "    sess = tf.train.MonitoredTrainingSession()\n    sess.close()\n"),
    ),
    "closed by a with before it": (
        Kept.ELSEWHERE,
        function(
            loop(RUN),
            "if True:",
            "    sess = tf.train.MonitoredTrainingSession()\n    with sess:\n        data(sess)\n",
        ),
    ),
    "behind its with": (Kept.ELSEWHERE, function("pass", last=f"    {WHILE}\n        {RUN}\n")),
    "parameter": (
        Kept.ELSEWHERE,
        f"import tensorflow as tf\n\n\ndef go(sess, train_op):\n    {WHILE}\n        {RUN}\n",
    ),
    "attribute": (
        Kept.ELSEWHERE,
        function(loop("self.sess.run(train_op)", "while not self.sess.should_stop():"), "if 1:"),
    ),
    "another with behind the session": (
        Kept.ELSEWHERE,
        function(loop(RUN), "with tf.train.MonitoredTrainingSession() as sess, open('log') as log:"),
    ),
    "supervisor": (
        Kept.ELSEWHERE,
        function(loop(RUN, "while not sv.should_stop():"), "with sv.managed_session() as sess:"),
    ),
    "by another name": (
        Kept.SESSION_USED,
        function(
            loop("again.run(train_op)"),
            "with again as sess:",
            "    again = tf.train.MonitoredTrainingSession()\n",
        ),
    ),
    "in a match": (Kept.CONTEXT, function(f"match n:\n    case 1:\n{textwrap.indent(loop(RUN), ' ' * 8)}")),
    "in a with of unknown effect": (
        Kept.CONTEXT,
        function(f"with data:\n{textwrap.indent(loop(RUN), '    ')}"),
    ),
    "in a generator": (Kept.ASYNCHRONOUS, function(loop(RUN), last="    yield total\n")),
    "generator itself": (Kept.ASYNCHRONOUS, function(loop(f"yield {RUN}"))),
    "coroutine": (Kept.ASYNCHRONOUS, function(loop(RUN)).replace("def train", "async def train")),
    "session rebound": (Kept.REBOUND, function(f"sess = data.wrap(sess)\n{loop(RUN)}")),
    "session rebound in the loop": (Kept.REBOUND, function(loop(f"{RUN}\nsess = data"))),
    "session of the module": (Kept.REBOUND, function(loop(RUN), first="    global sess\n")),
    "a parameter that may be another session": (
        Kept.ELSEWHERE,
        handed("go(sess, train_op)\n    go(tf.Session(), 1)"),
    ),
    "a parameter of a function that is handed on": (
        Kept.ELSEWHERE,
        handed("go(sess, train_op)\n    print(go)"),
    ),
    "a parameter of a function that nobody calls": (Kept.ELSEWHERE, handed("pass")),
    "a parameter given by a star": (Kept.ELSEWHERE, handed("go(*[sess, train_op])")),
    "a parameter of a decorated function": (
        Kept.ELSEWHERE,
        handed("go(sess, train_op)").replace("def go", "@tf.function\ndef go"),
    ),
    "a parameter that is set anew": (
        Kept.ELSEWHERE,
        handed("go(sess, train_op)", f"sess = sess or train_op\n{loop(RUN)}"),
    ),
    "an attribute that may be another session": (
        Kept.ELSEWHERE,
        owned(SESS) + "\n\nJob(1).sess = tf.Session()\n",
    ),
    "an attribute that a with closes": (
        Kept.ELSEWHERE,
        owned("with tf.train.MonitoredTrainingSession() as self.sess: pass"),
    ),
    "an attribute that the loop sets": (
        Kept.REBOUND,
        owned(
            f"{SESS}",
            loop("self.sess.run(self.op)\nself.sess = None", "while not self.sess.should_stop():"),
        ),
    ),
    # The header.
    "another condition": (
        Kept.CONDITION,
        function(loop(RUN, "while not sess.should_stop() and data.more():")),
    ),
    "one of two conditions": (Kept.CONDITION, function(loop(RUN, "while not sess.should_stop() or n < 3:"))),
    "a condition, and continue": (
        Kept.CONDITION,
        function(loop(f"{RUN}\nif n: continue\nn += 1", "while not sess.should_stop() and n < 3:")),
    ),
    "while else": (Kept.CONDITION, function(f"{loop(RUN)}\nelse:\n    print(1)")),
    "while something": (Kept.CONDITION, function(loop(RUN, "while n < 10:"))),
    "for in data": (
        Kept.CONDITION,
        function(loop(f"if sess.should_stop(): break\n{RUN}", "for row in data:")),
    ),
    "forever": (Kept.CONDITION, function(loop(RUN, "while True:"))),
    "asked at the end": (
        Kept.CONDITION,
        function(loop(f"{RUN}\nif sess.should_stop(): break", "while True:")),
    ),
    "range from a name that the loop sets": (
        Kept.COUNT,
        function(loop(f"if sess.should_stop(): break\n{RUN}\nn += 1", "for _ in range(n, 5):")),
    ),
    "range of two calls": (
        Kept.COUNT,
        function(loop(f"if sess.should_stop(): break\n{RUN}", "for _ in range(data.first(), 5):")),
    ),
    "range by steps": (
        Kept.CONDITION,
        function(loop(f"if sess.should_stop(): break\n{RUN}", "for _ in range(0, 5, 2):")),
    ),
    "rounds that are called for": (
        Kept.COUNT,
        function(loop(f"if sess.should_stop(): break\n{RUN}", "for _ in range(data.size()):")),
    ),
    "no rounds from one on": (
        Kept.COUNT,
        function(loop(f"if sess.should_stop(): break\n{RUN}", "for _ in range(1, 1):")),
    ),
    "rounds with hooks in a list that grows": (
        Kept.UNGUARDED,
        function(
            loop(RUN, "for _ in range(5):"),
            "with tf.train.MonitoredTrainingSession(hooks=own) as sess:",
            "    own = [tf.train.NanTensorHook(loss)]\n    own.append(data)\n",
        ),
    ),
    "no rounds": (Kept.COUNT, function(loop(f"if sess.should_stop(): break\n{RUN}", "for _ in range(0):"))),
    "two counters": (Kept.COUNT, function(loop(RUN, "for i, j in zip(range(3), data):"))),
    "rounds that hooks may cut short": (Kept.UNGUARDED, function(loop(RUN, "for _ in range(5):"))),
    "a number of one's own": (
        Kept.COUNT,
        function(loop(RUN, "for _ in range(int(n)):"), NO_HOOKS, "    int = data.next\n"),
    ),
    "rounds from what the callback calls batch": (
        Kept.COUNT,
        function(loop(f"{RUN}\nprint(i)", "for i in range(batch, 9):"), NO_HOOKS, "    batch = data[0]\n"),
    ),
    "rounds from an attribute that a function sets": (
        Kept.COUNT,
        function(loop(f"{RUN}\nshow(data)", "for i in range(data.first, 9):"), NO_HOOKS)
        + "\n\ndef show(job):\n    job.first = 3\n",
    ),
    "rounds with a hook in a list that is changed": (
        Kept.UNGUARDED,
        function(loop(RUN, FIVE), OWN_HOOKS, "    own = [tf.train.NanTensorHook(loss)]\n    own[0] = data\n"),
    ),
    "rounds with hooks that others are given": (
        Kept.UNGUARDED,
        function(
            loop(RUN, FIVE), OWN_HOOKS, "    own = [tf.train.NanTensorHook(loss)]\n    data(hooks=own)\n"
        ),
    ),
    "rounds with a hook that asks for the end": (
        Kept.UNGUARDED,
        function(loop(RUN, FIVE), OWN_HOOKS, "    own = [Own()]\n") + hook("context.request_stop()"),
    ),
    "rounds with a hook that hands its context on": (
        Kept.UNGUARDED,
        function(loop(RUN, FIVE), OWN_HOOKS, "    own = [Own()]\n") + hook("self.ask(context)"),
    ),
    "rounds with a hook of an unknown base": (
        Kept.UNGUARDED,
        function(loop(RUN, FIVE), OWN_HOOKS, "    own = [Own()]\n")
        + hook("pass").replace("tf.train.SessionRunHook", "Base"),
    ),
    # How it is left.
    "break before the run": (Kept.LEAVES, function(loop(f"if n: break\n{RUN}"))),
    "break without a condition": (Kept.LEAVES, function(loop(f"{RUN}\nbreak"))),
    "errors after which it goes on": (
        Kept.HANDLERS,
        function(loop(f"try:\n    {RUN}\nexcept tf.errors.OutOfRangeError:\n    continue")),
    ),
    "errors after which it may go on": (
        Kept.HANDLERS,
        function(loop(f"try:\n    {RUN}\nexcept tf.errors.OutOfRangeError:\n    if n: continue\n    break")),
    ),
    "errors of anything": (
        Kept.HANDLERS,
        function(loop(f"try:\n    {RUN}\nexcept ValueError:\n    break")),
    ),
    "any error": (Kept.HANDLERS, function(loop(f"try:\n    {RUN}\nexcept:\n    break"))),
    "errors of files, of which more are written behind the try": (
        Kept.HANDLERS,
        function(loop(f"try:\n    {RUN}\nexcept tf.errors.NotFoundError:\n    break\nn += 1")),
    ),
    "errors of one run, and another one behind the try": (
        Kept.HANDLERS,
        function(
            loop(f"try:\n    {RUN}\nexcept tf.errors.OutOfRangeError:\n    break\nif n: sess.run(loss)")
        ),
    ),
    "finally": (Kept.HANDLERS, function(loop(f"try:\n    {RUN}\nfinally:\n    print(1)"))),
    "continue": (Kept.LEAVES, function(loop(f"if n: continue\n{RUN}"))),
    "return": (Kept.LEAVES, function(loop(f"return {RUN}"))),
    "raise": (Kept.LEAVES, function(loop("v = sess.run(loss)\nif v > 3: raise ValueError(v)"))),
    # The run.
    "two runs": (Kept.SEVERAL_RUNS, function(loop(f"{RUN}\nsess.run(loss)"))),
    "two that train, one of them now and then": (
        Kept.SEVERAL_RUNS,
        function(
            loop("_, v = sess.run([train_op, loss])\nif n: sess.run(other)"),
            first="    other = data.minimize(loss)\n",
        ),
    ),
    "two that train, one of them in a helper": (
        Kept.SESSION_USED,
        function(loop("_, v = sess.run([train_op, loss])\nif n: more(sess)"))
        + "\n\nother = data.minimize(1)\n\n\ndef more(session):\n    session.run(other)\n",
    ),
    "a look, and the step in branches": (
        Kept.SEVERAL_RUNS,
        function(
            loop(f"i = sess.run(step)\nif i: {RUN}\nelse: sess.run(loss)"),
            first="    step = tf.train.get_or_create_global_step()\n",
        ),
    ),
    "several runs, of which continue leaves one out": (
        Kept.SEVERAL_RUNS,
        function(loop(f"{RUN}\nif n: continue\nv = sess.run(loss)\nprint(v)")),
    ),
    "a loop of runs in each round": (
        Kept.NESTED,
        function(loop(f"{RUN}\nfor _ in range(3):\n    v = sess.run(loss)\n    print(v)")),
    ),
    "epochs of rounds that hooks may cut short": (
        Kept.UNGUARDED,
        function(loop(f"{FIVE}\n    {RUN}", "for epoch in range(3):")),
    ),
    "the session in a list": (Kept.SESSION_USED, function(loop(f"{RUN}\nprint([sess])"))),
    "a run in a helper": (Kept.NO_RUN, function(loop("step(sess)"))),
    "no run at all": (Kept.NO_RUN, function(loop("data.step()"))),
    "a run and a helper": (Kept.SESSION_USED, function(loop(f"{RUN}\ndata.evaluate(sess)"))),
    "raw session": (Kept.SESSION_USED, function(loop(f"{RUN}\nprint(sess.raw_session())"))),
    "run_step_fn": (Kept.NO_RUN, function(loop("sess.run_step_fn(data)"))),
    "in an if": (Kept.PART, function(loop(f"if n:\n    {RUN}"))),
    "in an expression": (Kept.PART, function(loop("print(sess.run(loss))"))),
    "in a lambda": (Kept.PART, function(loop("data.call(lambda: sess.run(train_op))"))),
    "nested": (Kept.NESTED, function(loop(f"for i in range(3):\n    {RUN}"))),
    "options": (Kept.ARGUMENTS, function(loop("sess.run(train_op, options=n)"))),
    "starred": (Kept.ARGUMENTS, function(loop("sess.run(*data)"))),
    "keywords": (Kept.ARGUMENTS, function(loop("sess.run(train_op, **data)"))),
    "fetches that are called for": (Kept.FETCHES, function(loop("sess.run(tf.group(train_op, loss))"))),
    "fetches that change": (Kept.FETCHES, function(loop("loss = sess.run([train_op, loss])"))),
    "a list that grows": (
        Kept.FETCHES,
        function(loop("v = sess.run(ops)\nops.append(v)"), first="    ops = [train_op]\n"),
    ),
    "a dict that gets more": (
        Kept.FETCHES,
        function(loop("ops['more'] = loss\nsess.run(ops, {x: 1})"), first="    ops = {'op': train_op}\n"),
    ),
    "a list that grows by another name": (
        Kept.FETCHES,
        function(loop("v = sess.run(ops)\nrows.append(v)"), first="    ops = rows = [train_op]\n"),
    ),
    "a list that a function changes": (
        Kept.FETCHES,
        function(loop("v = sess.run(data.ops)\nshow(data.ops)")) + "\n\ndef show(ops):\n    ops[0] = 3\n",
    ),
    "an attribute that a method sets while it feeds": (
        Kept.FETCHES,
        function(loop("sess.run(data.op, {x: data.next_row()})"))
        + "\n\nclass Data:\n    def next_row(self):\n        self.op = 3\n",
    ),
    "no fetches": (Kept.FETCHES, function(loop("sess.run([])"))),
    "results in an attribute": (Kept.RESULTS, function(loop("data.v = sess.run(loss)"))),
    "results of an unknown list": (Kept.RESULTS, function(loop("a, b = sess.run(loss)\nprint(a)"))),
    "results in two names": (Kept.RESULTS, function(loop("a = b = sess.run(loss)\nprint(a)"))),
    "results starred": (Kept.RESULTS, function(loop("a, *b = sess.run([train_op, loss])\nprint(a)"))),
    "results in private names": (Kept.RESULTS, function(loop("__v = sess.run(loss)\nprint(__v)"))),
    # Before and after it.
    "a feed by the counter": (
        Kept.FEEDS,
        function(loop("if sess.should_stop(): break\nsess.run(loss, {x: i})", "for i in range(9):")),
    ),
    "something before it": (Kept.BEFORE, function(loop(f"data.shuffle()\n{RUN}"))),
    "something before it without feeds": (Kept.BEFORE, function(loop(f"batch = data.next()\n{RUN}"))),
    "a preparation that is not simple": (
        Kept.BEFORE,
        function(loop("for row in data: n += row\nsess.run(loss, {x: n})")),
    ),
    "a walrus": (Kept.BEFORE, function(loop("sess.run(loss, {x: (y := data.next())})"))),
    "the number of the round read after it": (
        Kept.READ_AFTER,
        function(loop(f"if sess.should_stop(): break\n{RUN}", "for i in range(9):"), last="    return i\n"),
    ),
    "global names": (Kept.GLOBALS, function(loop("v = sess.run(loss)\nprint(v)"), first="    global v\n")),
    "unknown calls": (Kept.CALLS, function(loop("v = sess.run(loss)\nreport(v)"))),
    "methods of the unknown": (Kept.CALLS, function(loop("v = sess.run(loss)\ndata.append(v)"))),
    "TensorFlow": (Kept.CALLS, function(loop("v = sess.run(loss)\nprint(tf.square(v))"))),
    "print of one's own": (
        Kept.CALLS,
        function(loop("v = sess.run(loss)\nprint(v)")) + "\n\ndef print(text):\n    save(text)\n",
    ),
    "an unknown with": (Kept.STATEMENTS, function(loop(f"{RUN}\nwith data: print(1)"))),
    "a loop without end behind it": (Kept.NESTED, function(loop(f"{RUN}\nwhile n: n -= 1"))),
    "a function that does more": (
        Kept.CALLS,
        function(loop("v = sess.run(loss)\nreport(v)")) + "\n\ndef report(v):\n    tf.constant(v)\n",
    ),
    "a function that is decorated": (
        Kept.CALLS,
        function(loop("v = sess.run(loss)\nreport(v)")) + "\n\n@tf.function\ndef report(v):\n    print(v)\n",
    ),
    "a function of no end": (
        Kept.CALLS,
        function(loop("v = sess.run(loss)\nreport(v)")) + "\n\ndef report(v):\n    report(v)\n",
    ),
    "attributes that are fetched and set": (
        Kept.FETCHES,
        function(loop("v = sess.run(data.ops)\ndata.ops = v")),
    ),
    "an import": (Kept.STATEMENTS, function(loop(f"{RUN}\nimport os"))),
    "del": (Kept.STATEMENTS, function(loop("v = sess.run(loss)\ndel v"))),
    "an annotation of what is kept": (Kept.STATEMENTS, function(loop(f"{RUN}\nn: int = n + 1"))),
    "a function": (Kept.STATEMENTS, function(loop(f"{RUN}\ndef f(): pass"))),
    "locals": (Kept.DYNAMIC, function(loop("v = sess.run(loss)\nprint(locals())"))),
    "locals behind it": (Kept.DYNAMIC, function(loop("v = sess.run(loss)"), last="    print(locals())\n")),
    "hooks that look at the run": (
        Kept.ORIGINAL_ARGUMENTS,
        function(loop(RUN)) + "\n\ndef fetches(context):\n    return context.original_args.fetches\n",
    ),
    "a comment": (Kept.SUPPRESSED, function(loop(RUN).replace(":\n", ":  # codemod: ignore[TFB202]\n", 1))),
}


@pytest.mark.parametrize(("reason", "text"), KEPT.values(), ids=KEPT)
def test_a_loop_that_stays(reason: Kept, text: str) -> None:
    outcome = migrate(text)
    assert [loop.kept for loop in outcome.loops] == [reason.name.lower()]
    assert outcome.loops[0].reason == reason.value
    assert ".fit(" not in outcome.text
    assert not [finding for finding in outcome.findings if finding.code in ("TFB202", "TFB203")]


def test_every_reason_has_a_loop_that_stays_for_it() -> None:
    assert {reason for reason, _ in KEPT.values()} | {Kept.ASKED} == set(Kept)


def test_a_name_that_only_loops_set_is_the_function_s() -> None:
    both = f"{loop('v = sess.run(loss)')}\n{loop('v = sess.run(train_op)')}"
    new = migrate(function(both, last="    return v\n")).text
    assert (new.count("    v: object\n"), new.count("nonlocal v\n")) == (2, 2)
    new = migrate(function(both, first="    v = 0\n", last="    return v\n")).text
    assert (new.count("v: object"), new.count("nonlocal v\n")) == (0, 2)


FITS = {
    "assigned": function(loop(RUN), "if n:", "    sess = tf.train.MonitoredTrainingSession()\n"),
    "assigned and closed": function(
        f"{loop(RUN)}\nsess.close()", "if n:", "    sess = tf.train.MonitoredTrainingSession()\n"
    ),
    "assigned in both branches": function(
        loop(RUN),
        "if n:",
        "    if n:\n        sess = tf.train.MonitoredTrainingSession(hooks=hooks)\n    else:\n"
        "        sess = tf.train.MonitoredTrainingSession()\n",
    ),
    "assigned, closed by a with": function(
        loop(RUN), "with sess:", "    sess = tf.train.MonitoredTrainingSession()\n"
    ),
    "assigned, closed by a with of another name": function(
        loop(RUN), "with made as sess:", "    made = tf.train.MonitoredTrainingSession()\n"
    ),
    "in an else": function(loop(f"if sess.should_stop():\n    break\nelse:\n    {RUN}", "while True:")),
    "until the input ends": function(
        loop(f"try:\n    {RUN}\nexcept tf.errors.OutOfRangeError:\n    print('end')\n    break")
    ),
    "forever, without hooks": function(
        loop(RUN, "while True:"), "with tf.train.MonitoredTrainingSession() as sess:"
    ),
    "rounds with hooks that never stop": function(
        loop(RUN, FIVE),
        "with tf.train.MonitoredTrainingSession(hooks=[tf.train.LoggingTensorHook([loss], 5)]) as sess:",
    ),
    "in an else of a loop": function(loop("v = sess.run(loss)\nfor w in v:\n    if w: break\nelse: break")),
    "assigned before a loop around": function(
        loop(RUN), "for _ in data:", "    sess = tf.train.MonitoredTrainingSession()\n"
    ),
    "in a loop around": function(f"for _ in data:\n{textwrap.indent(loop(RUN), '    ')}"),
    "epochs": function(loop(f"{WHILE}\n    {RUN}", "for epoch in range(3):")),
    "a condition on a name that is never begun": function(
        loop("v = sess.run(loss)", "while not sess.should_stop() and v > 3:")
    ),
    "asked in the middle": function(loop("v = sess.run(loss)\nif sess.should_stop(): break\nprint(v)")),
    "a counter that is never begun": function(loop(f"{RUN}\nm = m + 1")),
    "an evaluation now and then": function(loop(f"{RUN}\nif n % 2:\n    print(sess.run(loss))")),
    "an evaluation of several runs now and then": function(
        loop(f"{RUN}\nif n % 2:\n    for _ in range(3):\n        total += sess.run(loss)")
    ),
    "an evaluation in a function": function(loop(f"{RUN}\nif n % 2: look(sess)"))
    + "\n\ndef look(session):\n    print(session.run('loss:0'))\n",
    "a look before the step": function(
        loop("i = sess.run(step)\nsess.run(train_op, {x: i})\nprint(i)"),
        first="    step = tf.train.get_or_create_global_step()\n",
    ),
    "a look behind the step": function(loop(f"{RUN}\nv = sess.run(loss)\nprint(v)")),
    "rounds with a hook of one's own that never stops": function(
        loop(RUN, FIVE), OWN_HOOKS, "    own = [Own(), tf.train.NanTensorHook(loss)]\n"
    )
    + hook("print(context.session, values)"),
    "rounds with a hook that has a name": function(
        loop(RUN, FIVE),
        "with tf.train.MonitoredTrainingSession(hooks=[one]) as sess:",
        "    one = tf.train.NanTensorHook(loss)\n",
    ),
    "a parameter": handed("go(sess, train_op)\n        go(train_op=train_op, sess=sess)"),
    "an attribute": owned(SESS),
    "an attribute that is nothing at first": owned(f"self.sess = None\n        {SESS}"),
    "bare": function(loop(RUN)),
    "read after": function(loop("v = sess.run(loss)"), last="    return v\n"),
    "counted and read after": function(loop(f"{RUN}\nn += 1"), last="    return n\n"),
    "another condition": function(
        loop("v = sess.run(loss)\nn += v", "while not sess.should_stop() and n < 3:")
    ),
    "a feed with state": function(loop("v = sess.run(loss, {x: best})\nbest = v")),
    "a feed that counts": function(loop("n += 1\nsess.run(loss, {x: n})")),
    "break": function(loop(f"{RUN}\nif n: break")),
    "loops and files behind it": function(
        loop("v = sess.run(loss)\nfor w in v:\n    if w: break\nwith open('f', 'a') as f: f.write(str(v))")
    ),
    "rounds with a list of hooks that never stop": function(
        loop(RUN, "for _ in range(5):"),
        "with tf.train.MonitoredTrainingSession(hooks=own) as sess:",
        "    own = [tf.train.NanTensorHook(loss)]\n",
    ),
    "rounds of a session without hooks": function(
        loop("v = sess.run(loss)\nn += v", "for _ in range(n):"),
        "with tf.train.SingularMonitoredSession() as sess:",
    ),
    "values of values": function(loop("v = sess.run(loss)\nprint([w.decode('utf-8') for w in v])")),
    "a function of the file": function(loop("v = sess.run(loss)\nshow(v)"))
    + "\n\ndef show(value):\n    text = words(value)\n    print(text)\n"
    + "\n\ndef words(value):\n    if value > 3:\n        return 'large'\n    return str(value)\n",
    "followed": function(f"{loop(RUN)}\nprint('done')"),
    "followed further out": function(f"if hooks:\n{textwrap.indent(loop(RUN), '    ')}\nprint(1)"),
    "in a try": function(
        f"try:\n{textwrap.indent(loop(RUN), '    ')}\nexcept tf.errors.OutOfRangeError:\n    print('end')"
    ),
    "the name is used for other things before": function(f"sess.run(data)\n{loop(RUN)}"),
    "a name that is set again before it is read": function(
        loop("v = sess.run(loss)\nprint(v)"), last="    for v in data:\n        print(v)\n"
    ),
    "a name that is read only before": function(
        loop("v = sess.run(loss)\nprint(v)"), first="    v = 1\n    print(v)\n"
    ),
    "rounds of a constant": "STEPS = 30\n\n"
    + function(loop(RUN, "for _ in range(STEPS):"), "with tf.train.MonitoredTrainingSession() as sess:"),
    "a logger": "import logging\n\nlog = logging.getLogger(__name__)\n"
    + function(loop("v = sess.run(loss)\nlog.info('%s', v)\ntf.logging.info('%s', v)")),
    "already the bridge's": function(loop(RUN), "with bridge.MonitoredTrainingSession() as sess:").replace(
        "import", "import bridge\nimport", 1
    ),
    "by a session creator": function(
        loop(RUN), "with tf.train.MonitoredSession(session_creator=tf.train.ChiefSessionCreator()) as sess:"
    ),
}


@pytest.mark.parametrize("text", FITS.values(), ids=FITS)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_loop_that_becomes_a_fit(text: str, ending: str) -> None:
    text = text.replace("\n", ending)
    outcome = migrate(text)
    assert [loop.kept for loop in outcome.loops] == [""]
    assert "sess.fit(" in outcome.text
    assert outcome.text.count("\n") == outcome.text.count(ending)
    assert migrate(outcome.text).text == outcome.text


@pytest.mark.parametrize(
    ("rounds", "asks"), [("STEPS", False), ("2 * STEPS + 1", False), ("n", True), ("STEPS - n", True)]
)
def test_rounds_are_asked_for_where_nobody_knows_that_there_are_any(rounds: str, asks: bool) -> None:
    text = "STEPS = 30\n\n" + function(
        loop(RUN, f"for _ in range({rounds}):"), "with tf.train.MonitoredTrainingSession() as sess:"
    )
    new = migrate(text).text
    assert f"steps_per_epoch={rounds}," in new
    assert (f"if {rounds} > 0:" in new) == asks


@pytest.mark.parametrize("name", ["followed", "followed further out", "in a try"])
def test_the_end_of_the_input_comes_out_where_something_follows(name: str) -> None:
    assert "sess.fit(bridge.GraphModel(train_op, raise_at_end=True), verbose=0)" in migrate(FITS[name]).text
    assert "raise_at_end" not in migrate(FITS["bare"]).text


def test_no_comment_is_lost() -> None:
    text = function(
        loop("# 1\nv = sess.run(  # 2\n    [loss,  # 3\n     train_op])  # 4\n# 5\nprint(v)  # 6")
    )
    text = text.replace(f"{WHILE}\n", f"{WHILE}  # 7\n")
    new = migrate(text).text
    assert "sess.fit(" in new
    assert all(new.count(f"# {number}") == 1 for number in range(1, 8))


def test_a_file_is_indented_as_it_was() -> None:
    text = function(loop("v = sess.run(loss)\nn += 1\nprint(n, v)")).replace("    ", "\t")
    new = migrate(text).text
    assert "\t\tdef after_step(v):\n\t\t\tnonlocal n\n\t\t\tn += 1\n\t\t\tprint(n, v)\n\n\t\tsess.fit(" in new
    assert not any(line.startswith((" ", "\t ")) for line in new.splitlines())


def test_loops_are_kept_when_asked() -> None:
    outcome = migrate(function(loop(RUN)), loops="keep")
    assert [loop.reason for loop in outcome.loops] == [Kept.ASKED.value]
    assert "bridge.MonitoredTrainingSession" in outcome.text
    assert ".fit(" not in outcome.text


def test_a_session_that_stays_tensorflow_s_keeps_its_loop() -> None:
    outcome = migrate(function(loop(RUN)), ignore=("TFB201",))
    assert [loop.kept for loop in outcome.loops] == ["elsewhere"]


def test_a_name_in_use_is_not_taken() -> None:
    text = function(loop("after_step = sess.run(loss)\nprint(after_step)"))
    assert "def after_step_2(after_step):" in migrate(text).text


def test_a_loop_over_what_a_session_has_run_is_no_training_loop_to_count() -> None:
    assert migrate(function("for v in sess.run(loss):\n    print(v)")).loops == ()


def test_the_loop_of_a_raw_session_or_a_coordinator_is_no_training_loop_to_count() -> None:
    text = """
    import tensorflow as tf

    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        while not coord.should_stop():
            sess.run("train")
    """
    assert migrate(textwrap.dedent(text)).loops == ()


def test_a_loop_that_only_a_second_look_makes_a_fit_counts_as_one() -> None:
    text = function(f"{loop(RUN)}\n{loop('step(sess)')}", "with ms.MonitoredSession(hooks=hooks) as sess:")
    text = text.replace(
        "\n", "\nfrom tensorflow.contrib.learn.python.learn import monitored_session as ms\n", 1
    )
    outcome = migrate(text)
    assert outcome.text.count(".fit(") == 1
    assert [loop.kept for loop in outcome.loops] == ["", "no_run"]
    assert [loop.line for loop in outcome.loops] == [8, 10]


def test_the_command_counts_them(tmp_path: Path, codemod: Command) -> None:
    (tmp_path / "a.py").write_text(function(loop(RUN)))
    (tmp_path / "b.py").write_text(
        function(loop(f"if n: break\n{RUN}")) + "\n\n" + function(loop("step(sess)"))[24:]
    )
    done = codemod("migrate", "--diff", "--statistics", "-j", "1", "a.py", "b.py")
    assert "loops made into fit: 1; kept: 2\n" in done.stderr
    assert f"  1  {Kept.LEAVES.value}\n" in done.stderr
    data = json.loads(codemod("scan", "--output-format", "json", "a.py", "b.py").stdout)
    assert data["summary"]["loops"] == {"fit": 1, "kept": {Kept.LEAVES.value: 1, Kept.NO_RUN.value: 1}}
    first, second = data["files"][1]["loops"]
    assert (first["line"], first["column"], first["kept"]) == (7, 9, "leaves")
    assert second["kept"] == "no_run"


def test_kept_loops_are_no_work_that_is_left(tmp_path: Path, codemod: Command) -> None:
    (tmp_path / "a.py").write_text(function(loop("step(sess)")))
    assert codemod("migrate", "a.py").returncode == 0


def test_a_notebook_s_loop_is_in_its_cell(tmp_path: Path, codemod: Command) -> None:
    sources = ["import tensorflow as tf\n", "#\n" + function(loop(RUN)).partition("\n\n\n")[2]]
    cells = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
        for source in sources
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "a.ipynb").write_text(json.dumps(book))
    data = json.loads(codemod("scan", "--output-format", "json", "a.ipynb").stdout)
    (found,) = data["files"][0]["loops"]
    assert (found["cell"], found["line"], found["kept"]) == (2, 5, "")


def test_without_loops_nothing_is_said_of_them() -> None:
    result = RunResult((FileResult("a.py", "unchanged", "nothing to rewrite"),))
    assert "loops" not in render("text", result, statistics=True)
