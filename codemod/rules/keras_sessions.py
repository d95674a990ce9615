"""A session that is only made for Keras becomes a call that configures TensorFlow.

## What it does
`K.set_session(tf.Session(config=c))` becomes `bridge.apply_session_config(c)`, or goes if there is no configuration; so
does a session that is assigned first, if it is used for nothing but `set_session`, the initializer of all variables and
`close`. Calls of `K.set_learning_phase` go with it where the file calls only those methods of models that are in that phase
by themselves. In files that work with Keras's session or graph in other ways (`K.get_session()`, `feed_dict`,
`K.learning_phase()`), Keras stays what it was: `import bridge.legacy_keras` chooses Keras 2, in a graph and a session of
TensorFlow 1.

## Why
Keras 3 has no sessions and no learning phase: `K.set_session` raises `AttributeError`. Devices and threads are configured
once for the process, and `fit`, `evaluate` and `predict` know by themselves which phase they are.

## Before
```python
import tensorflow as tf
from tensorflow.keras import backend as K

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
K.set_session(tf.Session(config=config))

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
```

## After
```python
import bridge
import tensorflow.compat.v1 as tf
from tensorflow.keras import backend as K

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
bridge.apply_session_config(config)

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
```

## Is it safe?
Safe where nothing else in the file needs a graph. Unsafe where a model stands before the call, since the configuration must
come first, and where a module is imported by others that may rely on its session or learning phase.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.names import Use
from codemod.proposals import Insertion, Make, Proposal
from codemod.results import Fix
from codemod.rules import _keras
from codemod.rules._moved import written
from codemod.rules.legacy_layers import LEGACY_KERAS, imports_legacy_keras, is_legacy, note_choice

if TYPE_CHECKING:
    import libcst as cst

CODE = "TFB501"
TRIGGER = r"set_session|get_session|learning_phase|manual_variable_initialization"

_SESSIONS = ("tf.Session", "tf.InteractiveSession")
_INITIALIZERS = (
    "tf.global_variables_initializer",
    "tf.local_variables_initializer",
    "tf.tables_initializer",
    "tf.initialize_all_variables",
)
_NEEDS_KERAS_2 = (
    "set_session",
    "get_session",
    "learning_phase",
    "set_learning_phase",
    "learning_phase_scope",
    "manual_variable_initialization",
)
# Of these, what the Keras 2 of TensorFlow 2 no longer had.
_ONLY_V1 = ("set_session", "get_session")
_NAMES = tuple(name for short in _NEEDS_KERAS_2 for name in _keras.backend(short))
_MODELS = (
    "tf.keras.layers",
    "tf.keras.models",
    "tf.keras.Model",
    "tf.keras.Sequential",
    "tf.keras.Input",
    "tf.keras.applications",
    "tf.keras.optimizers",
    "keras.layers",
    "keras.models",
    "keras.Model",
    "keras.Sequential",
    "keras.Input",
    "keras.applications",
    "keras.optimizers",
)


@dataclass
class _Session:
    """A session that Keras gets and nobody else.

    Attributes:
      made: The call that makes it.
      statement: The statement that becomes the configuration.
      gone: Statements that go.
      takes: The uses that are settled.
    """

    made: ast.Call
    statement: ast.stmt
    gone: list[ast.stmt] = field(default_factory=list)
    takes: list[Use] = field(default_factory=list)


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the configuration in the session's place, or Keras 2."""
    uses = list(file.uses(*_NAMES))
    if not uses or (imports_legacy_keras(file) and all(use.name.startswith("tf.") for use in uses)):
        return
    sessions = [found for use in uses if (found := _session(file, use)) is not None]
    phases = [use for use in uses if _is_phase_that_holds_anyway(file, use)]
    settled = {id(use.root) for session in sessions for use in session.takes} | {id(p.root) for p in phases}
    left = [use for use in uses if id(use.root) not in settled]
    graph = [use for use in _keras.graph_uses(file) if id(use.root) not in settled]
    if left or graph or any(is_legacy(use.name) for use in file.names.chains):
        yield from _keras_2(file, uses)
        return
    fix: Fix = "safe" if file.is_program else "unsafe"
    for session in sessions:
        yield from _configured(file, session, fix)
    for phase in phases:
        statement = file.statement(phase.node)
        message = f"{phase.name} has nothing to set in Keras 3, which knows the phase by itself"
        yield file.edit(
            statement, message, _removed, takes=(phase,), fix=_without_comment(file, statement, fix)
        )


# -- A session for Keras only ----------------------------------------------------------------------------------------


def _session(file: FileFacts, use: Use) -> _Session | None:
    """The session that a call of `set_session` hands over, if that is all that becomes of it."""
    call, statement = use.call, file.statement(use.node)
    if (
        use.name not in _keras.backend("set_session")
        or call is None
        or not isinstance(statement, ast.Expr)
        or statement.value is not call
        or len(call.args) + len(call.keywords) != 1
    ):
        return None
    given = call.args[0] if call.args else call.keywords[0].value
    if isinstance(given, ast.Call) and _makes_session(file, given):
        made = file.use_of(given.func)
        return _Session(given, statement, [], [use, *([made] if made else [])])
    return _assigned(file, use, statement, given) if isinstance(given, ast.Name) else None


def _makes_session(file: FileFacts, call: ast.Call) -> bool:
    """Whether a call makes a session of which nothing is given but the configuration."""
    plain = not call.args and all(k.arg == "config" for k in call.keywords)
    return file.name_of(call.func) in _SESSIONS and plain


def _assigned(file: FileFacts, use: Use, statement: ast.stmt, name: ast.Name) -> _Session | None:
    """`sess = tf.Session(config=c); K.set_session(sess)`, and nothing else with `sess` that Keras does not do itself."""
    bindings = file.names.lookup(name.id, file.names.scope_of(name))
    if len(bindings) != 1 or bindings[0].kind != "other":
        return None
    assigned = file.statement(bindings[0].node)
    if not (
        isinstance(assigned, ast.Assign)
        and assigned.targets == [bindings[0].node]
        and isinstance(assigned.value, ast.Call)
        and _makes_session(file, assigned.value)
    ):
        return None
    made = file.use_of(assigned.value.func)
    session = _Session(assigned.value, assigned, [statement], [use, *([made] if made else [])])
    for load, _ in file.names.loads(name.id):
        if load is name:
            continue
        taken = _harmless(file, load)
        if taken is None:
            return None
        session.gone.append(file.statement(load))
        session.takes += taken
    return session


def _harmless(file: FileFacts, load: ast.Name) -> list[Use] | None:
    """What goes with a statement that does to the session what is not needed any more; None if it does more."""
    method = file.parent(load)
    call = file.parent(method) if isinstance(method, ast.Attribute) else None
    statement = file.statement(load)
    if not (isinstance(call, ast.Call) and isinstance(statement, ast.Expr) and statement.value is call):
        return None
    assert isinstance(method, ast.Attribute)
    if method.attr == "close" and not call.args and not call.keywords:
        return []
    if method.attr == "run" and len(call.args) == 1 and not call.keywords:
        inner = call.args[0]
        if isinstance(inner, ast.Call) and file.name_of(inner.func) in _INITIALIZERS:
            use = file.use_of(inner.func)
            return [use] if use else []
    return None


def _configured(file: FileFacts, session: _Session, fix: Fix) -> Iterator[Proposal]:
    config = _keras.keyword(session.made, "config")
    if _model_before(file, session.statement):
        fix = "unsafe"
    takes = tuple(session.takes)
    if config is None:
        gone = "a session without a configuration has nothing to say to Keras 3"
        yield file.edit(
            session.statement,
            gone,
            _removed,
            takes=takes,
            fix=_without_comment(file, session.statement, fix),
        )
    else:
        spelled = file.spell("bridge.apply_session_config", session.made)
        text = f"{spelled}({file.source(config)})"
        yield file.edit(
            session.statement,
            "a session's configuration goes to TensorFlow itself: bridge.apply_session_config",
            _statement_of(text),
            takes=takes,
            fix=fix,
        )
    for statement in session.gone:
        message = "Keras 3 has no session to set, initialize or close"
        yield file.edit(statement, message, _removed, fix=_without_comment(file, statement, fix))


def _model_before(file: FileFacts, statement: ast.stmt) -> bool:
    """Whether something of Keras's that makes tensors stands before the statement, in its function or at the top."""
    here = file.names.scope_of(statement)
    for use in file.names.chains:
        if use.node.lineno < statement.lineno and use.name.startswith(_MODELS) and use.call is not None:
            scope = file.names.scope_of(use.node)
            if scope is here or scope.kind == "module":
                return True
    return False


def _without_comment(file: FileFacts, statement: ast.stmt, fix: Fix) -> Fix:
    """Unsafe if a comment on the statement's lines would go with it."""
    line = file.layout.line(statement.end_lineno or statement.lineno)
    return "unsafe" if "#" in line or "#" in file.source(statement) else fix


def _statement_of(text: str) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        from codemod import cst_tools

        line = cst.ensure_type(node, cst.SimpleStatementLine)
        new = cst.Expr(cst_tools.expression(text), semicolon=line.body[0].semicolon)
        return line.with_changes(body=[new, *line.body[1:]])

    return make


def _removed(node: cst.CSTNode) -> cst.CSTNode | cst.RemovalSentinel:
    import libcst as cst

    line = cst.ensure_type(node, cst.SimpleStatementLine)
    if len(line.body) > 1:
        return line.with_changes(body=line.body[1:])
    return cst.RemoveFromParent()


# -- The learning phase ----------------------------------------------------------------------------------------------


def _is_phase_that_holds_anyway(file: FileFacts, use: Use) -> bool:
    """Whether a call sets the phase that every method which this file calls is in by itself."""
    call, statement = use.call, file.statement(use.node)
    if (
        use.name not in _keras.backend("set_learning_phase")
        or call is None
        or not isinstance(statement, ast.Expr)
        or statement.value is not call
        or len(call.args) != 1
        or not isinstance(call.args[0], ast.Constant)
        or call.args[0].value not in (0, 1)
    ):
        return False
    trains = list(_keras.method_calls(file, _keras.TRAINING))
    if not call.args[0].value:
        return not trains
    validates = any(
        _keras.keyword(fit, "validation_data") or _keras.keyword(fit, "validation_split") for fit in trains
    )
    return bool(trains) and not validates and not any(_keras.method_calls(file, _keras.INFERENCE))


# -- Keras 2 ---------------------------------------------------------------------------------------------------------


def _keras_2(file: FileFacts, uses: list[Use]) -> Iterator[Proposal]:
    """Keeps the file on Keras 2, with a session of TensorFlow 1."""
    through_tensorflow = [use for use in uses if use.name.startswith("tf.")]
    for use in uses:
        if use not in through_tensorflow:
            yield file.finding(
                use.node,
                f"{use.name} does not exist in Keras 3",
                why="Keras 3 has no sessions, graphs or learning phase.",
                remedy="Import tf_keras in place of keras, with bridge.legacy_keras, or take the session out by hand.",
            )
    kept = []
    for use in through_tensorflow:
        short = use.name.rpartition(".")[2]
        prefix = file.spell("tf.Session", use.node).removesuffix("Session")
        if short in _ONLY_V1 and _is_v2_keras(file, use):
            message = f"{use.name} is in TensorFlow 1's Keras: {prefix}keras.backend.{short}"
            yield file.edit(use.node, message, written(f"{prefix}keras.backend.{short}"))
        else:
            kept.append(use)
    if through_tensorflow:
        note_choice(file)
    if through_tensorflow and not imports_legacy_keras(file):
        anchor = file.first_import or file.statement(uses[0].root)
        yield file.edit(
            anchor,
            f"Keras's session and graph are those of Keras 2: import {LEGACY_KERAS}",
            None,
            takes=tuple(kept),
            inserts=(Insertion(f"import {LEGACY_KERAS}", anchor),),
        )


def _is_v2_keras(file: FileFacts, use: Use) -> bool:
    """Whether the use reaches TensorFlow 2's Keras, which had no sessions even as Keras 2."""
    binding = use.binding
    return not (binding is not None and binding.kind == "import" and file.means_v1(binding))
