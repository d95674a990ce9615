"""The call of `fit` that a loop becomes, as text."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from codemod.loops.plan import STEP_LOOPS, Plan
from codemod.loops.texts import WIDTH, argument, code
from codemod.loops.words import Words


def fit_call(call: cst.Call, plan: Plan, words: Words, rounds: cst.BaseExpression | None) -> list[str]:
    """The call of `fit`, over several lines if one is too long; after the model, if that has a name."""
    fetches = argument(call, "fetches", 0)
    model = [_trained(fetches, plan)]
    if plan.values:
        items = (f'"{v.parameter}": {code(_element(fetches, v.index))}' for v in plan.values)
        model.append(f"fetches={{{', '.join(items)}}}")
    if plan.feeds:
        feed = words.feed if plan.before else f"lambda: {code(argument(call, 'feed_dict', 1))}"
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
        is_short = words.column + len(line) <= WIDTH and "\n" not in line
        new.append(line if is_short else f"{words.model} = {_broken(words.graph_model, model, words.indent)}")
        made, model = words.model, []
    one = f"{plan.session}.fit({made}, {', '.join(arguments)})"
    if words.column + len(one) <= WIDTH and "\n" not in one:
        return [*new, one]
    step = words.indent
    if model and words.column + len(step) + len(made) >= WIDTH and "\n" not in made:
        made = _broken(words.graph_model, model, step)
        made = made.replace("\n", f"\n{step}")
    return [*new, _broken(f"{plan.session}.fit", [made, *arguments], step)]


def _number(rounds: cst.BaseExpression, plan: Plan) -> str:
    """How many rounds a range has."""
    assert plan.rounds is not None
    end = cst.ensure_type(rounds, cst.Call).args[-1].value
    first = plan.rounds.first
    if first == 0:
        return code(end)
    if first is not None and isinstance(end, cst.Integer):
        return str(end.evaluated_value - first)
    is_sum = isinstance(end, cst.BinaryOperation) and isinstance(end.operator, cst.Add) and not end.lpar
    if is_sum and isinstance(end, cst.BinaryOperation) and code(end.right) == _first(rounds):
        return code(end.left)
    return f"{code(end)} - {_first(rounds)}"


def is_some(rounds: cst.BaseExpression, plan: Plan) -> str:
    """Asks whether a range has any."""
    number = _number(rounds, plan)
    if number.endswith(f" - {_first(rounds)}"):
        return f"{code(cst.ensure_type(rounds, cst.Call).args[-1].value)} > {_first(rounds)}"
    return f"{number} > 0"


def _first(rounds: cst.BaseExpression) -> str:
    """The number of the first round, as it can stand behind a sign."""
    first = cst.ensure_type(rounds, cst.Call).args[0].value
    text = code(first)
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
    if words.column + len(step) + len(one) < WIDTH:
        return one
    ends = "," if len(actions) > 1 else ""
    inner = [f"{step}{step}{action}{ends}" for action in actions]
    lines = ("callbacks=[", f"{step}{words.callback}(", *inner, f"{step})", "]")
    return f"\n{step}".join(lines)


def _broken(function: str, arguments: Iterable[str], step: str) -> str:
    return "\n".join([f"{function}(", *(f"{step}{argument}," for argument in arguments), ")"])


def _trained(fetches: cst.BaseExpression, plan: Plan) -> str:
    if plan.train is None:
        return code(fetches)
    texts = [code(_element(fetches, index)) for index in plan.train]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _element(fetches: cst.BaseExpression, index: int | None) -> cst.BaseExpression:
    if index is None:
        return fetches
    assert isinstance(fetches, cst.List | cst.Tuple)
    return fetches.elements[index].value
