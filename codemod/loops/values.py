"""The values that a file gives its names and attributes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.names import Scope


def values_of(file: FileFacts, owner: ast.expr) -> Iterator[ast.expr | None]:
    """The values that a file gives a name, or an attribute such as `self.losses`; None for one that cannot be told."""
    if isinstance(owner, ast.Name):
        for binding in file.names.lookup(owner.id, file.names.scope_of(owner)):
            yield value_at(file, binding.node)
    elif isinstance(owner, ast.Attribute):
        for node in file.nodes(ast.Attribute):
            if node.attr == owner.attr and isinstance(node.ctx, ast.Store):
                yield value_at(file, node)


def value_at(file: FileFacts, target: ast.AST) -> ast.expr | None:
    """The value that a target is given, where it is an assignment, a `with`, or a tuple of such; None if it cannot be told."""
    parent = file.parent(target)
    if isinstance(parent, ast.Assign) and target in parent.targets:
        return parent.value
    if isinstance(parent, ast.AnnAssign) and parent.target is target:
        return parent.value
    if isinstance(parent, ast.withitem):
        return parent.context_expr
    if isinstance(parent, ast.Tuple | ast.List):
        whole = value_at(file, parent)
        if isinstance(whole, ast.Tuple | ast.List) and len(whole.elts) == len(parent.elts):
            is_plain = not any(isinstance(element, ast.Starred) for element in (*whole.elts, *parent.elts))
            return (
                whole.elts[parent.elts.index(target)] if is_plain and isinstance(target, ast.expr) else None
            )
    return None


def value_of(file: FileFacts, expression: ast.expr, scope: Scope) -> ast.expr:
    """What a name is in a scope, if it is one thing only; the expression itself otherwise."""
    if isinstance(expression, ast.Name):
        bindings = file.names.lookup(expression.id, scope)
        if len(bindings) == 1:
            parent = file.parent(bindings[0].node)
            if isinstance(parent, ast.Assign) and bindings[0].node in parent.targets:
                return parent.value
    return expression


def is_named(node: ast.AST, name: str) -> bool:
    """Whether an expression is a name, or the attributes of one, as `self.sess` is."""
    root, *attributes = name.split(".")
    for attribute in reversed(attributes):
        if not isinstance(node, ast.Attribute) or node.attr != attribute:
            return False
        node = node.value
    return isinstance(node, ast.Name) and node.id == root
