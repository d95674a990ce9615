"""TF1 code imports `tensorflow.compat.v1`.

## What it does
In a file that uses names which only TensorFlow 1 had, `import tensorflow as tf` becomes `import tensorflow.compat.v1 as
tf`; nothing else in the file has to change for it. `from tensorflow import flags` and `from tensorflow.python.training
import session_run_hook` become imports of the public names. Imports of what no longer exists go, once every use of them
has been rewritten. With `--style explicit`, and in files that also use names of TensorFlow 2, the import stays and the
names are written as `tf.compat.v1.X` instead.

## Why
`tensorflow` is TensorFlow 2 today: `tf.Session`, `tf.placeholder` and the v1 optimizers live in `tensorflow.compat.v1`.
Private modules (`tensorflow.python`) move from release to release.

## Before
```python
import tensorflow as tf
from tensorflow.python.training import session_run_hook


class Stop(session_run_hook.SessionRunHook):
    def after_run(self, run_context, run_values):
        run_context.request_stop()


def build():
    return tf.placeholder(tf.float32, [None, 3])
```

## After
```python
import tensorflow.compat.v1 as tf


class Stop(tf.train.SessionRunHook):
    def after_run(self, run_context, run_values):
        run_context.request_stop()


def build():
    return tf.placeholder(tf.float32, [None, 3])
```

## Is it safe?
Safe: `tensorflow.compat.v1` holds the very functions that `tensorflow` held in TensorFlow 1.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.names import Binding, Import, Use
from codemod.proposals import Make, Proposal, Restated, Written
from codemod.results import Fix

if TYPE_CHECKING:
    import libcst as cst

CODE = "TFB101"
TRIGGER = r"tensorflow|keras"
ORDER = 1

# Comments for tools; nobody misses them when their line goes.
_PRAGMA = re.compile(r"#\s*(?:noqa|pylint:|type:|isort:|pragma|pytype:|flake8)", re.IGNORECASE)


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the new imports, and the names that have to be written differently."""
    rewritten: set[ast.AST] = set()
    for proposal in [*_private_uses(file), *_explicit_uses(file)]:
        rewritten.update(proposal.takes)
        yield proposal
    gone = file.replaced | rewritten
    for proposal in _dead_aliases(file, gone):
        gone.update(proposal.takes)
        yield proposal
    for statement, imports in _by_statement(file).items():
        yield from _statement(file, statement, imports, gone)


# -- Names that are written differently ------------------------------------------------------------------------------


def _explicit_uses(file: FileFacts) -> Iterator[Proposal]:
    """`tf.X` as `tf.compat.v1.X`, where the import stays."""
    if file.namespace == "plain":
        return
    for use in file.names.chains:
        binding = use.binding
        if (
            use.root in file.taken
            or binding is None
            or binding.raw != "tensorflow"
            or binding.kind != "import"
        ):
            continue
        if not file.is_plain(use.raw) or file.means_v1(binding) or not file.needs_v1(use.name):
            continue
        spelled = f"{use.root.id}.compat.v1"
        yield file.edit(
            use.root, f"{_short(file, use)} is TF1's: {spelled}{_short(file, use)[2:]}", Written(spelled)
        )


def _private_uses(file: FileFacts) -> Iterator[Proposal]:
    """What is reached through an imported private module, by its public name, if that frees us of the module."""
    groups: dict[Binding, list[Use]] = {}
    for use in file.names.chains:
        if use.binding is None or use.binding.kind != "import" or use.root in file.taken:
            continue
        imported = file.tables.canonical(use.binding.raw)
        if use.raw.startswith("tensorflow.python.") and not file.tables.is_symbol(
            imported
        ):  # An imported symbol is dealt with where it is imported.
            groups.setdefault(use.binding, []).append(use)
    for binding, uses in groups.items():
        public = [use for use in uses if _is_public(file, use.name, use.raw)]
        if len(public) < len(uses) and binding.raw != "tensorflow":
            public = [use for use in public if not file.tables.exists(use.raw)]
        for use in public:
            symbol = file.tables.symbol(use.name)
            part = next((p for p in file.names.parts(use) if p.name == symbol), None)
            if part is not None:
                yield file.rename(part, symbol, f"{part.raw} is private: {symbol}")


def _is_public(file: FileFacts, name: str, raw: str) -> bool:
    return (
        name.startswith("tf.") and file.tables.exists(name) and not raw.startswith("tensorflow.python.keras.")
    )


def _short(file: FileFacts, use: Use) -> str:
    return file.tables.symbol(use.name)


def written(spelled: str) -> Make:
    """The edit that writes an expression as another dotted name."""
    return Written(spelled)


# -- Import statements -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """What an imported name is to be imported from: module and name; `module` is empty if it goes."""

    module: str
    name: str


def _by_statement(file: FileFacts) -> dict[ast.Import | ast.ImportFrom, list[Import]]:
    groups: dict[ast.Import | ast.ImportFrom, list[Import]] = {}
    for imported in file.names.imports:
        if file.edited.intersection((imported.statement, *imported.statement.names)):
            continue  # By a rule that has moved all of it elsewhere.
        if imported.raw.partition(".")[0] in (
            "tensorflow",
            "keras",
            "tensorflow_core",
            "tensorflow_estimator",
        ):
            groups.setdefault(imported.statement, []).append(imported)
    return groups


def _statement(
    file: FileFacts, statement: ast.Import | ast.ImportFrom, imports: list[Import], gone: set[ast.AST]
) -> Iterator[Proposal]:
    if isinstance(statement, ast.Import):
        for imported in imports:
            if imported.binding and imported.binding.raw == "tensorflow" and file.swaps(imported.binding):
                message = f"TF1 code: import tensorflow.compat.v1 as {imported.binding.name}"
                yield file.edit(imported.alias, message, Written("tensorflow.compat.v1"))
        dropped = {i.alias for i in imports if goes(file, i, gone)}
        for imported in imports:
            if imported.alias in dropped or not _is_path_to_gone(file, imported):
                continue
            if _is_bound_before(file, imported) and fix(file, statement, {imported.alias}) == "safe":
                dropped.add(imported.alias)
            else:
                message = f"{file.tables.canonical(imported.raw)} does not exist any more: import tensorflow"
                yield file.edit(imported.alias, message, Written("tensorflow"))
        if dropped:
            yield _without(file, statement, dropped)
        return
    targets = {i.alias: _target(file, statement, i, gone) for i in imports}
    if all(t.module == statement.module and t.name == a.name for a, t in targets.items()):
        return
    dropped = {alias for alias, target in targets.items() if not target.module}
    if len(dropped) == len(statement.names):
        yield _without(file, statement, dropped)
        return
    message = _from_message(statement, targets)
    proposal = file.edit(
        statement, message, from_import(statement, targets), fix=fix(file, statement, dropped)
    )
    yield _moving(proposal, {alias for alias, target in targets.items() if target.module != statement.module})


def _is_path_to_gone(file: FileFacts, imported: Import) -> bool:
    """`import tensorflow.contrib.x`, which gives the file `tensorflow`; what it has of the rest is dealt with there."""
    return (
        imported.alias.asname is None
        and imported.raw.startswith("tensorflow.")
        and not file.tables.exists(file.tables.canonical(imported.raw))
        and not (file.is_plain(imported.raw) and file.tables.exists_in_v2(imported.raw[11:]))
        and not _is_guarded(file, imported.statement)
    )


def _is_bound_before(file: FileFacts, imported: Import) -> bool:
    """Whether an import above, in the same block, gives the file the same name."""
    names = [(i.statement, i.alias) for i in file.names.imports if _binds_tensorflow(i)]
    place = file.parent(imported.statement)
    above = names[: names.index((imported.statement, imported.alias))]
    return any(file.parent(statement) is place for statement, _ in above)


def _binds_tensorflow(imported: Import) -> bool:
    return (
        isinstance(imported.statement, ast.Import)
        and imported.alias.asname is None
        and imported.raw.partition(".")[0] == "tensorflow"
    )


def _from_message(statement: ast.ImportFrom, targets: dict[ast.alias, Target]) -> str:
    changed = [(a, t) for a, t in targets.items() if t.module and t.module != statement.module]
    if not changed:
        return f"{statement.module}.{next(a.name for a, t in targets.items() if not t.module)} is no longer needed"
    alias, target = changed[0]
    why = "private" if statement.module and statement.module.startswith("tensorflow.python") else "TF1's"
    return f"{statement.module}.{alias.name} is {why}: from {target.module} import {target.name}"


def _target(file: FileFacts, statement: ast.ImportFrom, imported: Import, gone: set[ast.AST]) -> Target:
    """Where a name of a `from` import is to come from."""
    stays = Target(statement.module or "", imported.alias.name)
    if imported.binding is None or statement.level:
        return _star_target(file, statement) if imported.binding is None else stays
    if goes(file, imported, gone):
        return Target("", "")
    name = file.tables.canonical(imported.raw)
    if imported.raw.startswith("tensorflow.python."):
        if not _is_public(file, name, imported.raw) or not file.tables.is_symbol(name):
            return stays
    elif not file.is_plain(imported.raw) or file.namespace == "plain" or not file.needs_v1(name):
        return stays
    module, _, leaf = name[3:].rpartition(".")
    if module and file.tables.v1.get(module) != "":
        return stays  # Something like `flags`, which is no package to import from.
    return Target(f"tensorflow.compat.v1.{module}".rstrip("."), leaf)


def _star_target(file: FileFacts, statement: ast.ImportFrom) -> Target:
    module = statement.module or ""
    if (module == "tensorflow" or file.is_plain(module)) and file.namespace == "v1":
        rest = module[11:]
        if not rest or file.tables.exists(f"tf.{rest}"):
            return Target(f"tensorflow.compat.v1.{rest}".rstrip("."), "*")
    return Target(module, "*")


def goes(file: FileFacts, imported: Import, gone: set[ast.AST]) -> bool:
    """Whether an import goes: every use has been rewritten, and it is of something gone or private."""
    binding = imported.binding
    if binding is None or _is_guarded(file, imported.statement):
        return False
    uses = [use for use in file.names.chains if use.binding is binding]
    exists = file.tables.exists(file.tables.canonical(imported.raw))
    if uses:
        symbol = isinstance(imported.statement, ast.ImportFrom) and file.tables.is_symbol(
            file.tables.canonical(imported.raw)
        )
        return (
            (symbol or not exists or imported.raw.startswith("tensorflow.python."))
            and binding.raw != "tensorflow"
            and all(use.root in gone for use in uses)
        )
    if exists or file.path.endswith("__init__.py") or binding.raw == "tensorflow":
        return False
    others = any(name.id == binding.name for name in file.nodes(ast.Name))
    return not others and "__all__" not in file.text


def _moving(proposal: Proposal, names: set[ast.alias]) -> Proposal:
    """Says of an edit of a whole statement which of its names are dealt with."""
    return replace(proposal, takes=(*proposal.takes, *names))


def is_moved(file: FileFacts, imported: Import) -> bool:
    """Whether a rule deals with an import: by itself, or with its statement, unless that rule takes others of its names."""
    if imported.alias in file.proposed | file.taken:
        return True
    return imported.statement in file.proposed and file.taken.isdisjoint(imported.statement.names)


def _is_guarded(file: FileFacts, statement: ast.stmt) -> bool:
    return any(isinstance(a, ast.Try | ast.ExceptHandler) for a in file.ancestors(statement))


def _without(file: FileFacts, statement: ast.Import | ast.ImportFrom, dropped: set[ast.alias]) -> Proposal:
    module = f"{statement.module}." if isinstance(statement, ast.ImportFrom) else ""
    names = ", ".join(f"{module}{a.name}" for a in statement.names if a in dropped)
    keep = [a for a in statement.names if a not in dropped]

    def make(node: cst.CSTNode) -> cst.CSTNode | cst.RemovalSentinel:
        import libcst as cst

        assert isinstance(node, cst.SimpleStatementLine)
        if not keep:
            return _without_small(node, statement)
        return node.with_deep_changes(
            _small(node, statement), names=_kept(_small(node, statement), statement.names, dropped)
        )

    message = f"import of {names} is no longer needed"
    left = (_spelled(statement, [_alias(a) for a in keep]),) if keep else ()
    edit = file.edit(statement, message, Restated(make, left), fix=fix(file, statement, dropped))
    return _moving(edit, dropped)


def _spelled(statement: ast.Import | ast.ImportFrom, names: Sequence[str], module: str = "") -> str:
    """An import of other names, perhaps from another module, in one line."""
    if isinstance(statement, ast.Import):
        return f"import {', '.join(names)}"
    module = module or "." * statement.level + (statement.module or "")
    return f"from {module} import {', '.join(names)}"


def _alias(alias: ast.alias, name: str = "") -> str:
    """An imported name, or another one that the file goes on knowing by the same name."""
    if not name or name == alias.name:
        return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
    local = alias.asname or alias.name
    return name if name == local else f"{name} as {local}"


def fix(file: FileFacts, statement: ast.stmt, dropped: set[ast.alias]) -> Fix:
    """Unsafe if a comment goes with the names that go."""
    if not dropped:
        return "safe"
    line = file.layout.line(statement.end_lineno or statement.lineno)
    _, _, _, end = file.layout.span(statement)
    comments = [line[end:], *file.source(statement).splitlines()[:-1]]
    lost = any("#" in text and not _PRAGMA.search(text) for text in comments)
    return "unsafe" if lost else "safe"


def renamed_alias(module: str) -> Make:
    """The edit that makes `import X as Y` an import of another module."""
    return Written(module)


def _small(line: cst.SimpleStatementLine, statement: ast.stmt) -> cst.Import | cst.ImportFrom:
    """The small statement of a line that `statement` is: the one with the same imported names."""
    import libcst as cst

    wanted = [(a.name, a.asname) for a in getattr(statement, "names", [])]
    for small in line.body:
        if isinstance(small, cst.Import | cst.ImportFrom):
            names = (
                [("*", None)]
                if isinstance(small.names, cst.ImportStar)
                else [(a.evaluated_name, a.evaluated_alias) for a in small.names]
            )
            if names == wanted:
                return small
    raise ValueError("the import is not on its line")


def _without_small(line: cst.SimpleStatementLine, statement: ast.stmt) -> cst.CSTNode | cst.RemovalSentinel:
    import libcst as cst

    rest = [small for small in line.body if small is not _small(line, statement)]
    if not rest:
        return cst.RemoveFromParent()
    rest[-1] = rest[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    return line.with_changes(body=rest)


def _kept(
    small: cst.Import | cst.ImportFrom, aliases: Sequence[ast.alias], dropped: set[ast.alias]
) -> Sequence[cst.ImportAlias]:
    import libcst as cst

    assert not isinstance(small.names, cst.ImportStar)
    kept = [c for c, a in zip(small.names, aliases, strict=True) if a not in dropped]
    if kept[-1] is not small.names[-1]:
        kept[-1] = kept[-1].with_changes(comma=_last_comma(small, kept[-1]))
    return kept


def _last_comma(small: cst.Import | cst.ImportFrom, alias: cst.ImportAlias) -> cst.Comma | cst.MaybeSentinel:
    """The comma of an alias that has become the last: the old last one's, with the comment that is on its own line."""
    import libcst as cst

    if not isinstance(small, cst.ImportFrom) or small.lpar is None or isinstance(small.names, cst.ImportStar):
        return cst.MaybeSentinel.DEFAULT
    own, last = alias.comma, small.names[-1].comma
    if isinstance(own, cst.MaybeSentinel) or isinstance(own.whitespace_after, cst.SimpleWhitespace):
        return last
    white = own.whitespace_after
    indent, rest = False, cst.SimpleWhitespace("")
    if isinstance(last, cst.Comma) and isinstance(last.whitespace_after, cst.ParenthesizedWhitespace):
        indent, rest = last.whitespace_after.indent, last.whitespace_after.last_line
    return own.with_changes(whitespace_after=white.with_changes(indent=indent, last_line=rest))


def from_import(statement: ast.ImportFrom, targets: dict[ast.alias, Target]) -> Make:
    """Writes a `from` import as one import per module, the first in the old one's layout."""

    def make(node: cst.CSTNode) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
        import libcst as cst

        from codemod import cst_tools

        assert isinstance(node, cst.SimpleStatementLine)
        small = _small(node, statement)
        assert isinstance(small, cst.ImportFrom)
        modules = list(dict.fromkeys(t.module for t in targets.values() if t.module))
        new: list[cst.BaseSmallStatement] = []
        for module in modules:
            dropped = {a for a, t in targets.items() if t.module != module}
            if isinstance(small.names, cst.ImportStar):
                names: cst.ImportStar | Sequence[cst.ImportAlias] = small.names
            else:
                renamed = [
                    _named(c, a, targets[a]) for c, a in zip(small.names, statement.names, strict=True)
                ]
                names = _kept(small.with_changes(names=renamed), statement.names, dropped)
            new.append(small.with_changes(module=cst_tools.dotted(module), names=names))
        if len(new) == 1 or len(node.body) > 1:
            at = node.body.index(small)
            return node.with_changes(body=[*node.body[:at], *_separated(new, small), *node.body[at + 1 :]])
        lines = [node.with_changes(body=[new[0]])]
        lines += [cst.SimpleStatementLine([statement]) for statement in new[1:]]
        return cst.FlattenSentinel(lines)

    return make if statement.level else Restated(make, _from_lines(statement, targets))


def _from_lines(statement: ast.ImportFrom, targets: dict[ast.alias, Target]) -> tuple[str, ...]:
    groups: dict[str, list[str]] = {t.module: [] for t in targets.values() if t.module}
    for alias in statement.names:
        target = targets[alias]
        if target.module:
            groups[target.module].append(_alias(alias, "" if alias.name == "*" else target.name))
    return tuple(_spelled(statement, names, module) for module, names in groups.items())


def _separated(new: list[cst.BaseSmallStatement], old: cst.ImportFrom) -> list[cst.BaseSmallStatement]:
    import libcst as cst

    semicolon = cst.Semicolon(whitespace_after=cst.SimpleWhitespace(" "))
    return [
        *(s.with_changes(semicolon=semicolon) for s in new[:-1]),
        new[-1].with_changes(semicolon=old.semicolon),
    ]


def _named(node: cst.ImportAlias, alias: ast.alias, target: Target) -> cst.ImportAlias:
    """Imports the name that `target` says, and keeps the name by which the file knows it."""
    import libcst as cst

    if not target.module or target.name == alias.name:
        return node
    local = alias.asname or alias.name
    asname = None if local == target.name else cst.AsName(cst.Name(local))
    return node.with_changes(name=cst.Name(target.name), asname=asname)


# -- Aliases that nobody needs any more ------------------------------------------------------------------------------


def _dead_aliases(file: FileFacts, gone: set[ast.AST]) -> Iterator[Proposal]:
    """`layers = tf.contrib.layers`, when every use of `layers` has been rewritten."""
    used: dict[Binding, list[Use]] = {}
    for use in file.names.chains:
        if use.binding is not None and use.binding.kind == "alias":
            used.setdefault(use.binding, []).append(use)
    for binding, uses in used.items():
        value = file.use_of(binding.value) if binding.value is not None else None
        if value is None or value.root in gone or file.tables.exists(value.name):
            continue
        statement = file.statement(binding.node)
        if (
            all(use.root in gone for use in uses)
            and isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
        ):
            yield file.edit(statement, f"{value.name} is no longer needed", Restated(_remove), takes=(value,))


def _remove(node: cst.CSTNode) -> cst.RemovalSentinel:
    import libcst as cst

    return cst.RemoveFromParent()
