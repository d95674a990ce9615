"""Which training loops can become `sess.fit(bridge.GraphModel(...))`, and why the others cannot.

`fit` runs the train op until the session stops or the input ends. A loop may become that only if nothing else happens in
it, or if what else happens is provably an action after the step that looks at the step's results: then it moves into a
function that a callback calls. The proof is static, and gives up at whatever it does not know: a loop that stays goes on
working on the bridge's session, with a reason for those who ask.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from codemod.facts import FileFacts
from codemod.loops.plan import BARE_LOOPS, STEP_LOOPS, Kept, KeptError, Plan, Verdict, demand
from codemod.loops.proof import prove
from codemod.loops.sessions import Session, loops_of
from codemod.results import Loop

__all__ = ["BARE_LOOPS", "STEP_LOOPS", "Kept", "Plan", "Verdict", "verdicts"]

_known: WeakKeyDictionary[FileFacts, tuple[Verdict, ...]] = WeakKeyDictionary()


def verdicts(file: FileFacts) -> tuple[Verdict, ...]:
    """Judges the loops over monitored sessions in a file, once; the outermost of nested ones only."""
    found = _known.get(file)
    if found is None:
        loops = list(loops_of(file))
        others = [loop for loop, _ in loops]
        found = _known[file] = tuple(_judge(file, loop, session, others) for loop, session in loops)
        file.loops = tuple(_noted(file, verdict) for verdict in found)
    return found


def _noted(file: FileFacts, verdict: Verdict) -> Loop:
    line, column, _, _ = file.layout.span(verdict.loop)
    kept = verdict.kept
    return Loop(
        line, column + 1, "" if kept is None else kept.name.lower(), "" if kept is None else kept.value
    )


def _judge(
    file: FileFacts,
    loop: ast.While | ast.For,
    session: Session | None,
    loops: Sequence[ast.While | ast.For],
) -> Verdict:
    try:
        demand(file.settings.loops != "keep", Kept.ASKED)
        if session is None:
            raise KeptError(Kept.ELSEWHERE)
        plan = prove(file, loop, session, [other for other in loops if other is not loop])
        demand(not file.is_suppressed(loop, plan.code) and file.settings.wants(plan.code), Kept.SUPPRESSED)
    except KeptError as kept:
        return Verdict(loop, kept=kept.reason)
    return Verdict(loop, plan)
