"""How things are called where a loop becomes a fit, by names that the file does not use yet."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from codemod.facts import FileFacts
from codemod.layout import first_line, indent_step, siblings
from codemod.loops.plan import STEP_LOOPS, Plan


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


def words_for(file: FileFacts, loop: ast.stmt, plan: Plan) -> Words:
    """Chooses the words for a loop, and sees to the imports that they need.

    Args:
      file: The file.
      loop: The loop.
      plan: What it comes to.
    """
    graph_model = file.spell("bridge.GraphModel", loop)
    callback = file.spell("keras.callbacks.LambdaCallback", loop) if plan.code == STEP_LOOPS else ""
    return Words(
        graph_model=graph_model,
        callback=callback,
        model=_free_name(file.text, "model"),
        action=_free_name(file.text, "after_step"),
        before=_free_name(file.text, "before_step"),
        feed=_free_name(file.text, "next_feed"),
        indent=indent_step(file.tree, file.layout),
        column=file.layout.span(loop)[1],
        has_space=_has_space(file, loop),
    )


def _free_name(text: str, name: str) -> str:
    """A name like `name` that occurs nowhere in a text."""
    number, choice = 1, name
    while re.search(rf"\b{choice}\b", text):
        number += 1
        choice = f"{name}_{number}"
    return choice


def _has_space(file: FileFacts, statement: ast.stmt) -> bool:
    """Whether a function may stand at a statement's place without a blank line before it."""
    number = first_line(statement) - 1
    above = file.layout.line(number).strip() if number else ""
    return not above or above.startswith("#") or statement is siblings(file, statement)[0]
