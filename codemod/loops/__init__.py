"""Which training loops can become `sess.fit(bridge.GraphModel(...))`, and why the others cannot.

`fit` runs the train op until the session stops or the input ends. A loop may become that only if nothing else happens in
it, or if what else happens is provably an action after the step that looks at the step's results: then it moves into a
function that a callback calls. The proof is static, and gives up at whatever it does not know: a loop that stays goes on
working on the bridge's session, with a reason for those who ask.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

from codemod.facts import FileFacts
from codemod.loops.plan import BARE_LOOPS, STEP_LOOPS, Kept, KeptError, Plan, Verdict, demand
from codemod.loops.proof import prove
from codemod.loops.sessions import Session, loops_inside, loops_of
from codemod.loops.values import is_named
from codemod.results import Loop

__all__ = ["BARE_LOOPS", "STEP_LOOPS", "Kept", "Plan", "Verdict", "verdicts"]

_Loop = ast.While | ast.For
_known: WeakKeyDictionary[FileFacts, tuple[Verdict, ...]] = WeakKeyDictionary()


def verdicts(file: FileFacts) -> tuple[Verdict, ...]:
    """Judges the loops over monitored sessions in a file, once.

    Of nested loops it is the outermost that counts, unless it stays and one inside becomes a fit.
    """
    found = _known.get(file)
    if found is None:
        loops = list(loops_of(file))
        every = [loop for outer, session in loops for loop in _with_inner(outer, session)]
        found = tuple(verdict for loop, session in loops for verdict in _judged(file, loop, session, every))
        _known[file] = found
        file.loops = tuple(_noted(file, verdict) for verdict in found)
    return found


def _with_inner(loop: _Loop, session: Session | None) -> Iterator[_Loop]:
    yield loop
    if session is not None:
        for inner in loops_inside(loop, session):
            yield from _with_inner(inner, session)


def _judged(
    file: FileFacts, loop: _Loop, session: Session | None, every: Sequence[_Loop]
) -> tuple[Verdict, ...]:
    own = _judge(file, loop, session, every)
    if own.plan is not None or session is None:
        return (own,)
    inner = [v for each in loops_inside(loop, session) for v in _judged(file, each, session, every)]
    is_in_parts = any(verdict.plan is not None for verdict in inner) or _fits(loop, session)
    return tuple(inner) if is_in_parts else (own,)


def _fits(loop: _Loop, session: Session) -> bool:
    """Whether a loop inside has become a fit already."""
    attributes = (node for node in ast.walk(loop) if isinstance(node, ast.Attribute))
    return any(node.attr == "fit" and is_named(node.value, session.name) for node in attributes)


def _noted(file: FileFacts, verdict: Verdict) -> Loop:
    line, column, _, _ = file.layout.span(verdict.loop)
    kept = verdict.kept
    return Loop(
        line, column + 1, "" if kept is None else kept.name.lower(), "" if kept is None else kept.value
    )


def _judge(
    file: FileFacts,
    loop: _Loop,
    session: Session | None,
    loops: Sequence[_Loop],
) -> Verdict:
    try:
        demand(file.settings.loops != "keep", Kept.ASKED)
        if session is None:
            raise KeptError(Kept.ELSEWHERE)
        around = set(file.ancestors(loop))
        others = [other for other in loops if other is not loop and other not in around]
        plan = prove(file, loop, session, others)
        demand(not file.is_suppressed(loop, plan.code) and file.settings.wants(plan.code), Kept.SUPPRESSED)
    except KeptError as kept:
        return Verdict(loop, kept=kept.reason)
    return Verdict(loop, plan)
