"""Small steps on `libcst` nodes, of which most rewrites are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import libcst as cst

_Node = TypeVar("_Node", bound=cst.CSTNode)


def dotted(name: str) -> cst.Name | cst.Attribute:
    """Builds the expression for a dotted name such as `tf.train.Saver`."""
    first, *rest = name.split(".")
    node: cst.Name | cst.Attribute = cst.Name(first)
    for part in rest:
        node = cst.Attribute(node, cst.Name(part))
    return node


def written_as(node: cst.CSTNode, name: str) -> cst.Name | cst.Attribute:
    """Writes an expression as another dotted name.

    The parentheses around it stay, and so do blanks and comments around the dots if there are as many of them.
    """
    parts = name.split(".")
    if isinstance(node, cst.Name | cst.Attribute) and _length(node) == len(parts):
        return _renamed_chain(node, parts)
    new = dotted(name)
    if isinstance(node, cst.Name | cst.Attribute):
        new = new.with_changes(lpar=node.lpar, rpar=node.rpar)
    return new


def _length(node: cst.BaseExpression) -> int:
    length = 1
    while isinstance(node, cst.Attribute):
        length, node = length + 1, node.value
    return length


def _renamed_chain(node: cst.Name | cst.Attribute, parts: Sequence[str]) -> cst.Name | cst.Attribute:
    if isinstance(node, cst.Name):
        return node.with_changes(value=parts[0])
    value = node.value
    inner = _renamed_chain(value, parts[:-1]) if isinstance(value, cst.Name | cst.Attribute) else value
    return node.with_changes(value=inner, attr=node.attr.with_changes(value=parts[-1]))


def expression(text: str) -> cst.BaseExpression:
    """Parses an expression."""
    return cst.parse_expression(text)


def statements(
    text: str, like: cst.Module | None = None
) -> Sequence[cst.BaseStatement | cst.SimpleStatementLine]:
    """Parses statements written at the left margin, to be put in a statement's place.

    Args:
      text: One or more lines.
      like: A module whose indentation and line ends the text has.
    """
    module = (
        cst.parse_module(text, config=like.config_for_parsing) if like is not None else cst.parse_module(text)
    )
    return module.body


def with_callee(call: cst.CSTNode, name: str) -> cst.Call:
    """Writes what is called as another dotted name; arguments, comments and parentheses stay."""
    call = _is(call, cst.Call)
    return call.with_changes(func=written_as(call.func, name))


def argument(call: cst.CSTNode, keyword: str, position: int | None = None) -> cst.Arg | None:
    """Finds an argument by keyword, or by position (counted from 0) if nothing starred stands before it."""
    args = _is(call, cst.Call).args
    for arg in args:
        if arg.keyword is not None and arg.keyword.value == keyword:
            return arg
    if position is not None and position < len(args):
        before = args[: position + 1]
        if all(a.keyword is None and not a.star for a in before):
            return args[position]
    return None


def with_argument(call: cst.CSTNode, keyword: str, value: cst.BaseExpression | str) -> cst.Call:
    """Adds `keyword=value` behind the last argument, before any `**kwargs`, or replaces the value it had."""
    call = _is(call, cst.Call)
    if isinstance(value, str):
        value = expression(value)
    args = list(call.args)
    for index, arg in enumerate(args):
        if arg.keyword is not None and arg.keyword.value == keyword:
            args[index] = arg.with_changes(value=value)
            return call.with_changes(args=args)
    equal = cst.AssignEqual(
        whitespace_before=cst.SimpleWhitespace(""), whitespace_after=cst.SimpleWhitespace("")
    )
    new = cst.Arg(value, keyword=cst.Name(keyword), equal=equal)
    where = next((i for i, arg in enumerate(args) if arg.star == "**"), len(args))
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    if where == len(args):
        if args and isinstance(args[-1].comma, cst.MaybeSentinel):
            args[-1] = args[-1].with_changes(comma=comma)
        elif args:  # A trailing comma stays where it is; one that ends a line keeps its line.
            new = new.with_changes(comma=args[-1].comma, whitespace_after_arg=args[-1].whitespace_after_arg)
            inner = args[-2].comma if len(args) > 1 else comma
            args[-1] = args[-1].with_changes(comma=inner if isinstance(inner, cst.Comma) else comma)
    else:
        new = new.with_changes(comma=comma)
    args.insert(where, new)
    return call.with_changes(args=args)


def without_argument(call: cst.CSTNode, keyword: str, position: int | None = None) -> cst.Call:
    """Leaves an argument off, if it is there; the comma that ended the list stays at its end."""
    call = _is(call, cst.Call)
    gone = argument(call, keyword, position)
    if gone is None:
        return call
    args = list(call.args)
    index = args.index(gone)
    if index and (index == len(args) - 1 or (_ends_line(gone) and not _ends_line(args[index - 1]))):
        args[index - 1] = args[index - 1].with_changes(comma=gone.comma)
    del args[index]
    return call.with_changes(args=args)


def _ends_line(arg: cst.Arg) -> bool:
    comma = arg.comma
    return isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace)


def renamed_argument(call: cst.CSTNode, old: str, new: str) -> cst.Call:
    """Writes a keyword argument under another name, if it is there."""
    call = _is(call, cst.Call)
    args = [
        arg.with_changes(keyword=cst.Name(new))
        if arg.keyword is not None and arg.keyword.value == old
        else arg
        for arg in call.args
    ]
    return call.with_changes(args=args)


def with_keywords(call: cst.CSTNode, names: Sequence[str | None]) -> cst.Call:
    """Gives positional arguments the keywords that they have in `names`; None leaves one positional."""
    call = _is(call, cst.Call)
    equal = cst.AssignEqual(
        whitespace_before=cst.SimpleWhitespace(""), whitespace_after=cst.SimpleWhitespace("")
    )
    args = list(call.args)
    for index, arg in enumerate(args):
        if arg.star or arg.keyword is not None or index >= len(names):
            break
        name = names[index]
        if name is not None:
            args[index] = arg.with_changes(keyword=cst.Name(name), equal=equal)
    return call.with_changes(args=args)


def has_comment(node: cst.CSTNode) -> bool:
    """Whether a comment stands anywhere inside a node."""
    found = False

    class _Seeker(cst.CSTVisitor):
        def on_visit(self, node: cst.CSTNode) -> bool:
            nonlocal found
            found = found or isinstance(node, cst.Comment)
            return not found

    node.visit(_Seeker())
    return found


def _is(node: cst.CSTNode, kind: type[_Node]) -> _Node:
    if not isinstance(node, kind):
        raise TypeError(f"A {kind.__name__} was expected here, not a {type(node).__name__}.")
    return node
