"""Supervisors can be the bridge's session.

## What it does
`tf.train.Supervisor` goes on working as it is. With `--unsafe-fixes`, one that only serves to open a session and to be asked
whether to stop becomes `bridge.MonitoredTrainingSession`, with its arguments: `logdir` is `checkpoint_dir`, `save_model_secs`
is `save_checkpoint_secs`, and what initialises or saves goes into a `tf.train.Scaffold`. The loop may then become a `fit` as
any other. A supervisor that is used for more (`sv.saver`, `sv.summary_computed`, `sv.loop`, `sv.request_stop`) stays.

## Why
TensorFlow 1 itself asked for monitored sessions in its place. Hooks, and a `fit`, are to be had with those only.

## Before
```python
import tensorflow as tf


def train(train_op, logdir, is_chief):
    sv = tf.train.Supervisor(is_chief=is_chief, logdir=logdir, save_model_secs=60)
    with sv.managed_session() as sess:
        while not sv.should_stop():
            sess.run(train_op)
    sv.stop()
```

## After
```python
import bridge
import tensorflow.compat.v1 as tf


def train(train_op, logdir, is_chief):
    with bridge.MonitoredTrainingSession(
        is_chief=is_chief,
        checkpoint_dir=logdir,
        save_checkpoint_secs=60,
        save_summaries_secs=120,
    ) as sess:
        sess.fit(bridge.GraphModel(train_op), verbose=0)
```

## Is it safe?
Unsafe: the steps are the same, but the session also saves the last step, needs a global step in the graph to save at all,
and writes its summaries after a step rather than from a thread.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.layout import indent_step, siblings
from codemod.names import Use
from codemod.proposals import Make, Proposal

if TYPE_CHECKING:
    import libcst as cst

CODE = "TFB204"
TRIGGER = r"managed_session"

_WIDTH = 80
_MESSAGE = "tf.train.Supervisor can be the bridge's session"

_SIGNATURE = (
    "graph",
    "ready_op",
    "is_chief",
    "init_op",
    "init_feed_dict",
    "local_init_op",
    "logdir",
    "summary_op",
    "saver",
    "global_step",
    "save_summaries_secs",
    "save_model_secs",
    "recovery_wait_secs",
    "stop_grace_secs",
)
_RENAMED = {
    "is_chief": "is_chief",
    "logdir": "checkpoint_dir",
    "save_model_secs": "save_checkpoint_secs",
    "save_summaries_secs": "save_summaries_secs",
    "stop_grace_secs": "stop_grace_period_secs",
}
_SCAFFOLD = (
    "init_op",
    "init_feed_dict",
    "ready_op",
    "ready_for_local_init_op",
    "local_init_op",
    "saver",
    "summary_op",
)
_DROPPED = ("global_step", "recovery_wait_secs")


@dataclass(frozen=True, slots=True)
class _Supervisor:
    """A supervisor that only opens a session.

    Attributes:
      made: The statement that makes it.
      call: The call in it.
      managed: The call of managed_session in the `with`.
      session: The session's name.
      asked: The calls of should_stop.
      stopped: The statements that stop it afterwards.
    """

    made: ast.Assign
    call: ast.Call
    managed: ast.Call
    session: str
    asked: tuple[ast.Call, ...]
    stopped: tuple[ast.Expr, ...]


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the bridge's session for supervisors that do nothing else, where unsafe fixes are wanted."""
    if not file.settings.unsafe_fixes:
        return
    for use in file.calls("tf.train.Supervisor"):
        found = _understood(file, use)
        arguments = _arguments(file, found, use) if found is not None else None
        if found is None or arguments is None:
            continue
        nodes = (found.made, found.managed, *found.asked, *found.stopped)
        if any(file.is_suppressed(node, CODE) for node in nodes):
            continue
        function = file.spell("bridge.MonitoredTrainingSession", use.node)
        session = _call(function, arguments, file, found.managed)
        yield file.edit(found.made, _MESSAGE, _removed, fix="unsafe", takes=(use,))
        yield file.edit(found.managed, "its session is the bridge's", _expression(session), fix="unsafe")
        for call in found.asked:
            asked = _expression(f"{found.session}.should_stop()")
            yield file.edit(call, "the session says whether to stop", asked, fix="unsafe")
        for statement in found.stopped:
            yield file.edit(statement, "the session stops by itself", _removed, fix="unsafe")


def _understood(file: FileFacts, use: Use) -> _Supervisor | None:
    call = use.call
    assert call is not None
    made = file.parent(call)
    if not (
        isinstance(made, ast.Assign) and len(made.targets) == 1 and isinstance(made.targets[0], ast.Name)
    ):
        return None
    name = made.targets[0].id
    bindings = file.names.lookup(name, file.names.scope_of(made))
    if len(bindings) != 1 or len(siblings(file, made)) < 2:
        return None
    managed: list[ast.Call] = []
    asked: list[ast.Call] = []
    stopped: list[ast.Expr] = []
    for node, scope in file.names.loads(name):
        if not any(b is bindings[0] for b in file.names.lookup(name, scope)):
            continue
        attribute = file.parent(node)
        outer = file.parent(attribute) if isinstance(attribute, ast.Attribute) else None
        if not (
            isinstance(attribute, ast.Attribute) and isinstance(outer, ast.Call) and outer.func is attribute
        ):
            return None
        holder = file.parent(outer)
        if attribute.attr == "managed_session":
            managed.append(outer)
        elif attribute.attr == "should_stop" and not outer.args and not outer.keywords:
            asked.append(outer)
        elif attribute.attr == "stop" and isinstance(holder, ast.Expr) and len(siblings(file, holder)) > 1:
            stopped.append(holder)
        else:
            return None
    if len(managed) != 1:
        return None
    item = file.parent(managed[0])
    block = file.parent(item) if item is not None else None
    if not (isinstance(item, ast.withitem) and isinstance(block, ast.With) and block.items[-1] is item):
        return None
    if not isinstance(item.optional_vars, ast.Name):
        return None
    session, inside = item.optional_vars.id, set(ast.walk(block))
    is_bound_once = sum(
        isinstance(n, ast.Name) and n.id == session and n in inside and not isinstance(n.ctx, ast.Load)
        for n in inside
    )
    if is_bound_once != 1 or not inside.issuperset(asked) or inside & set(stopped):
        return None
    return _Supervisor(made, call, managed[0], session, tuple(asked), tuple(stopped))


def _arguments(file: FileFacts, found: _Supervisor, use: Use) -> list[str] | None:
    """The arguments of the session; None if one has no counterpart."""
    own = _given(found.call, _SIGNATURE)
    managed = _given(found.managed, ("master", "config"))
    if own is None or managed is None or not set(managed) <= {"master", "config"}:
        return None
    known = {*_RENAMED, *_SCAFFOLD, *_DROPPED, "init_fn"}
    if not set(own) <= known or any(
        _is_none(own.get(name)) for name in ("init_op", "ready_op", "local_init_op", "logdir")
    ):
        return None
    values = {name: _text(file, value) for name, value in (own | managed).items()}
    if None in values.values():
        return None
    session = {name: text for name, text in values.items() if name in managed}
    session |= {_RENAMED[name]: text for name, text in values.items() if name in _RENAMED}
    session.setdefault("save_summaries_secs", "120")
    if _is_none(own.get("summary_op")):
        session["save_summaries_secs"] = "None"
    if _is_none(own.get("saver")):
        session["save_checkpoint_secs"] = "None"
    parts = [f"{name}={values[name]}" for name in own if name in _SCAFFOLD and not _is_none(own[name])]
    if "init_fn" in own and not _is_none(own["init_fn"]):
        function = (
            values["init_fn"]
            if isinstance(own["init_fn"], ast.Name | ast.Attribute)
            else f"({values['init_fn']})"
        )
        parts.append(f"init_fn=lambda scaffold, session: {function}(session)")
    arguments = [f"{name}={text}" for name, text in session.items()]
    if parts:
        arguments.append(f"scaffold={file.spell('tf.train.Scaffold', use.node)}({', '.join(parts)})")
    return arguments


def _call(function: str, arguments: Sequence[str], file: FileFacts, place: ast.Call) -> str:
    """A call in another one's place, over several lines if one is too long."""
    one = f"{function}({', '.join(arguments)})"
    if file.layout.span(place)[1] + len(one) <= _WIDTH:
        return one
    step = indent_step(file.tree, file.layout)
    return "\n".join([f"{function}(", *(f"{step}{argument}," for argument in arguments), ")"])


def _given(call: ast.Call, names: Sequence[str]) -> dict[str, ast.expr] | None:
    if len(call.args) > len(names) or any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    given = dict(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
        given[keyword.arg] = keyword.value
    return given


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _text(file: FileFacts, value: ast.expr) -> str | None:
    """An argument on one line; None if that is not to be had."""
    text = file.source(value)
    lines = text.splitlines()
    if len(lines) > 1 and any(
        "#" in line or '"""' in line or "'''" in line or line.endswith("\\") for line in lines
    ):
        return None
    return " ".join(line.strip() for line in lines)


def _expression(text: str) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        from codemod import cst_tools

        return cst_tools.expression(text)

    return make


def _removed(node: cst.CSTNode) -> cst.RemovalSentinel:
    import libcst as cst

    return cst.RemoveFromParent()
