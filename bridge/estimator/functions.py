"""How functions of the user are called: by the names of the arguments that they have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

_NAMED = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments that a caller can still give.

    Args:
      function: A function, method, `functools.partial` or object with `__call__`. What a partial has bound, by
        position or by name, is not among the names.
    """
    names = [name for name, found in inspect.signature(function).parameters.items() if found.kind in _NAMED]
    bound: set[str] = set()
    while isinstance(function, functools.partial):  # `signature` still shows what was bound by name.
        bound.update(function.keywords)
        function = function.func
    return tuple(name for name in names if name not in bound)


def call_by_name(function: Callable[..., Any], **offered: Any) -> Any:
    """Calls a function with those of the offered arguments that it has."""
    return function(**{name: offered[name] for name in argument_names(function) if name in offered})


def refuse_other_arguments(
    function: Callable[..., Any], known: Mapping[str, Any] | set[str], what: str, error: type[Exception]
) -> None:
    """Raises if a function has arguments beside the known ones.

    Args:
      function: The function.
      known: The names that it may have.
      what: How it is called in the message.
      error: The error's type.
    """
    others = [name for name in argument_names(function) if name not in known]
    if others:
        raise error(
            f"{what} ({function}) has following not expected args: {others}. It may have {', '.join(sorted(known))}; "
            "bind others with functools.partial."
        )
