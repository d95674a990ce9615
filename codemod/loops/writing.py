"""Writes a loop as the fit that it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from codemod import cst_tools
from codemod.loops.fit_call import fit_call, is_some
from codemod.loops.plan import Plan
from codemod.loops.texts import argument, code, line, lines_of
from codemod.loops.ways import Ways
from codemod.loops.words import Words


def written(node: cst.CSTNode, plan: Plan, words: Words) -> cst.FlattenSentinel[cst.BaseStatement]:
    """Writes a loop as a fit.

    Args:
      node: The loop.
      plan: What it comes to.
      words: How things are called.
    """
    assert isinstance(node, cst.While | cst.For)
    lines, handlers = _opened(node.body, plan)
    before, run, action = lines[: plan.before], lines[plan.before], lines[plan.before + 1 :]
    assert isinstance(run, cst.SimpleStatementLine)
    small = run.body[0]
    assert isinstance(small, cst.Expr | cst.Assign)
    call = cst.ensure_type(small.value, cst.Call)
    functions: list[cst.BaseStatement] = []
    if before:
        if plan.feeds:
            before = [*before, _return(argument(call, "feed_dict", 1))]
        body = [*_kept_names(plan, plan.kept_before), *before]
        functions.append(_function(words.feed if plan.feeds else words.before, (), body, node.body, words))
    if plan.has_after:
        parameters = [value.parameter for value in plan.values]
        if plan.rounds and plan.rounds.counter:
            parameters.insert(0, plan.rounds.counter)
        kept = [line(f"{v.name} = {v.parameter}") for v in plan.values if v.name != v.parameter]
        ways = Ways(words.model, action, words.indent)
        ends = [_end(node, plan, words)] if plan.has_condition or plan.asks_again else []
        body = [*_kept_names(plan, plan.kept_after), *kept, *map(ways.of, action), *ends]
        functions.append(_function(words.action, parameters, body, node.body, words))
    new = [*functions, *_trained_by(node, call, plan, words, handlers)]
    return cst.FlattenSentinel(_with_space(node, new, plan, words, len(functions)))


def _opened(body: cst.BaseSuite, plan: Plan) -> tuple[list[cst.BaseStatement], Sequence[cst.ExceptHandler]]:
    """The statements of a loop without the questions around them, and the handlers of their errors."""
    lines = lines_of(body)
    guards, lines = lines[: plan.guards], lines[plan.guards :]
    if plan.is_in_else:
        orelse = cst.ensure_type(guards[0], cst.If).orelse
        # An `elif` is an `if` in an `else`.
        lines = [*(lines_of(orelse.body) if isinstance(orelse, cst.Else) else [_as_if(orelse)]), *lines]
    if not plan.is_in_try:
        return lines, ()
    first = cst.ensure_type(lines[0], cst.Try)
    inside = lines_of(first.body)
    if first.leading_lines:
        inside[0] = inside[0].with_changes(
            leading_lines=[*first.leading_lines, *getattr(inside[0], "leading_lines", ())]
        )
    return [*inside, *lines[1:]], first.handlers


def _as_if(node: cst.BaseStatement | cst.Else | cst.If | None) -> cst.If:
    return cst.ensure_type(node, cst.If)


def _condition(node: cst.While, plan: Plan) -> str:
    """What a loop goes on by, besides should_stop()."""
    parts: list[cst.BaseExpression] = []
    rest = node.test
    while isinstance(rest, cst.BooleanOperation) and isinstance(rest.operator, cst.And) and not rest.lpar:
        parts.insert(0, rest.right)
        rest = rest.left
    parts.insert(0, rest)
    return " and ".join(code(part) for index, part in enumerate(parts) if index != plan.asked)


def _end(node: cst.While | cst.For, plan: Plan, words: Words) -> cst.BaseStatement:
    """Ends the training when the loop would not have gone on."""
    asks = [f"{plan.session}.should_stop()"] if plan.asks_again else []
    if plan.has_condition:
        asks.append(f"not ({_condition(cst.ensure_type(node, cst.While), plan)})")
    test = " or ".join(asks)
    stop = cst.IndentedBlock([line(f"{words.model}.stop_training = True")], indent=words.indent)
    return cst.If(cst_tools.expression(test), stop)


def _trained_by(
    node: cst.While | cst.For,
    call: cst.Call,
    plan: Plan,
    words: Words,
    handlers: Sequence[cst.ExceptHandler],
) -> list[cst.BaseStatement]:
    """The statements that train: the fit, in the `try` or `if` that it needs."""
    rounds = node.iter if isinstance(node, cst.For) else None
    some = (plan.rounds is None or plan.rounds.is_some) and not plan.has_condition
    deeper = len(words.indent) * (bool(handlers) + (not some) + plan.is_handed_in + plan.asks_first)
    text = fit_call(call, plan, replace(words, column=words.column + deeper), rounds)
    new = [line(part) for part in text]
    if handlers:
        block = cst.IndentedBlock(new[-1:], indent=words.indent)
        left = [_without_break(handler, words.indent) for handler in handlers]
        new[-1:] = [cst.Try(block, handlers=left)]
    if not some:
        begins = is_some(rounds, plan) if rounds else _condition(cst.ensure_type(node, cst.While), plan)
        test = cst_tools.expression(begins)
        new[-1:] = [cst.If(test, cst.IndentedBlock(new[-1:], indent=words.indent))]
    if plan.is_handed_in:
        graph = cst.WithItem(cst_tools.expression(f"{plan.session}.graph.as_default()"))
        new = [cst.With([graph], cst.IndentedBlock(new, indent=words.indent))]
    if plan.asks_first:
        test = cst_tools.expression(f"not {plan.session}.should_stop()")
        new = [cst.If(test, cst.IndentedBlock(new, indent=words.indent))]
    return new


def _without_break(handler: cst.ExceptHandler, indent: str) -> cst.ExceptHandler:
    lines = lines_of(handler.body)
    last = lines[-1]
    if isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[0], cst.Break):
        lines = lines[:-1] or [line("pass")]
    block = (
        handler.body.with_changes(body=lines)
        if isinstance(handler.body, cst.IndentedBlock)
        else cst.IndentedBlock(lines, indent=indent)
    )
    return handler.with_changes(body=block)


def _function(
    name: str,
    parameters: Sequence[str],
    body: Sequence[cst.BaseStatement],
    like: cst.BaseSuite,
    words: Words,
) -> cst.FunctionDef:
    """A function made of statements that stood in a loop, with their indentation."""
    first, *rest = body
    if isinstance(first, cst.SimpleStatementLine | cst.BaseCompoundStatement):
        first = first.with_changes(leading_lines=_without_blank(first.leading_lines))
    block = (
        like.with_changes(header=cst.TrailingWhitespace(), body=[first, *rest], footer=())
        if isinstance(like, cst.IndentedBlock)
        else cst.IndentedBlock([first, *rest], indent=words.indent)
    )
    params = cst.Parameters([cst.Param(cst.Name(parameter)) for parameter in parameters])
    return cst.FunctionDef(cst.Name(name), params, block)


def _without_blank(lines: Sequence[cst.EmptyLine]) -> Sequence[cst.EmptyLine]:
    found = list(lines)
    while found and found[0].comment is None:
        del found[0]
    return found


def _kept_names(plan: Plan, names: Sequence[str]) -> list[cst.BaseStatement]:
    return [line(f"{'global' if plan.is_global else 'nonlocal'} {', '.join(names)}")] if names else []


def _return(value: cst.BaseExpression) -> cst.BaseStatement:
    text = code(value)
    if "\n" in text and not value.lpar and not text.startswith(("{", "[")):
        text = f"({text})"
    return line(f"return {text}")


def _with_space(
    node: cst.While | cst.For, new: Sequence[cst.BaseStatement], plan: Plan, words: Words, functions: int
) -> list[cst.BaseStatement]:
    """Puts what has no other place above: comments, names to begin with; and blank lines around functions."""
    blank = cst.EmptyLine(indent=False)
    found = [
        statement.with_changes(leading_lines=[blank] if 0 < index <= functions else [])
        for index, statement in enumerate(new)
    ]
    leading = list(node.leading_lines)
    kept = Counter(text for statement in found for text in _comments(statement))
    kept.update(line.comment.value for line in leading if line.comment is not None)
    for text in _comments(node):
        if kept[text]:
            kept[text] -= 1
        else:
            leading.append(cst.EmptyLine(comment=cst.Comment(text)))
    begun = [line(f"{name}: object") for name in plan.begun]
    if functions and begun:
        found[0] = found[0].with_changes(leading_lines=[blank])
    elif functions and not words.has_space:
        leading.insert(0, blank)
    found = [*begun, *found]
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
