"""Writes a loop as the fit that it is."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from codemod import cst_tools
from codemod.facts import FileFacts
from codemod.layout import first_line, siblings
from codemod.loop_plan import STEP_LOOPS, Plan

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Words:
    """How things are called in the file's new text.

    Attributes:
      graph_model: `bridge.GraphModel`.
      callback: `keras.callbacks.LambdaCallback`.
      model: The name of the model, where the action ends the training.
      action: The name of the function for the action.
      before: The name of the function for what comes before a run without feeds.
      feed: The name of the function that prepares what is fed.
      indent: The file's blanks for one level.
      column: The loop's column.
      has_space: Whether a function may stand at the loop's place without a blank line before it.
    """

    graph_model: str
    callback: str
    model: str
    action: str
    before: str
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
    lines, handlers = _opened(node.body, plan)
    before, run, action = lines[: plan.before], lines[plan.before], lines[plan.before + 1 :]
    assert isinstance(run, cst.SimpleStatementLine)
    small = run.body[0]
    assert isinstance(small, cst.Expr | cst.Assign)
    call = cst.ensure_type(small.value, cst.Call)
    functions: list[cst.BaseStatement] = []
    if before:
        if plan.feeds:
            before = [*before, _return(_argument(call, "feed_dict", 1))]
        body = [*_kept_names(plan, plan.kept_before), *before]
        functions.append(_function(words.feed if plan.feeds else words.before, (), body, node.body, words))
    if plan.has_after:
        parameters = [value.parameter for value in plan.values]
        if plan.rounds and plan.rounds.counter:
            parameters.insert(0, plan.rounds.counter)
        kept = [_line(f"{v.name} = {v.parameter}") for v in plan.values if v.name != v.parameter]
        ways = _Ways(words.model, action, words.indent)
        ends = [_end(node, plan, words)] if plan.has_condition else []
        body = [*_kept_names(plan, plan.kept_after), *kept, *(ways.of(line) for line in action), *ends]
        functions.append(_function(words.action, parameters, body, node.body, words))
    new = [*functions, *_trained_by(node, call, plan, words, handlers)]
    return cst.FlattenSentinel(_with_space(node, new, plan, words, len(functions)))


def _opened(body: cst.BaseSuite, plan: Plan) -> tuple[list[cst.BaseStatement], Sequence[cst.ExceptHandler]]:
    """The statements of a loop without the questions around them, and the handlers of their errors."""
    lines = _lines(body)
    guards, lines = lines[: plan.guards], lines[plan.guards :]
    if plan.is_in_else:
        orelse = cst.ensure_type(guards[0], cst.If).orelse
        # An `elif` is an `if` in an `else`.
        lines = [*(_lines(orelse.body) if isinstance(orelse, cst.Else) else [_as_if(orelse)]), *lines]
    if not plan.is_in_try:
        return lines, ()
    first = cst.ensure_type(lines[0], cst.Try)
    inside = _lines(first.body)
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
    return " and ".join(_code(part) for index, part in enumerate(parts) if index != plan.asked)


def _end(node: cst.While | cst.For, plan: Plan, words: Words) -> cst.BaseStatement:
    """Ends the training when the loop would not have gone on."""
    test = f"not ({_condition(cst.ensure_type(node, cst.While), plan)})"
    stop = cst.IndentedBlock([_line(f"{words.model}.stop_training = True")], indent=words.indent)
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
    deeper = len(words.indent) * (bool(handlers) + (not some))
    text = _fit(call, plan, replace(words, column=words.column + deeper), rounds)
    new = [_line(part) for part in text]
    if handlers:
        block = cst.IndentedBlock(new[-1:], indent=words.indent)
        left = [_without_break(handler, words.indent) for handler in handlers]
        new[-1:] = [cst.Try(block, handlers=left)]
    if not some:
        begins = _is_some(rounds, plan) if rounds else _condition(cst.ensure_type(node, cst.While), plan)
        test = cst_tools.expression(begins)
        new[-1:] = [cst.If(test, cst.IndentedBlock(new[-1:], indent=words.indent))]
    return new


def _without_break(handler: cst.ExceptHandler, indent: str) -> cst.ExceptHandler:
    lines = _lines(handler.body)
    last = lines[-1]
    if isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[0], cst.Break):
        lines = lines[:-1] or [_line("pass")]
    block = (
        handler.body.with_changes(body=lines)
        if isinstance(handler.body, cst.IndentedBlock)
        else cst.IndentedBlock(lines, indent=indent)
    )
    return handler.with_changes(body=block)


class _Ways(cst.CSTTransformer):
    """Writes `break` and `continue` of a loop as the ways out of the function that its body becomes."""

    def __init__(self, model: str, action: Sequence[cst.BaseStatement], indent: str) -> None:
        super().__init__()
        self._model, self._indent = model, indent
        self._last = {id(node) for node in _last_of(action)}

    def of(self, line: cst.BaseStatement) -> cst.BaseStatement:
        """One statement of the action."""
        new = line.visit(self)
        assert isinstance(new, cst.BaseStatement)
        return new

    def on_visit(self, node: cst.CSTNode) -> bool:
        """The ways of a loop inside are its own."""
        return not isinstance(node, cst.For)

    def on_leave(self, original_node: cst.CSTNode, updated_node: Any) -> Any:
        """Writes those that end a line, or a block of one line: `if done: break`."""
        if not isinstance(original_node, cst.SimpleStatementSuite | cst.SimpleStatementLine):
            return updated_node
        way = original_node.body[-1]
        if not isinstance(way, cst.Break | cst.Continue):
            return updated_node
        others = [cst.SimpleStatementLine([_alone(small)]) for small in updated_node.body[:-1]]
        lines = [*others, *self._way(way)]
        if isinstance(original_node, cst.SimpleStatementSuite):
            return cst.IndentedBlock(lines, indent=self._indent, header=original_node.trailing_whitespace)
        lines[0] = lines[0].with_changes(leading_lines=updated_node.leading_lines)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=updated_node.trailing_whitespace)
        return cst.FlattenSentinel(lines)

    def _way(self, small: cst.BaseSmallStatement) -> list[cst.BaseStatement]:
        if isinstance(small, cst.Continue):
            return [_line("return")]
        stop = _line(f"{self._model}.stop_training = True")
        return [stop] if id(small) in self._last else [stop, _line("return")]


def _last_of(lines: Sequence[cst.BaseStatement]) -> Iterator[cst.CSTNode]:
    """The statements with which a block may end."""
    if not lines:
        return
    last = lines[-1]
    if isinstance(last, cst.SimpleStatementLine):
        yield last.body[-1]
    node: cst.BaseStatement | cst.Else | None = last
    while isinstance(node, cst.If | cst.Else):
        yield from (
            [node.body.body[-1]]
            if isinstance(node.body, cst.SimpleStatementSuite)
            else _last_of([line for line in node.body.body if isinstance(line, cst.BaseStatement)])
        )
        node = node.orelse if isinstance(node, cst.If) else None


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
    return [_line(f"{'global' if plan.is_global else 'nonlocal'} {', '.join(names)}")] if names else []


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


def _fit(call: cst.Call, plan: Plan, words: Words, rounds: cst.BaseExpression | None) -> list[str]:
    """The call of `fit`, over several lines if one is too long; after the model, if that has a name."""
    fetches = _argument(call, "fetches", 0)
    model = [_trained(fetches, plan)]
    if plan.values:
        items = (f'"{v.parameter}": {_code(_element(fetches, v.index))}' for v in plan.values)
        model.append(f"fetches={{{', '.join(items)}}}")
    if plan.feeds:
        feed = words.feed if plan.before else f"lambda: {_code(_argument(call, 'feed_dict', 1))}"
        model.append(f"feed_fn={feed}")
    if plan.raises:
        model.append("raise_at_end=True")
    arguments = []
    if rounds is not None:
        arguments += [f"steps_per_epoch={_number(rounds, plan)}", "initial_step=0"]
    if plan.code == STEP_LOOPS:
        arguments.append(_callbacks(plan, words, rounds))
    arguments.append("verbose=0")
    made = f"{words.graph_model}({', '.join(model)})"
    new = []
    if plan.stops:
        line = f"{words.model} = {made}"
        is_short = words.column + len(line) <= _WIDTH and "\n" not in line
        new.append(line if is_short else f"{words.model} = {_broken(words.graph_model, model, words.indent)}")
        made, model = words.model, []
    one = f"{plan.session}.fit({made}, {', '.join(arguments)})"
    if words.column + len(one) <= _WIDTH and "\n" not in one:
        return [*new, one]
    step = words.indent
    if model and words.column + len(step) + len(made) >= _WIDTH and "\n" not in made:
        made = _broken(words.graph_model, model, step)
        made = made.replace("\n", f"\n{step}")
    return [*new, _broken(f"{plan.session}.fit", [made, *arguments], step)]


def _number(rounds: cst.BaseExpression, plan: Plan) -> str:
    """How many rounds a range has."""
    assert plan.rounds is not None
    end = cst.ensure_type(rounds, cst.Call).args[-1].value
    first = plan.rounds.first
    if first == 0:
        return _code(end)
    if first is not None and isinstance(end, cst.Integer):
        return str(end.evaluated_value - first)
    is_sum = isinstance(end, cst.BinaryOperation) and isinstance(end.operator, cst.Add) and not end.lpar
    if is_sum and isinstance(end, cst.BinaryOperation) and _code(end.right) == _first(rounds):
        return _code(end.left)
    return f"{_code(end)} - {_first(rounds)}"


def _is_some(rounds: cst.BaseExpression, plan: Plan) -> str:
    """Asks whether a range has any."""
    number = _number(rounds, plan)
    if number.endswith(f" - {_first(rounds)}"):
        return f"{_code(cst.ensure_type(rounds, cst.Call).args[-1].value)} > {_first(rounds)}"
    return f"{number} > 0"


def _first(rounds: cst.BaseExpression) -> str:
    """The number of the first round, as it can stand behind a sign."""
    first = cst.ensure_type(rounds, cst.Call).args[0].value
    text = _code(first)
    is_plain = isinstance(first, cst.Integer | cst.Name | cst.Attribute | cst.Call) or bool(first.lpar)
    return text if is_plain else f"({text})"


def _callbacks(plan: Plan, words: Words, rounds: cst.BaseExpression | None) -> str:
    actions = []
    if plan.before and not plan.feeds:
        actions.append(f"on_train_batch_begin=lambda batch, logs: {words.before}()")
    if plan.has_after:
        given = ["**logs"] if plan.values else []
        if plan.rounds and plan.rounds.counter:
            is_from_0 = rounds is None or plan.rounds.first == 0
            given.insert(0, "batch" if is_from_0 or rounds is None else f"batch + {_first(rounds)}")
        actions.append(f"on_train_batch_end=lambda batch, logs: {words.action}({', '.join(given)})")
    one = f"callbacks=[{words.callback}({', '.join(actions)})]"
    step = words.indent
    if words.column + len(step) + len(one) < _WIDTH:
        return one
    ends = "," if len(actions) > 1 else ""
    inner = [f"{step}{step}{action}{ends}" for action in actions]
    lines = ("callbacks=[", f"{step}{words.callback}(", *inner, f"{step})", "]")
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
    begun = [_line(f"{name} = None") for name in plan.begun]
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


def has_space(file: FileFacts, statement: ast.stmt) -> bool:
    """Whether a function may stand at a statement's place without a blank line before it."""
    number = first_line(statement) - 1
    above = file.layout.line(number).strip() if number else ""
    return not above or above.startswith("#") or statement is siblings(file, statement)[0]
