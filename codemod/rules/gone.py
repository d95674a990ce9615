"""Names that do not exist on today's TensorFlow and have no rewrite are listed.

## What it does
Reports every use and every import of a name that the installed TensorFlow (or Keras) lacks and that no other rule has
rewritten, with the way to go on where there is one. The place gets a TODO comment.

## Why
Such a line raises `AttributeError` or `ImportError` when it is reached. Nothing that is gone is to be found out by running.

## Before
```python
import tensorflow as tf


def decoder(cell, helper, state):
    return tf.contrib.seq2seq.BasicDecoder(cell, helper, tf.get_variable("state", initializer=state))
```

## After
```python
import tensorflow.compat.v1 as tf


def decoder(cell, helper, state):
    # TODO(codemod TFB901): tf.contrib.seq2seq.BasicDecoder does not exist any more. tensorflow_addons had it, which is no longer maintained; write the decoding loop with Keras or tf.while_loop
    return tf.contrib.seq2seq.BasicDecoder(cell, helper, tf.get_variable("state", initializer=state))
```

## Is it safe?
Only a comment is written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.names import Binding, Import, Use
from codemod.proposals import Proposal
from codemod.reached import is_awaited
from codemod.rules._guidance import guidance
from codemod.rules.imports import is_moved
from codemod.rules.legacy_layers import chooses_legacy_keras, is_legacy

CODE = "TFB901"
TRIGGER = r"tensorflow|keras"
ORDER = 2


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes a finding for each use and import of a name that is gone."""
    imports = list(_gone_imports(file))
    told = _told_imports(file, imports)
    used: dict[Binding | None, list[tuple[str, bool]]] = {}
    for use in file.names.chains:
        if use.root in file.taken or _is_there(file, use) or _is_settled_elsewhere(file, use):
            continue
        shown = _shown(file, use.name)
        is_told = told.get(use.binding) == guidance(shown)
        used.setdefault(use.binding, []).append((shown, is_told))
        if not is_told and not is_awaited(file, use.node):
            yield _finding(file, use.node, shown)
    for imported in imports:
        yield _of_import(file, imported, used.get(imported.binding, []) if imported.binding in told else [])


def _gone_imports(file: FileFacts) -> Iterator[Import]:
    """The imports of what does not exist, and that nothing else deals with."""
    for imported in file.names.imports:
        name = file.tables.canonical(imported.raw)
        if imported.raw.partition(".")[0] not in (
            "tensorflow",
            "keras",
            "tensorflow_estimator",
            "tensorflow_core",
        ):
            continue
        if file.tables.exists(name) or (file.is_plain(imported.raw) and file.tables.exists_in_v2(name[3:])):
            continue
        if not _is_settled(file, imported):
            yield imported


def _told_imports(file: FileFacts, imports: list[Import]) -> dict[Binding | None, tuple[str, str]]:
    """What is said where something is imported need not be said again where it is used."""
    return {
        imported.binding: guidance(file.tables.canonical(imported.raw))
        for imported in imports
        if imported.binding is not None and imported.binding.raw == imported.raw
    }


def _of_import(file: FileFacts, imported: Import, used: list[tuple[str, bool]]) -> Proposal:
    """The finding for an import, which names what is used of it and not reported where it is used."""
    name = file.tables.canonical(imported.raw)
    members = list(dict.fromkeys(shown[len(name) + 1 :] for shown, told in used if told and shown != name))
    if used and not any(told for _, told in used):
        return file.finding(
            imported.alias,
            f"{name} does not exist any more",
            why=guidance(name)[0],
            remedy="Take it out with what it is used for, which is reported there.",
        )
    if not members or any(shown == name for shown, _ in used):
        return _finding(file, imported.alias, name)
    if len(members) == 1:
        return _finding(file, imported.alias, f"{name}.{members[0]}")
    return _finding(file, imported.alias, name, f" ({', '.join(members)})")


def _is_there(file: FileFacts, use: Use) -> bool:
    if (
        use.raw.startswith("tensorflow.python.")
        and use.binding is not None
        and use.binding.raw == "tensorflow"
    ):
        return False
    if file.tables.exists(use.name):
        return True
    # tf_keras need not be installed: what TensorFlow 1's Keras had, it is taken to have.
    if chooses_legacy_keras(file) and (is_legacy(use.name) or use.name.startswith("tf.keras.")):
        return not use.name.startswith("tf.keras.estimator")
    return (
        use.name.startswith("tf.")
        and file.is_plain(use.raw)
        and not file.means_v1(use.binding)
        and file.tables.exists_in_v2(use.name[3:])
    )


def _is_settled_elsewhere(file: FileFacts, use: Use) -> bool:
    """Whether the name is an alias, `size = vgg.default_size`, of something that has been dealt with there."""
    binding = use.binding
    if binding is None or binding.kind != "alias" or binding.value is None:
        return False
    value = file.use_of(binding.value)
    return value is not None and value.root in file.taken


def _is_settled(file: FileFacts, imported: Import) -> bool:
    """Whether the import line is rewritten or removed already, or may fail because the file catches that."""
    if is_moved(file, imported):
        return True
    for ancestor in file.ancestors(imported.statement):
        if isinstance(ancestor, ast.Try) and any(_catches(handler) for handler in ancestor.handlers):
            return True
    return False


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}
    return bool(
        names & {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}
    )


def _shown(file: FileFacts, name: str) -> str:
    """A name without what is looked up on its object: everything from a class or constant on."""
    parts = name.split(".")
    for index, part in enumerate(parts[1:], 1):
        if part[:1].isupper() or part.isupper():
            return ".".join(parts[: index + 1])
    return name


def _finding(file: FileFacts, node: ast.AST, name: str, more: str = "") -> Proposal:
    why, remedy = guidance(name)
    return file.finding(
        node,
        f"{name}{more} does not exist any more",
        why=why,
        remedy=remedy,
    )
