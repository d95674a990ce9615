"""`tf.estimator` is `bridge.estimator`.

## What it does
Writes `bridge.estimator.X` for `tf.estimator.X`, `tf.contrib.estimator.X`, `tf.contrib.tpu.TPUEstimator` and the classes that
go with it, `tf.keras.estimator.model_to_estimator` and `tf.contrib.learn.ModeKeys`. Where a file imports one of these, or a
private module of `tensorflow.python.estimator` or `tensorflow_estimator`, or gives it a shorter name, only that line
changes.

## Why
Estimators were removed with TensorFlow 2.16, and the package tensorflow-estimator no longer imports beside it. The
bridge's have the same names, arguments, hooks and files, and are trained through Keras's `fit`.

## Before
```python
import tensorflow as tf
from tensorflow.python.estimator.model_fn import EstimatorSpec


def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.get_variable("b", []) + features["x"])
    if mode == tf.estimator.ModeKeys.EVAL:
        return EstimatorSpec(mode, loss=loss)
    return EstimatorSpec(mode, loss=loss, train_op=tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step()))


def train(input_fn):
    tf.estimator.Estimator(model_fn, "model").train(input_fn, max_steps=1000)
```

## After
```python
import bridge
import tensorflow.compat.v1 as tf
from bridge.estimator import EstimatorSpec


def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.get_variable("b", []) + features["x"])
    if mode == bridge.estimator.ModeKeys.EVAL:
        return EstimatorSpec(mode, loss=loss)
    return EstimatorSpec(mode, loss=loss, train_op=tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step()))


def train(input_fn):
    bridge.estimator.Estimator(model_fn, "model").train(input_fn, max_steps=1000)
```

## Is it safe?
Safe: `bridge.estimator` means the same by these names, and was compared with TensorFlow 1.15 on whole programs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codemod.facts import FileFacts
from codemod.names import Import, Scope, Use
from codemod.proposals import Proposal
from codemod.rules import imports
from codemod.rules._estimator_names import Place, is_estimators, place

CODE = "TFB601"
TRIGGER = r"estimator|contrib"

_Key = tuple[str, Scope]
_Groups = dict[_Key, list[Use]]


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the bridge's name: at the import or alias if that settles its uses, else at each use."""
    groups = _groups(file)
    imported = {i.alias: new for i in file.names.imports if (new := _imported(file, i, groups)) is not None}
    for statement in dict.fromkeys(i.statement for i in file.names.imports if i.alias in imported):
        yield from _import(file, statement, imported, groups)
    for uses in groups.values():
        yield from _alias(file, groups, uses)
    for use in file.names.chains:
        if use.root not in file.taken:
            yield from _use(file, use)


# -- Uses, by what binds them ------------------------------------------------------------------------------------------


def _groups(file: FileFacts) -> _Groups:
    """The uses that `bridge.estimator` has and that nobody has taken, by the name that they begin with and its scope."""
    groups: _Groups = {}
    for use in file.names.chains:
        if use.binding is not None and use.root not in file.taken and place(use.name) is not None:
            groups.setdefault((use.binding.name, use.binding.scope), []).append(use)
    return groups


def _use(file: FileFacts, use: Use) -> Iterator[Proposal]:
    """The bridge's name, where the use stands."""
    found = place(use.name)
    if found is None or found.symbol == "tpu":
        return
    rest = _rest(use, found)
    if rest != found.rest:
        yield file.rename(use, found.name + rest, f"{use.name} is {found.name}{rest}")
        return
    part = next(p for p in file.names.parts(use) if p.name + found.rest == use.name)
    yield file.rename(part, found.name, f"{part.name} is {found.name}")


def _rest(use: Use, found: Place) -> str:
    """What is looked up on the bridge's name: `tf.contrib.learn.ModeKeys` had another word for prediction."""
    if found.symbol == "ModeKeys" and found.rest == ".INFER":
        return ".PREDICT"
    return found.rest


def _common(module: str, uses: Sequence[tuple[Use, str]]) -> Place | None:
    """What a module or class has to become so that what stands behind it goes on meaning the same.

    Args:
      module: Its canonical name.
      uses: The uses by way of it, and of each what stands behind it, such as `.Estimator`.

    Returns:
      One place that is right for every use; None if there is none.
    """
    found = place(module)
    if found is not None and not found.is_module:
        return found
    names = set()
    for use, tail in uses:
        new = place(use.name)
        whole = new.name + new.rest if new is not None else ""
        if not whole.endswith(tail):
            return None  # It is called otherwise in the bridge.
        names.add(whole[: len(whole) - len(tail)])
    if len(names) != 1:
        return None
    common = place("tf.estimator" + names.pop().removeprefix("bridge.estimator"))
    return common if common is not None and common.is_module else None


def _settled(file: FileFacts, groups: _Groups, uses: Sequence[Use]) -> list[Use]:
    """Uses that go on meaning the same, with those of the shorter names that the file gives to them."""
    settled = list(uses)
    for use in settled:  # Grows on the way.
        settled += [
            inner
            for others in groups.values()
            if _value(file, others) is use.node and _keeps(use, others)
            for inner in others
            if inner not in settled
        ]
    return [use for use in settled if use.root not in file.taken]


def _value(file: FileFacts, uses: Sequence[Use]) -> ast.expr | None:
    """The value of the alias that the uses of a group begin with."""
    binding = uses[0].binding
    return binding.value if binding is not None and binding.kind == "alias" else None


def _keeps(value: Use, uses: Sequence[Use]) -> bool:
    return _common(value.name, [(use, use.raw[len(value.raw) :]) for use in uses]) == place(value.name)


def _renamed(file: FileFacts, use: Use) -> Iterator[Proposal]:
    """What has to change at a use whose import or alias means the bridge's class already."""
    found = place(use.name)
    if (
        found is not None
        and (rest := _rest(use, found)) != found.rest
        and isinstance(use.node, ast.Attribute)
    ):
        written = file.source(use.node).removesuffix(found.rest) + rest
        yield file.edit(use.node, f"{use.name} is {found.name}{rest}", imports.written(written))


# -- Imports -----------------------------------------------------------------------------------------------------------


def _imported(file: FileFacts, imported: Import, groups: _Groups) -> Place | None:
    """What an import has to bring in to settle its uses; None if it cannot, or is not of Estimators."""
    binding = imported.binding
    if binding is None or binding.raw != imported.raw:
        return None
    name = file.tables.canonical(imported.raw)
    uses = groups.get((binding.name, binding.scope), [])
    if place(name) is None and not is_estimators(name):
        return None
    if not uses and (place(name) is None or any(use.binding is binding for use in file.names.chains)):
        return None  # Not used, or settled by others.
    return _common(name, [(use, _tail(use)) for use in uses])


def _tail(use: Use) -> str:
    assert use.binding is not None
    return use.raw[len(use.binding.raw) :]


def _import(
    file: FileFacts,
    statement: ast.Import | ast.ImportFrom,
    imported: dict[ast.alias, Place],
    groups: _Groups,
) -> Iterator[Proposal]:
    ours = [i for i in file.names.imports if i.statement is statement and i.alias in imported]
    if statement in file.edited:
        return  # The next pass comes to it.
    keys = dict.fromkeys((i.binding.name, i.binding.scope) for i in ours if i.binding is not None)
    settled = _settled(file, groups, [use for key in keys for use in groups.get(key, ())])
    for use in settled:
        yield from _renamed(file, use)
    takes = tuple(use for use in settled if use.root not in file.taken)
    if isinstance(statement, ast.Import):
        for each in ours:
            new = imported[each.alias]
            make = imports.renamed_alias(new.name)
            yield file.edit(each.alias, f"{each.raw} is {new.name}", make, takes=takes)
        return
    targets = _targets(file, statement, imported)
    message = f"{ours[0].raw} is {imported[ours[0].alias].name}"
    proposal = file.edit(statement, message, imports.from_import(statement, targets), takes=takes)
    moved = [alias for alias, target in targets.items() if target.module != statement.module]
    yield replace(proposal, takes=(*proposal.takes, *moved))


def _targets(
    file: FileFacts, statement: ast.ImportFrom, imported: dict[ast.alias, Place]
) -> dict[ast.alias, imports.Target]:
    """Where each name of an import is to come from; what stays comes first, where its comments are."""
    others = [i for i in file.names.imports if i.statement is statement and i.alias not in imported]
    unused = [i for i in others if imports.goes(file, i, file.replaced)]
    dropped = {i.alias for i in unused}
    if imports.fix(file, statement, dropped) == "unsafe":  # A comment would go with them: they come along.
        found = {i.alias: place(file.tables.canonical(i.raw)) for i in unused}
        imported = imported | {alias: new for alias, new in found.items() if new is not None}
        dropped = set()
    targets = {}
    for alias in sorted(statement.names, key=lambda alias: alias in imported):
        new = imported.get(alias)
        if new is not None:
            module, _, leaf = new.name.rpartition(".")
        else:
            module, leaf = ("", "") if alias in dropped else (statement.module or "", alias.name)
        targets[alias] = imports.Target(module, leaf)
    return targets


# -- Aliases -----------------------------------------------------------------------------------------------------------


def _alias(file: FileFacts, groups: _Groups, uses: Sequence[Use]) -> Iterator[Proposal]:
    """`estimator = tf.estimator`: only that line changes."""
    binding = uses[0].binding
    if binding is None or binding.kind != "alias" or binding.value is None:
        return
    value = file.use_of(binding.value)
    if value is None or value.root in file.taken:
        return
    new = _common(value.name, [(use, use.raw[len(value.raw) :]) for use in uses])
    if new is None:
        return
    settled = _settled(file, groups, uses)
    for use in settled:
        yield from _renamed(file, use)
    takes = tuple(use for use in settled if use.root not in file.taken)
    name = new.name + _rest(value, new)
    yield file.edit(
        value.node, f"{value.name} is {name}", imports.written(file.spell(name, value.node)), takes=takes
    )
