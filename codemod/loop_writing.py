"""Writes a loop as the fit that it is."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from codemod import cst_tools
from codemod.facts import FileFacts
from codemod.layout import first_line, siblings
from codemod.loops import Plan

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Words:
    """How things are called in the file's new text.

    Attributes:
      model: `bridge.GraphModel`.
      callback: `keras.callbacks.LambdaCallback`.
      action: The name of the function for the action.
      feed: The name of the function that prepares what is fed.
      indent: The file's blanks for one level.
      column: The loop's column.
      has_space: Whether a function may stand at the loop's place without a blank line before it.
    """

    model: str
    callback: str
    action: str
    feed: str
    indent: str
    column: int
    has_space: bool


def free_name(text: str, name: str) -> str:
    """A name like `name` that occurs nowhere in a text."""
    number, choice = 1, name
    while re.search(rf"\b{choice}\b", text):
        number += 1
        choice = f"{name}_{number}"
    return choice


def written(node: cst.CSTNode, plan: Plan, words: Words) -> cst.FlattenSentinel[cst.BaseStatement]:
    """Writes a loop as a fit.

    Args:
      node: The loop.
      plan: What it comes to.
      words: How things are called.
    """
    assert isinstance(node, cst.While | cst.For)
    lines = _lines(node.body)[plan.guards :]
    before, run, action = lines[: plan.before], lines[plan.before], lines[plan.before + 1 :]
    assert isinstance(run, cst.SimpleStatementLine)
    small = run.body[0]
    assert isinstance(small, cst.Expr | cst.Assign)
    call = cst.ensure_type(small.value, cst.Call)
    new: list[cst.BaseStatement] = []
    if before:
        body = [*before, _return(_argument(call, "feed_dict", 1))]
        new.append(_function(words.feed, (), body, node.body, words.indent))
    if action:
        parameters = [*([plan.counter] if plan.counter else []), *(name for name, _ in plan.values)]
        body = [*_kept_names(plan), *action]
        new.append(_function(words.action, parameters, body, node.body, words.indent))
    count = node.iter if isinstance(node, cst.For) else None
    new.append(_line(_fit(call, plan, words, count)))
    return cst.FlattenSentinel(_with_space(node, new, words))


def _lines(body: cst.BaseSuite) -> list[cst.BaseStatement]:
    """The statements of a block, one a line, as `ast` counts them."""
    if isinstance(body, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine([_alone(small)]) for small in body.body]
    found: list[cst.BaseStatement] = []
    for line in body.body:
        assert isinstance(line, cst.BaseStatement)
        if isinstance(line, cst.SimpleStatementLine) and len(line.body) > 1:
            last = len(line.body) - 1
            found += [
                cst.SimpleStatementLine(
                    [_alone(small)],
                    leading_lines=() if index else line.leading_lines,
                    trailing_whitespace=line.trailing_whitespace
                    if index == last
                    else cst.TrailingWhitespace(),
                )
                for index, small in enumerate(line.body)
            ]
        else:
            found.append(line)
    return found


def _alone(small: cst.BaseSmallStatement) -> cst.BaseSmallStatement:
    return small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)


def _function(
    name: str,
    parameters: Sequence[str],
    body: Sequence[cst.BaseStatement],
    like: cst.BaseSuite,
    indent: str,
) -> cst.FunctionDef:
    """A function made of statements that stood in a loop, with their indentation."""
    first, *rest = body
    if isinstance(first, cst.SimpleStatementLine | cst.BaseCompoundStatement):
        first = first.with_changes(leading_lines=_without_blank(first.leading_lines))
    block = (
        like.with_changes(header=cst.TrailingWhitespace(), body=[first, *rest], footer=())
        if isinstance(like, cst.IndentedBlock)
        else cst.IndentedBlock([first, *rest], indent=indent)
    )
    params = cst.Parameters([cst.Param(cst.Name(parameter)) for parameter in parameters])
    return cst.FunctionDef(cst.Name(name), params, block)


def _without_blank(lines: Sequence[cst.EmptyLine]) -> Sequence[cst.EmptyLine]:
    found = list(lines)
    while found and found[0].comment is None:
        del found[0]
    return found


def _kept_names(plan: Plan) -> list[cst.BaseStatement]:
    if not plan.carried:
        return []
    return [_line(f"{'global' if plan.is_global else 'nonlocal'} {', '.join(plan.carried)}")]


def _return(value: cst.BaseExpression) -> cst.BaseStatement:
    code = _code(value)
    if "\n" in code and not value.lpar and not code.startswith(("{", "[")):
        code = f"({code})"
    return _line(f"return {code}")


def _line(text: str) -> cst.BaseStatement:
    (statement,) = cst_tools.statements(text + "\n")
    return statement


def _code(node: cst.CSTNode) -> str:
    """An expression's text: on one line, if that is not too long, and without comments, which go above the statement."""
    code = cst.Module([]).code_for_node(node)
    if "\n" not in code:
        return code
    flat = node.visit(_Flattener())
    assert isinstance(flat, cst.CSTNode)
    one = cst.Module([]).code_for_node(flat)
    return one if len(one) < _WIDTH - 20 or cst_tools.has_comment(node) else code


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


def _argument(call: cst.Call, keyword: str, position: int) -> cst.BaseExpression:
    found = cst_tools.argument(call, keyword, position)
    assert found is not None
    return found.value


def _fit(call: cst.Call, plan: Plan, words: Words, rounds: cst.BaseExpression | None) -> str:
    """The call of `fit`, over several lines if one is too long."""
    fetches = _argument(call, "fetches", 0)
    model = [_trained(fetches, plan)]
    if plan.values:
        items = (f'"{name}": {_code(_element(fetches, index))}' for name, index in plan.values)
        model.append(f"fetches={{{', '.join(items)}}}")
    if plan.feeds:
        feed = words.feed if plan.before else f"lambda: {_code(_argument(call, 'feed_dict', 1))}"
        model.append(f"feed_fn={feed}")
    if plan.raises:
        model.append("raise_at_end=True")
    arguments = []
    if rounds is not None:
        number = cst.ensure_type(rounds, cst.Call).args[0].value
        arguments += [f"steps_per_epoch={_code(number)}", "initial_step=0"]
    if plan.has_action:
        arguments.append(_callbacks(plan, words))
    arguments.append("verbose=0")
    one = f"{plan.session}.fit({words.model}({', '.join(model)}), {', '.join(arguments)})"
    if words.column + len(one) <= _WIDTH and "\n" not in one:
        return one
    step = words.indent
    inner = f"{words.model}({', '.join(model)})"
    if words.column + len(step) + len(inner) >= _WIDTH and "\n" not in inner:
        inner = _broken(words.model, model, step)
        inner = inner.replace("\n", f"\n{step}")
    return _broken(f"{plan.session}.fit", [inner, *arguments], step)


def _callbacks(plan: Plan, words: Words) -> str:
    given = ", ".join([*(["batch"] if plan.counter else []), *(["**logs"] if plan.values else [])])
    action = f"on_train_batch_end=lambda batch, logs: {words.action}({given})"
    one = f"callbacks=[{words.callback}({action})]"
    step = words.indent
    if words.column + len(step) + len(one) < _WIDTH:
        return one
    lines = ("callbacks=[", f"{step}{words.callback}(", f"{step}{step}{action}", f"{step})", "]")
    return f"\n{step}".join(lines)


def _broken(function: str, arguments: Iterable[str], step: str) -> str:
    return "\n".join([f"{function}(", *(f"{step}{argument}," for argument in arguments), ")"])


def _trained(fetches: cst.BaseExpression, plan: Plan) -> str:
    if plan.train is None:
        return _code(fetches)
    texts = [_code(_element(fetches, index)) for index in plan.train]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _element(fetches: cst.BaseExpression, index: int | None) -> cst.BaseExpression:
    if index is None:
        return fetches
    assert isinstance(fetches, cst.List | cst.Tuple)
    return fetches.elements[index].value


def _with_space(
    node: cst.While | cst.For, new: Sequence[cst.BaseStatement], words: Words
) -> list[cst.BaseStatement]:
    """Puts the comments that had no other place above, and blank lines around functions."""
    blank = cst.EmptyLine(indent=False)
    found = [new[0], *(statement.with_changes(leading_lines=[blank]) for statement in new[1:])]
    leading = list(node.leading_lines)
    if len(new) > 1 and not words.has_space:
        leading.insert(0, blank)
    kept = Counter(text for statement in found for text in _comments(statement))
    kept.update(line.comment.value for line in leading if line.comment is not None)
    for text in _comments(node):
        if kept[text]:
            kept[text] -= 1
        else:
            leading.append(cst.EmptyLine(comment=cst.Comment(text)))
    return [found[0].with_changes(leading_lines=leading), *found[1:]]


def _comments(node: cst.CSTNode) -> list[str]:
    found: list[str] = []

    class _Collector(cst.CSTVisitor):
        def on_visit(self, node: cst.CSTNode) -> bool:
            if isinstance(node, cst.Comment):
                found.append(node.value)
            return True

    node.visit(_Collector())
    return found


def has_space(file: FileFacts, statement: ast.stmt) -> bool:
    """Whether a function may stand at a statement's place without a blank line before it."""
    number = first_line(statement) - 1
    above = file.layout.line(number).strip() if number else ""
    return not above or above.startswith("#") or statement is siblings(file, statement)[0]
