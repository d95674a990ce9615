"""Lines and expressions, as libcst nodes and as text."""

from __future__ import annotations

from typing import Any

import libcst as cst

from codemod import cst_tools

# The length of a line, at the most.
WIDTH = 100


def lines_of(body: cst.BaseSuite) -> list[cst.BaseStatement]:
    """The statements of a block, one a line, as `ast` counts them."""
    if isinstance(body, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine([alone(small)]) for small in body.body]
    found: list[cst.BaseStatement] = []
    for each in body.body:
        assert isinstance(each, cst.BaseStatement)
        if isinstance(each, cst.SimpleStatementLine) and len(each.body) > 1:
            last = len(each.body) - 1
            found += [
                cst.SimpleStatementLine(
                    [alone(small)],
                    leading_lines=() if index else each.leading_lines,
                    trailing_whitespace=each.trailing_whitespace
                    if index == last
                    else cst.TrailingWhitespace(),
                )
                for index, small in enumerate(each.body)
            ]
        else:
            found.append(each)
    return found


def alone(small: cst.BaseSmallStatement) -> cst.BaseSmallStatement:
    """A statement that shared its line, as it stands by itself."""
    return small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)


def line(text: str) -> cst.BaseStatement:
    """The statement that a text is."""
    (statement,) = cst_tools.statements(text + "\n")
    return statement


def code(node: cst.CSTNode) -> str:
    """An expression's text: on one line, if that is not too long, and without comments, which go above the statement."""
    text = cst.Module([]).code_for_node(node)
    if "\n" not in text:
        return text
    flat = node.visit(_Flattener())
    assert isinstance(flat, cst.CSTNode)
    one = cst.Module([]).code_for_node(flat)
    return one if len(one) < WIDTH - 20 or cst_tools.has_comment(node) else text


class _Flattener(cst.CSTTransformer):
    """Puts what stands in brackets on one line."""

    def on_leave(self, original_node: cst.CSTNode, updated_node: Any) -> Any:
        new: Any = super().on_leave(original_node, updated_node)
        none = cst.SimpleWhitespace("")
        if isinstance(new, cst.ParenthesizedWhitespace):
            return cst.SimpleWhitespace(" ")
        if isinstance(new, cst.LeftParen | cst.LeftSquareBracket | cst.LeftCurlyBrace):
            return new.with_changes(whitespace_after=none)
        if isinstance(new, cst.RightParen | cst.RightSquareBracket | cst.RightCurlyBrace):
            return new.with_changes(whitespace_before=none)
        if isinstance(new, cst.List | cst.Dict | cst.Set) and new.elements:
            last = new.elements[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            return new.with_changes(elements=[*new.elements[:-1], last])
        if isinstance(new, cst.Call):
            args = [
                *new.args[:-1],
                *(
                    a.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=none)
                    for a in new.args[-1:]
                ),
            ]
            return new.with_changes(whitespace_before_args=none, args=args)
        return new


def argument(call: cst.Call, keyword: str, position: int) -> cst.BaseExpression:
    """What a call is given for an argument that it has."""
    found = cst_tools.argument(call, keyword, position)
    assert found is not None
    return found.value
