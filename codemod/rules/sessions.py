"""Monitored sessions are the bridge's.

## What it does
`tf.train.MonitoredTrainingSession`, `tf.train.SingularMonitoredSession` and `tf.train.MonitoredSession` with a session
creator in its call become `bridge.MonitoredTrainingSession`, wherever they are made: in a `with`, assigned, kept in an
attribute, returned. Arguments are kept. A creator that is assigned to a name goes into the call if nothing else needs it. A
session without a call (a base class, `isinstance`), or one whose creator comes from elsewhere, stays: TensorFlow's own goes
on working.

## Why
The bridge's session has the same arguments, `run`, `should_stop` and hooks, and a `fit` besides: the way to Keras.

## Before
```python
import tensorflow as tf


def train(train_op, hooks):
    with tf.train.MonitoredTrainingSession(checkpoint_dir="logs", hooks=hooks) as sess:
        while not sess.should_stop():
            loss, _ = sess.run([tf.get_collection("losses"), train_op])
            print(loss)
```

## After
```python
import bridge
import tensorflow.compat.v1 as tf


def train(train_op, hooks):
    with bridge.MonitoredTrainingSession(checkpoint_dir="logs", hooks=hooks) as sess:
        while not sess.should_stop():
            loss, _ = sess.run([tf.get_collection("losses"), train_op])
            print(loss)
```

## Is it safe?
Safe: on a graph the bridge's session is TensorFlow's own, with the same arguments, order and defaults.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.layout import siblings
from codemod.names import Use
from codemod.proposals import Make, Proposal

if TYPE_CHECKING:
    import libcst as cst

CODE = "TFB201"
TRIGGER = r"MonitoredTrainingSession|MonitoredSession"

_NEW = "bridge.MonitoredTrainingSession"

# v1 signatures, in order, of what does not share that of MonitoredTrainingSession.
_SINGULAR = (
    "hooks",
    "scaffold",
    "master",
    "config",
    "checkpoint_dir",
    "stop_grace_period_secs",
    "checkpoint_filename_with_path",
)
_MONITORED = ("session_creator", "hooks", "stop_grace_period_secs")
_CREATORS = {
    "tf.train.ChiefSessionCreator": (
        "scaffold",
        "master",
        "config",
        "checkpoint_dir",
        "checkpoint_filename_with_path",
    ),
    "tf.train.WorkerSessionCreator": ("scaffold", "master", "config", "max_wait_secs"),
}

# What a plain MonitoredSession never did by itself.
_NO_DEFAULTS = ("save_checkpoint_secs", "save_summaries_steps", "log_step_count_steps")


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the bridge's session for each session that is made."""
    for use in file.calls("tf.train.MonitoredTrainingSession"):
        yield file.rename(use, _NEW, "tf.train.MonitoredTrainingSession is the bridge's session")
    for use in file.calls("tf.train.SingularMonitoredSession"):
        if "raw_session" not in file.text:
            yield from _singular(file, use)
    for use in file.calls("tf.train.MonitoredSession"):
        yield from _monitored(file, use)


def _singular(file: FileFacts, use: Use) -> Iterator[Proposal]:
    call = _call(use)
    given = _given(call, _SINGULAR)
    if given is None or "checkpoint_filename_with_path" in given:
        return
    extra = _NO_DEFAULTS if "checkpoint_dir" in given else ()
    make = _session(file.spell(_NEW, use.node), call, _SINGULAR, extra)
    yield file.edit(call, "tf.train.SingularMonitoredSession is the bridge's session", make)


def _monitored(file: FileFacts, use: Use) -> Iterator[Proposal]:
    call = _call(use)
    given = _given(call, _MONITORED)
    if given is None:
        return
    creator = given.get("session_creator")
    message = "tf.train.MonitoredSession is the bridge's session"
    if creator is None or (isinstance(creator, ast.Constant) and creator.value is None):
        if creator is None:
            yield file.edit(call, message, _session(file.spell(_NEW, use.node), call, _MONITORED, ()))
        return
    assigned = _assigned(file, creator) if isinstance(creator, ast.Name) else None
    text = "" if assigned is None else file.source(assigned.value)
    creator = creator if assigned is None else assigned.value
    name = file.name_of(creator.func) if isinstance(creator, ast.Call) else None
    if name not in _CREATORS or not isinstance(creator, ast.Call):
        return
    inner = _given(creator, _CREATORS[name])
    if inner is None or "checkpoint_filename_with_path" in inner:
        return
    made = file.use_of(creator.func)
    extra = _NO_DEFAULTS if "checkpoint_dir" in inner else ()
    make = _created(file.spell(_NEW, use.node), text, _CREATORS[name], worker="Worker" in name, extra=extra)
    yield file.edit(
        call,
        message,
        make,
        takes=(made,) if made else (),
        fix="unsafe" if _has_comments(file, call) else "safe",
    )
    if assigned is not None:
        yield file.edit(assigned, f"{name} is part of the bridge's session", _removed)


def _assigned(file: FileFacts, creator: ast.Name) -> ast.Assign | None:
    """The statement that makes a creator, if what it gives can as well be given where the session is made."""
    scope = file.names.scope_of(creator)
    bindings = file.names.lookup(creator.id, scope)
    if len(bindings) != 1 or bindings[0].scope is not scope:
        return None
    statement = file.parent(bindings[0].node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    value = statement.value
    used = [
        node for node, where in file.names.loads(creator.id) if file.names.lookup(node.id, where) == bindings
    ]
    if not isinstance(value, ast.Call) or len(used) != 1 or "#" in file.layout.line(statement.lineno):
        return None
    if file.comments_above(statement) or "#" in file.source(statement):
        return None
    parts = [*value.args, *(keyword.value for keyword in value.keywords)]
    is_plain = all(_stays(file, part, statement) for part in parts)
    return statement if is_plain and len(siblings(file, statement)) > 1 else None


def _stays(file: FileFacts, node: ast.expr, statement: ast.Assign) -> bool:
    """Whether an expression is the same later: constants, and names and attributes that nothing sets any more."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Attribute):
        return _stays(file, node.value, statement) and not any(
            isinstance(n, ast.Attribute) and n.attr == node.attr and not isinstance(n.ctx, ast.Load)
            for n in ast.walk(file.tree)
        )
    if not isinstance(node, ast.Name) or file.use_of(node) is not None:
        return False
    bindings = file.names.lookup(node.id, file.names.scope_of(statement))
    return all(getattr(b.node, "lineno", 0) < statement.lineno for b in bindings)


def _removed(node: cst.CSTNode) -> cst.RemovalSentinel:
    import libcst as cst

    return cst.RemoveFromParent()


def _has_comments(file: FileFacts, call: ast.Call) -> bool:
    return "#" in file.source(call)


def _call(use: Use) -> ast.Call:
    assert use.call is not None
    return use.call


def _given(call: ast.Call, names: Sequence[str]) -> dict[str, ast.expr] | None:
    """The arguments of a call by name; None if they cannot be told, because of `*args` or `**kwargs`."""
    if len(call.args) > len(names) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    given = dict(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
        given[keyword.arg] = keyword.value
    return given


def _session(spelled: str, call: ast.Call, names: Sequence[str], extra: Sequence[str]) -> Make:
    """The same arguments, by keyword, on the bridge's session."""

    def make(node: cst.CSTNode) -> cst.CSTNode:
        from codemod import cst_tools

        new = cst_tools.with_callee(cst_tools.with_keywords(node, names), spelled)
        for name in extra:
            new = cst_tools.with_argument(new, name, "None")
        return new

    return make


def _created(
    spelled: str,
    text: str,
    names: Sequence[str],
    *,
    worker: bool,
    extra: Sequence[str],
) -> Make:
    """The creator's arguments and the session's in one call; `text` is the creator where it is made before."""

    def make(node: cst.CSTNode) -> cst.CSTNode:
        from codemod import cst_tools

        new = cst_tools.with_callee(cst_tools.with_keywords(node, _MONITORED), spelled)
        inner = cst_tools.argument(new, "session_creator")
        assert inner is not None
        creator = cst_tools.expression(text) if text else inner.value
        arguments = cst_tools.with_keywords(creator, names).args
        new = new.with_changes(args=_spliced(new.args, inner, arguments))
        if worker:
            new = cst_tools.with_argument(new, "is_chief", "False")
        for name in extra:
            new = cst_tools.with_argument(new, name, "None")
        return new

    return make


def _spliced(outer: Sequence[cst.Arg], gone: cst.Arg, arguments: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Puts arguments into another argument's place, on its line."""
    import libcst as cst

    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    new = [a.with_changes(comma=comma, whitespace_after_arg=cst.SimpleWhitespace("")) for a in arguments]
    index = outer.index(gone)
    before = list(outer[:index])
    ends = {"comma": gone.comma, "whitespace_after_arg": gone.whitespace_after_arg}
    if new:
        new[-1] = new[-1].with_changes(**ends)
    elif before and index == len(outer) - 1:
        before[-1] = before[-1].with_changes(**ends)
    return [*before, *new, *outer[index + 1 :]]
