'''The rules, one a file, and the registry that finds them by itself.

A rule is a module of this folder whose name does not begin with an underscore. To add one, add the file; nothing
else needs to know about it. This is a whole rule, `codemod/rules/merge_all_summaries.py`:

    """`tf.merge_all_summaries` is called `tf.summary.merge_all`.

    ## What it does
    Writes the new name.

    ## Why
    The old name went away with TensorFlow 1.0.

    ## Before
    ```python
    import tensorflow as tf

    summaries = tf.merge_all_summaries()
    ```

    ## After
    ```python
    import tensorflow.compat.v1 as tf

    summaries = tf.summary.merge_all()
    ```

    ## Is it safe?
    Safe: the arguments are the same.
    """

    from collections.abc import Iterator

    from codemod.facts import FileFacts
    from codemod.proposals import Proposal

    CODE = "TFB390"
    TRIGGER = r"merge_all_summaries"


    def check(file: FileFacts) -> Iterator[Proposal]:
        for use in file.uses("tf.merge_all_summaries"):
            yield file.rename(use, "tf.summary.merge_all", "tf.merge_all_summaries is tf.summary.merge_all")

What a module of a rule holds:

- the docstring is its page in the guide and what `explain CODE` prints. Its first line is the title; the headings are
  as above, all of them. Before and After are run through the codemod by a test (`--unsafe-fixes` if the answer under
  "Is it safe?" begins with "Unsafe"), so they must be whole files and true.
- `CODE`: `TFB` and three digits, no other rule's. Rules run in the order of their codes; what an earlier rule has
  taken (see `uses`) a later one does not see. The hundreds: 1 imports, 2 sessions and loops, 3 names that have moved,
  4 hooks, 5 Keras, 6 Estimators, 7 what only hints at a difference, 9 names that are gone (runs last, takes the rest).
- `TRIGGER`: a regular expression; `check` is called only for files whose text it matches somewhere. It is the cheap
  test, so it names the attribute (`MonitoredSession`), not `tf.train.MonitoredSession`, which aliases would evade.
- `ORDER`, only if the rule has to run after those of higher codes: 0 if left out, 1 for the imports, which look at what
  the others have left, 2 for the names that are gone.
- `check(file)` yields proposals, made by the methods of `file`. It must not change anything itself.

What `file` (`codemod.facts.FileFacts`) knows. Nodes are `ast` nodes, because they are cheap; names are canonical:

- `file.uses("tf.train.Saver", "tf.contrib.*")`: every expression that means one of the names, as `Use(node, name)`, by
  whatever import or alias it is reached, unless it is shadowed there or an earlier rule has taken it. The canonical name
  is the public TensorFlow 1 name behind `tf.`, whichever way it was imported (`tf.compat.v1.train.Saver`,
  `tensorflow.python.training.saver.Saver` and `tf1.train.Saver` are all `tf.train.Saver`); other packages keep theirs
  (`keras.backend.set_session`, `horovod.tensorflow.rank`). `tf.compat.v2.X` stays `tf.compat.v2.X`. With `.*` at its
  end a pattern means all that is below: one use each, the longest.
- `file.calls("tf.…")`: the same, only those that are called, as `Use` with `.call`, the `ast.Call`.
- `file.name_of(expr)`: the canonical name of any expression, or None.
- `file.parent(node)`, `file.ancestors(node)`, `file.statement(node)`: upwards.
- `file.source(node)`: its text. `file.is_program`: whether the file is run rather than imported.
- `file.spell("tf.train.Saver", node)`: how that is written at `node` in the file's new text (`tf.train.Saver`, or
  `tf.compat.v1.train.Saver` in the explicit style, or through whatever alias the file has); asking makes sure that the
  import is there. Also for other packages: `file.spell("bridge.GraphModel", node)`.
- `file.settings`, `file.tables` (what exists on the TensorFlow that is installed: `file.tables.exists("tf.layers")`).

What `check` yields:

- `file.finding(node, message, why=…, remedy=…)`: hand work. It gets a TODO comment.
- `file.rename(use, "tf.new.name", message, fix="safe")`: that expression, written as the new name.
- `file.edit(node, message, make, fix="safe", takes=(), inserts=())`: `make(cst_node)` is given the `libcst` node that stands at the
  `ast` node (inner edits already done) and returns its replacement. Expressions, keywords (`cst.Arg`), import aliases
  and statements can be given. Of a simple statement `make` is given the whole `cst.SimpleStatementLine`; a statement
  may be replaced by `cst.FlattenSentinel([...])` or `cst.RemoveFromParent()`. `takes` names the uses that are settled by
  it besides the node's own; `inserts` are lines that go in with it (`codemod.proposals.Insertion`; `make` may then be
  None). `codemod.cst_tools` has what most `make` functions need: `dotted`, `with_callee`,
  `with_argument`, `without_argument`, `renamed_argument`, `statements`.

  A fix is safe only if what runs is the same and no comment is lost. An unsafe fix is applied with `--unsafe-fixes`,
  and is a finding otherwise. Two edits may be nested, the inner is done first; two edits of one node are a bug.

Cases are files: `tests/cases/<rule's module name>/NAME.in.py` beside `NAME.out.py`, or `NAME.same.py` for what must
stay. A first line `# codemod: --unsafe-fixes --style explicit` in the input gives the settings of a case.
'''

from __future__ import annotations

import functools
import importlib
import itertools
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemod.facts import FileFacts
    from codemod.proposals import Proposal


_NESTED = re.compile(r"\([^)]*\|")
_FIRST_WORD = re.compile(r"(?:\\[b.])?(\w+)(?![\w?*{])")


@dataclass(frozen=True)
class Rule:
    """One rule, as the registry sees its module.

    Attributes:
      code: Its code, such as `TFB101`.
      name: The module's name, such as `sessions`.
      page: Its docstring, in Markdown.
      trigger: What a file's text must contain for `check` to be called.
      check: Yields the proposals for a file.
      order: Rules of a lower order run first.
    """

    code: str
    name: str
    page: str
    trigger: re.Pattern[str]
    check: Callable[[FileFacts], Iterator[Proposal]]
    order: int = 0

    def concerns(self, text: str, known: dict[str, bool]) -> bool:
        """Whether `check` has to be called for a file's text.

        Args:
          text: The text.
          known: What has been found out for other rules about which words the text holds; is added to.
        """
        if not self._words:
            return self.trigger.search(text) is not None
        for word in self._words:
            found = known.get(word)
            if found is None:
                found = known[word] = word in text
            if found:
                return self._is_plain or self.trigger.search(text) is not None
        return False

    @functools.cached_property
    def _words(self) -> tuple[str, ...]:
        """Words of which each text that the trigger matches has one: looking for a word costs a tenth of a match."""
        pattern = self.trigger.pattern
        found = [] if _NESTED.search(pattern) else [_FIRST_WORD.match(part) for part in pattern.split("|")]
        return tuple(match[1] for match in found if match) if all(found) else ()

    @functools.cached_property
    def _is_plain(self) -> bool:
        """Whether the trigger is nothing but those words."""
        return "|".join(self._words) == self.trigger.pattern

    @functools.cached_property
    def reports_elsewhere(self) -> bool:
        """Whether other modules report for it, and `check` has nothing to say about any file."""
        return self.trigger.pattern == "(?!)"

    @property
    def title(self) -> str:
        """The first line of its page."""
        return self.page.strip().partition("\n")[0].rstrip(".")


@functools.cache
def all_rules() -> tuple[Rule, ...]:
    """Finds the rules of this folder, in the order in which they run."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    rules = sorted((_load(name) for name in names), key=lambda rule: rule.code)
    for first, second in itertools.pairwise(rules):
        if first.code == second.code:
            raise ValueError(f"Rules {first.name!r} and {second.name!r} have the same code {first.code}.")
    return tuple(sorted(rules, key=lambda rule: (rule.order, rule.code)))


def _load(name: str) -> Rule:
    module = importlib.import_module(f"{__name__}.{name}")
    return Rule(
        module.CODE,
        name,
        module.__doc__ or "",
        re.compile(module.TRIGGER),
        module.check,
        getattr(module, "ORDER", 0),
    )


def find_rule(code: str) -> Rule | None:
    """Returns the rule with that code, or with that module name, if there is one."""
    wanted = code.strip().lower()
    return next((rule for rule in all_rules() if wanted in (rule.code.lower(), rule.name)), None)
