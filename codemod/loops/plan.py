"""What is to become of a loop: the plan by which it is written as a fit, or the reason why it stays."""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass

BARE_LOOPS = "TFB202"
STEP_LOOPS = "TFB203"


class Kept(enum.Enum):
    """Why a loop stays as it is. The value is what is printed."""

    ASKED = "loops are kept, as asked"
    SUPPRESSED = "a comment, --select or --ignore holds its rule back"
    ELSEWHERE = "its session is not the bridge's, or may be another one"
    REBOUND = "the session's name is given to something else"
    CONTEXT = "another `with` or a class stands between the session and it"
    NESTED = "loops in it run the session"
    CONDITION = "it goes on by a condition that fit does not know"
    COUNT = "its number of rounds cannot be told before it begins"
    UNGUARDED = "it counts rounds without should_stop(), and hooks may stop the session"
    LEAVES = "return or raise leave it, or break and continue do before the run"
    HANDLERS = "it catches errors, and may go on after them"
    SEVERAL_RUNS = "several runs in one round, of which more than one may train"
    NO_RUN = "the session is run by something else than the loop's own statements"
    SESSION_USED = "the session is used for more than run"
    PART = "the run is inside another statement or expression"
    ARGUMENTS = "the run has options, run_metadata or unknown arguments"
    FETCHES = "what is fetched is computed in the loop"
    RESULTS = "the run's results go to more than plain names"
    FEEDS = "what is fed depends on the number of the round"
    BEFORE = "statements before the run do more than prepare it"
    READ_AFTER = "the number of the round is read after it"
    GLOBALS = "it assigns names of another scope"
    CALLS = "it calls what is not known to look at the results only"
    STATEMENTS = "statements in it are of a kind that cannot move into a callback"
    ORIGINAL_ARGUMENTS = "hooks in the file look at the arguments of the run"
    DYNAMIC = "the names in use cannot be told: locals(), eval, exec, super() without arguments"
    ASYNCHRONOUS = "it is part of a generator or coroutine"


class KeptError(Exception):
    """Ends a proof: the loop stays."""

    def __init__(self, reason: Kept) -> None:
        super().__init__(reason.value)
        self.reason = reason


def demand(condition: bool, otherwise: Kept) -> None:
    """Ends the proof if a condition does not hold.

    Args:
      condition: What must hold.
      otherwise: Why the loop stays if it does not.

    Raises:
      KeptError: if it does not.
    """
    if not condition:
        raise KeptError(otherwise)


@dataclass(frozen=True, slots=True)
class Value:
    """A result of the run that the action looks at.

    Attributes:
      name: The name that the loop gives it.
      index: Its place in the list of fetches; None for all of what is fetched.
      parameter: How the action's function calls it: another name where `name` outlives the action.
    """

    name: str
    index: int | None
    parameter: str


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of a loop that counts them.

    Attributes:
      first: The number of the first one; None if only its expression is known.
      is_some: Whether it is known that there is one at least; fit knows no training of no steps.
      counter: The name of the number, if the action reads it.
    """

    first: int | None
    is_some: bool
    counter: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """How a loop becomes a fit.

    Attributes:
      session: The session's name.
      asked: Which part of the loop's condition asks should_stop(), where there are others; -1 for none.
      has_condition: Whether there are others.
      guards: How many statements at the beginning of the body only ask should_stop().
      is_in_else: Whether the rest of the body is the `else` of that question.
      is_in_try: Whether what follows is a `try` whose handlers leave the loop.
      before: How many statements come before the run.
      rounds: The rounds, if the loop counts them; None for as many as the session wants.
      train: Which elements of the run's list are run only; None for all of what is fetched.
      values: The results that the action looks at.
      feeds: Whether the run has a feed_dict.
      kept_before: Names that what comes before the run sets for others, or keeps from step to step.
      kept_after: The same of the action.
      begun: Names of those that the function around must begin.
      is_global: Whether they are the module's.
      stops: Whether the action ends the training.
      has_action: Whether anything follows the run.
      raises: Whether the end of the input skips something that follows, or is caught.
      asks_again: Whether the action runs the session, which may stop it, and so has to ask.
      is_handed_in: Whether the session was opened elsewhere, perhaps in another graph.
      asks_first: Whether such a session may be closed already.
    """

    session: str
    asked: int
    has_condition: bool
    guards: int
    is_in_else: bool
    is_in_try: bool
    before: int
    rounds: Rounds | None
    train: tuple[int, ...] | None
    values: tuple[Value, ...]
    feeds: bool
    kept_before: tuple[str, ...]
    kept_after: tuple[str, ...]
    begun: tuple[str, ...]
    is_global: bool
    stops: bool
    has_action: bool
    raises: bool
    asks_again: bool = False
    is_handed_in: bool = False
    asks_first: bool = False

    @property
    def code(self) -> str:
        """The rule that writes it."""
        return STEP_LOOPS if self.has_after or (self.before and not self.feeds) else BARE_LOOPS

    @property
    def has_after(self) -> bool:
        """Whether a function is called after each step."""
        return self.has_action or self.has_condition


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to become of a loop: a plan, or the reason why it stays."""

    loop: ast.While | ast.For
    plan: Plan | None = None
    kept: Kept | None = None
