"""Names that only one of keras and tf.keras has are taken from there.

## What it does
Keras 3 is one package with two faces: `keras` shows the new names, and `tf.keras` the legacy ones besides: the functions of
`backend`, `ImageDataGenerator`, `Tokenizer`, `losses.MSE`. What the file takes from the face that lacks it is taken from
the other one, or by its other name.

## Why
Programs for the Keras package of old end with `AttributeError` or `ImportError` at such a name.

## Before
```python
import tensorflow as tf
from keras import backend as K
from keras.layers import Dense
from keras.losses import MSE
from keras.preprocessing.image import ImageDataGenerator


def error(y_true, y_pred):
    return K.sum(K.square(y_true - y_pred)) + MSE(y_true, y_pred)


print(tf.__version__, Dense(3), ImageDataGenerator(rescale=1.0 / 255))
```

## After
```python
import tensorflow as tf
from tensorflow.keras import backend as K
from keras.layers import Dense
from keras.losses import mean_squared_error as MSE
from tensorflow.keras.preprocessing.image import ImageDataGenerator


def error(y_true, y_pred):
    return K.sum(K.square(y_true - y_pred)) + MSE(y_true, y_pred)


print(tf.__version__, Dense(3), ImageDataGenerator(rescale=1.0 / 255))
```

## Is it safe?
Safe: both are the same Keras, with the same classes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.names import Binding, Import, Use
from codemod.proposals import Make, Proposal, Written
from codemod.rules.legacy_layers import chooses_legacy_keras

if TYPE_CHECKING:
    import libcst as cst

CODE = "TFB506"
TRIGGER = r"keras"


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the face, or the other name, of each name that is lacking; files of Keras 2 keep theirs."""
    if chooses_legacy_keras(file):
        return
    lacking: dict[Binding | None, list[Use]] = {}
    for use in file.names.chains:
        if use.root not in file.taken and _other(file, use.name) is not None:
            lacking.setdefault(use.binding, []).append(use)
    for statement, imports in _by_statement(file).items():
        uses = [use for imported in imports for use in lacking.get(imported.binding, ())]
        if _is_of_tf_keras(file, imports, uses):
            yield _through_tensorflow(file, statement, imports, uses)
            for imported in imports:
                lacking.pop(imported.binding, None)
        elif isinstance(statement, ast.ImportFrom):
            for imported in imports:
                other = _other(file, file.tables.canonical(imported.raw))
                if other is not None:
                    yield _by_other_name(file, imported, other, lacking.pop(imported.binding, []))
    for use in (use for uses in lacking.values() for use in uses):
        yield _by_other_name_of_use(file, use)


def _other(file: FileFacts, name: str) -> str | None:
    if not name.startswith(("keras.", "tf.keras.")):
        return None
    other = file.tables.other_keras(name)
    return None if other is not None and name.startswith("tf.") and other.startswith("keras.") else other


def _by_statement(file: FileFacts) -> dict[ast.Import | ast.ImportFrom, list[Import]]:
    """The imports from Keras, but for `import keras` itself, and those that another rule has moved."""
    found: dict[ast.Import | ast.ImportFrom, list[Import]] = {}
    for imported in file.names.imports:
        statement = imported.statement
        if imported.binding is None or statement in file.proposed or imported.alias in file.proposed:
            continue
        is_one = isinstance(statement, ast.ImportFrom) or (
            len(statement.names) == 1 and "." in imported.raw and imported.alias.asname is not None
        )
        if is_one and file.tables.canonical(imported.raw).startswith(("keras.", "tf.keras.")):
            found.setdefault(statement, []).append(imported)
    return {statement: names for statement, names in found.items() if len(names) == len(statement.names)}


def _is_of_tf_keras(file: FileFacts, imports: list[Import], uses: list[Use]) -> bool:
    """Whether something that a statement imports, or is used of it, is only seen through `tf.keras`, and all of it is."""
    names = [file.tables.canonical(imported.raw) for imported in imports]
    others = [_other(file, name) for name in (*names, *(use.name for use in uses))]
    return (
        names[0].startswith("keras.")
        and any(other is not None and other.startswith("tf.keras.") for other in others)
        and all(file.tables.exists(f"tf.{name}") for name in names)
    )


def _through_tensorflow(
    file: FileFacts, statement: ast.Import | ast.ImportFrom, imports: list[Import], uses: list[Use]
) -> Proposal:
    first = next((use.name for use in uses), file.tables.canonical(imports[0].raw))
    message = f"{first} is {_other(file, first) or f'tf.{first}'}"
    if isinstance(statement, ast.Import):
        alias = statement.names[0]
        return file.edit(alias, message, Written(f"tensorflow.{alias.name}"), takes=tuple(uses))
    return file.edit(statement, message, _from(f"tensorflow.{statement.module}"), takes=tuple(uses))


def _from(module: str) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        from codemod import cst_tools

        line = cst.ensure_type(node, cst.SimpleStatementLine)
        new = [
            small.with_changes(module=cst_tools.dotted(module))
            if isinstance(small, cst.ImportFrom) and small.module is not None and _is_of(small.module, module)
            else small
            for small in line.body
        ]
        return line.with_changes(body=new)

    return make


def _is_of(node: cst.CSTNode, module: str) -> bool:
    from libcst.helpers import get_full_name_for_node

    return f"tensorflow.{get_full_name_for_node(node)}" == module


def _by_other_name_of_use(file: FileFacts, use: Use) -> Proposal:
    other = _other(file, use.name)
    assert other is not None
    message = f"{use.name} is {other}"
    home, _, leaf = other.rpartition(".")
    if isinstance(use.node, ast.Attribute) and home == use.name.rpartition(".")[0]:
        return file.edit(use.node, message, Written(f"{file.source(use.node.value)}.{leaf}"))
    return file.rename(use, other, message)


def _by_other_name(file: FileFacts, imported: Import, other: str, uses: list[Use]) -> Proposal:
    leaf, local = other.rpartition(".")[2], imported.alias.asname or imported.alias.name

    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        alias = cst.ensure_type(node, cst.ImportAlias)
        asname = alias.asname or cst.AsName(cst.Name(local))
        return alias.with_changes(name=cst.Name(leaf), asname=asname)

    name = file.tables.canonical(imported.raw)
    return file.edit(imported.alias, f"{name} is {other}", make, takes=tuple(uses))
