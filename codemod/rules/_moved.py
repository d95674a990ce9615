"""What the rules about names with a successor share: which edits carry a family of names over.

Where a file imports a whole namespace, or gives it a short name (`slim = tf.contrib.slim`), the import or assignment is
rewritten and its uses stay as they are; whatever has no place in the new namespace, and names that are reached in other
ways, are written out one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.names import Binding, Import, Use
from codemod.proposals import Make, Proposal, Restated, Written
from codemod.results import Fix

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True)
class Target:
    """Where a name has gone.

    Attributes:
      name: The new canonical name.
      module: What is imported for it; the first part of the name if left out.
      fix: Whether the two are the same.
      why: What differs, if they are not.
      namespace: Whether it stands for a module; what is below it needs a target of its own.
    """

    name: str
    module: str = ""
    fix: Fix = "safe"
    why: str = ""
    namespace: bool = False


Find = Callable[[str], "Target | None"]


def moves(file: FileFacts, belongs: Callable[[str], bool], find: Find) -> Iterator[Proposal]:
    """Proposes the new place of every use that belongs to a family and has one.

    Args:
      file: The file.
      belongs: Tells whether a canonical name is of the family.
      find: The target of a canonical name, or of a namespace; None if it has none.
    """
    groups: dict[Binding | None, list[Use]] = {}
    for use in file.names.chains:
        if use.root not in file.taken and belongs(use.name):
            groups.setdefault(use.binding, []).append(use)
    kept: set[ast.AST] = set()
    blocked = _blocked(file, groups, find)
    for proposal, settled in [*_aliases(file, groups, find), *_statements(file, groups, belongs, find)]:
        kept.update(use.node for use in settled)
        yield proposal
    for use in (use for uses in groups.values() for use in uses):
        if use.node not in kept | blocked and use.root not in file.taken:
            yield from _one(file, use, find)


_Groups = dict["Binding | None", list[Use]]
_Moves = Iterator[tuple[Proposal, list[Use]]]


def _aliases(file: FileFacts, groups: _Groups, find: Find) -> _Moves:
    """`slim = tf.contrib.slim`: the edit that settles what is called `slim`."""
    for binding, uses in groups.items():
        if binding is None or binding.kind != "alias" or binding.value is None:
            continue
        use = file.use_of(binding.value)
        target = find(use.name) if use is not None else None
        settled = _settled(file, use.name, target, uses, find) if use is not None and target else None
        if use is not None and target is not None and settled is not None:
            spelled = file.spell(target.name, use.node, target.module)
            yield (
                file.edit(
                    use.node,
                    f"{use.name} is {target.name}",
                    written(spelled),
                    takes=tuple(settled),
                    fix=target.fix,
                    why=target.why,
                ),
                [*settled, use],
            )


def _blocked(file: FileFacts, groups: _Groups, find: Find) -> set[ast.AST]:
    """Namespaces that have a short name under which the file reaches something that has no new place."""
    found: set[ast.AST] = set()
    for binding, uses in groups.items():
        if binding is not None and binding.kind == "alias" and binding.value is not None:
            use = file.use_of(binding.value)
            if use is not None and _settled(file, use.name, find(use.name), uses, find) is None:
                found.add(use.node)
    return found


def _statements(file: FileFacts, groups: _Groups, belongs: Callable[[str], bool], find: Find) -> _Moves:
    """Imports of which every name has a place outside of TensorFlow: only they change."""
    by_statement: dict[ast.Import | ast.ImportFrom, list[Import]] = {}
    for imported in file.names.imports:
        by_statement.setdefault(imported.statement, []).append(imported)
    for statement, imports in by_statement.items():
        homes = [file.tables.canonical(imported.raw) for imported in imports]
        if not all(belongs(home) for home in homes):
            continue
        targets = [_new_import(file, imported, find) for imported in imports]
        uses = [groups.get(imported.binding, []) for imported in imports]
        settled = [
            _settled(file, home, target, found, find)
            for home, target, found in zip(homes, targets, uses, strict=True)
        ]
        exported = file.path.endswith("__init__.py")
        empty = any(
            target is not None and target.namespace and not found and not exported
            for target, found in zip(targets, settled, strict=True)
        )  # All that is used of a namespace is elsewhere: nobody needs the name.
        wanted = (any(uses) or exported) and not empty
        if wanted and all(target is not None for target in targets) and all(s is not None for s in settled):
            names = [i.binding.name for i in imports if i.binding is not None]
            found = [use for part in settled if part for use in part]
            yield _import_edit(file, statement, [t for t in targets if t], names, homes[0], found), found


def _new_import(file: FileFacts, imported: Import, find: Find) -> Target | None:
    binding, statement = imported.binding, imported.statement
    if binding is None or len(binding.scope.bindings(binding.name)) != 1:
        return None
    if isinstance(statement, ast.Import) and (len(statement.names) > 1 or not imported.alias.asname):
        return None
    target = find(file.tables.canonical(imported.raw))
    return None if target is None or target.name.startswith("tf.") else target


def _settled(file: FileFacts, home: str, new: Target | None, uses: list[Use], find: Find) -> list[Use] | None:
    """The uses that mean the right thing as they are, once what binds their name is rewritten; None if some would be lost."""
    if new is None:
        return None
    settled = []
    for use in uses:
        if use.name == home:
            settled.append(use)  # Handed on as a whole.
            continue
        found = _longest(file, use, find)
        if found is None:
            return None  # What has no new place must go on being called by its old name.
        if found[1].name == new.name + found[0].name[len(home) :]:
            settled.append(use)
    return settled


def _import_edit(
    file: FileFacts,
    statement: ast.Import | ast.ImportFrom,
    targets: list[Target],
    names: list[str],
    home: str,
    settled: list[Use],
) -> Proposal:
    groups: dict[str, list[str]] = {}
    for target, local in zip(targets, names, strict=True):
        module, _, leaf = target.name.rpartition(".")
        groups.setdefault(module, []).append(leaf if leaf == local else f"{leaf} as {local}")
    lines = []
    for module, parts in groups.items():
        lines += (
            [f"from {module} import {', '.join(parts)}"] if module else [f"import {part}" for part in parts]
        )
    in_parentheses = (statement.end_lineno or 0) > statement.lineno
    lost = in_parentheses and "#" in file.source(statement)
    return file.edit(
        statement,
        f"{home} is {targets[0].name}: {lines[0]}",
        Restated(_replaced(lines), tuple(lines), plain=False),
        takes=tuple(settled),
        fix="unsafe" if lost or any(target.fix == "unsafe" for target in targets) else "safe",
        why=targets[0].why,
    )


def _replaced(lines: list[str]) -> Make:
    """Writes imports in another's place; what stands behind it on its line stays."""

    def make(node: cst.CSTNode) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
        import libcst as cst

        assert isinstance(node, cst.SimpleStatementLine)
        new = [cst.ensure_type(cst.parse_statement(line), cst.SimpleStatementLine) for line in lines]
        at = next(i for i, small in enumerate(node.body) if isinstance(small, cst.Import | cst.ImportFrom))
        last = new[-1].body[0].with_changes(semicolon=node.body[at].semicolon)
        line = node.with_changes(body=[*node.body[:at], last, *node.body[at + 1 :]])
        if len(new) == 1:
            return line
        first = new[0].with_changes(leading_lines=node.leading_lines)
        return cst.FlattenSentinel([first, *new[1:-1], line.with_changes(leading_lines=[])])

    return make


def written(name: str) -> Make:
    """Writes an expression as another dotted name."""
    return Written(name)


def _one(file: FileFacts, use: Use, find: Find) -> Iterator[Proposal]:
    found = _longest(file, use, find)
    if found is None:
        return
    part, target = found
    if part.name == target.name and file.spell(target.name, part.node, target.module) == file.source(
        part.node
    ):
        return
    message = f"{part.name} is {target.name}"
    yield file.rename(part, target.name, message, fix=target.fix, why=target.why, module=target.module)


def _longest(file: FileFacts, use: Use, find: Find) -> tuple[Use, Target] | None:
    for part in file.names.parts(use):
        target = find(part.name)
        if target is not None and (part.node is use.node or not target.namespace):
            return part, target
    return None
