"""What a rule is given: one file's text, tree and names, and the words in which to propose something.

The file's place in the port is decided here too, once: whether it is TF1 code at all, and what each of its TensorFlow
aliases will mean after the migration, so that `spell` can write a name as the new text needs it.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from codemod.layout import Layout, first_line
from codemod.names import PACKAGES, Binding, Names, Scope, Use, walked
from codemod.proposals import Insertion, Make, Proposal, Written
from codemod.reached import is_awaited, unreached
from codemod.release import Tables
from codemod.results import Fix, Loop
from codemod.settings import Settings
from codemod.suppressions import Comments

Namespace = Literal["v1", "plain", "mixed"]

# Arguments that only TF1's functions have: a call with one of them is TF1 code, whatever else is in the file.
_V1_ARGUMENTS = frozenset(
    {"keep_dims", "reduction_indices", "keep_prob", "colocate_gradients_with_ops", "dimension"}
)

# Gone from every namespace, but of the TF2 releases too, so no sign of TF1.
_BOTH_ERAS = (
    "tf.keras.",
    "tf.estimator",
    "tf.lite.",
    "tf.distribute.",
    "tf.experimental.",
    "tf.data.experimental.",
)
_V1_KERAS = frozenset({"tf.keras.backend.set_session", "tf.keras.backend.get_session"})

_PREFERRED_ALIASES = {"tensorflow.compat.v1": ("tf", "tf1", "tfv1"), "tensorflow": ("tf", "tensorflow")}


_RUNS = re.compile(r"__name__\s*==\s*['\"]__main__|['\"]__main__['\"]\s*==\s*__name__")
_Node = TypeVar("_Node", bound=ast.AST)


@dataclass(frozen=True, slots=True)
class NeededImport:
    """An import that the new text needs.

    Attributes:
      line: The statement, such as `import bridge`.
      anchor: The statement before which it goes; None for the file's own place for imports.
    """

    line: str
    anchor: ast.stmt | None = None


class FileFacts:
    """One file, as the rules see it. `codemod.rules` describes how it is used.

    Args:
      path: The file's name, for messages.
      text: Its decoded text, with its own line ends.
      tree: The `ast` of it.
      tables: What exists on the installed TensorFlow.
      settings: What the user asked for.
      notebook: Whether the text is the code of a notebook, which is always run and never imported.
    """

    def __init__(
        self,
        path: str,
        text: str,
        tree: ast.Module,
        tables: Tables,
        settings: Settings,
        *,
        notebook: bool = False,
    ) -> None:
        self.path = path
        self.text = text
        self.tree = tree
        self.tables = tables
        self.settings = settings
        self.notebook = notebook
        self.layout = Layout(text)
        self.comments = Comments()
        self.names = Names(tree, tables)
        self._nodes: dict[type[ast.AST], list[ast.AST]] = {}
        self.names.forget(unreached(self))
        self.needs: dict[NeededImport, None] = {}
        self.taken: set[ast.AST] = set()
        self.replaced: set[ast.AST] = set()
        self.edited: set[ast.AST] = set()
        self.proposed: set[ast.AST] = set()
        self.loops: tuple[Loop, ...] = ()
        self._parts: dict[str, list[Use]] = {}

    # -- Names -----------------------------------------------------------------------------------------------------

    def uses(self, *names: str) -> Iterator[Use]:
        """The expressions that mean one of `names`, in the order of the file, unless an earlier rule has taken them.

        Args:
          *names: Canonical names; one that ends in `.*` stands for all that is below it.
        """
        found: dict[ast.AST, Use] = {}
        for name in names:
            if name.endswith(".*"):
                prefix = name[:-1]
                found.update({u.node: u for u in self.names.chains if u.name.startswith(prefix)})
            else:
                found.update({u.node: u for u in self._uses_of(name)})
        for use in sorted(found.values(), key=lambda u: (u.node.lineno, u.node.col_offset)):
            if use.root not in self.taken:
                yield use

    def calls(self, *names: str) -> Iterator[Use]:
        """The same as `uses`, only those that are called; each has its `call`."""
        return (use for use in self.uses(*names) if use.call is not None)

    def _uses_of(self, name: str) -> list[Use]:
        """The uses of one name, and the parts of longer ones that mean it."""
        found = self._parts.get(name)
        if found is None:
            chains = self._chains_by_part.get(name, {})
            found = [part for chain in chains for part in self.names.parts(chain) if part.name == name]
            self._parts[name] = found
        return found

    @functools.cached_property
    def _chains_by_part(self) -> dict[str, dict[Use, None]]:
        index: dict[str, dict[Use, None]] = {}
        for chain in self.names.chains:
            for name in self.names.part_names(chain):
                index.setdefault(name, {})[chain] = None
        return index

    def name_of(self, node: ast.AST | None) -> str | None:
        """The canonical name that an expression means, or None."""
        raw = self.names.raw_of(node) if node is not None else None
        return self.tables.canonical(raw) if raw is not None else None

    def use_of(self, node: ast.AST) -> Use | None:
        """The use that an expression is, or None."""
        return self.names.use_of(node)

    # -- The tree --------------------------------------------------------------------------------------------------

    def nodes(self, kind: type[_Node]) -> list[_Node]:
        """All nodes of one class, in the order of `ast.walk`."""
        found = self._nodes.get(kind)
        if found is None:
            found = self._nodes[kind] = [node for node in self.walked if node.__class__ is kind]
        return found  # type: ignore[return-value]

    @functools.cached_property
    def walked(self) -> list[ast.AST]:
        """What `ast.walk` yields for the whole file, without operators; found once."""
        return walked(self.tree)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """What holds `node`; None for the module."""
        return self.names.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """What holds `node`, from the inside out."""
        current = self.names.parents.get(node)
        while current is not None:
            yield current
            current = self.names.parents.get(current)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that `node` is part of, or is."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.names.parents.get(current)
        if current is None:
            raise ValueError(f"{type(node).__name__} is no part of a statement of {self.path}.")
        return current

    def source(self, node: ast.AST) -> str:
        """The text of a node, as it is in the file."""
        line, column, end_line, end_column = self.layout.span(node)
        return self.text[self.layout.offset(line, column) : self.layout.offset(end_line, end_column)]

    @functools.cached_property
    def is_program(self) -> bool:
        """Whether the file is run: it asks for `__main__`, calls `app.run`, or comes to a session or Estimator from its top level."""
        if self.notebook or ("__main__" in self.text and _RUNS.search(self.text)):
            return True
        runs = [
            use.node
            for use in self.all_uses("tf.app.run", "tf.test.main", "absl.app.run", *_SESSIONS, *ESTIMATORS)
            if use.call
        ]
        reached = {self._function(node) for node in runs}
        return bool(runs) and (None in reached or bool(reached & self._called_from_top()))

    def _function(self, node: ast.AST) -> ast.AST | None:
        """The outermost function or class that a node is in; None at the top level."""
        found = None
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
                found = ancestor
        return found

    def _called_from_top(self) -> set[ast.AST | None]:
        """The file's own functions and classes that its top-level code calls, and those that they call or hand on."""
        own = {
            s.name: s
            for s in self.tree.body
            if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        calls: dict[ast.AST | None, set[str]] = {}
        for name in own:
            for node, _ in self.names.loads(name):
                parent, place = self.parent(node), self._function(node)
                if place is not None or (isinstance(parent, ast.Call) and parent.func is node):
                    calls.setdefault(place, set()).add(name)
        called: set[ast.AST | None] = set()
        waiting: list[ast.AST | None] = [None]
        while waiting:
            fresh = {own[name] for name in calls.get(waiting.pop(), ())} - called
            called |= fresh
            waiting += fresh
        return called

    def all_uses(self, *names: str) -> Iterator[Use]:
        """The expressions that mean one of `names`, taken or not."""
        return (use for name in names for use in self._uses_of(name))

    @property
    def first_use(self) -> bool:
        """Whether the file has to do with any of the packages at all."""
        return bool(self.names.chains) or any(i.raw.partition(".")[0] in PACKAGES for i in self.names.imports)

    @functools.cached_property
    def first_import(self) -> ast.stmt | None:
        """The first import of one of the packages at the file's top level, or what further imports may stand before instead.

        Where the import is part of a `try`, that is the `try`; where it is part of a longer block, such as the one that asks
        for `__main__`, that is the last import above the block, or the block.
        """
        for imported in self.names.imports:
            if imported.scope.kind == "module" and imported.raw.partition(".")[0] in PACKAGES:
                statement = self.top_statement(imported.statement)
                if isinstance(statement, ast.Import | ast.ImportFrom | ast.Try):
                    return statement
                above = self.tree.body[: self.tree.body.index(statement)]
                imports = [s for s in above if _is_import(s)]
                return imports[-1] if imports else statement
        return None

    def top_statement(self, node: ast.AST) -> ast.stmt:
        """The statement at the file's top level that `node` is in."""
        statement = self.statement(node)
        for ancestor in self.ancestors(statement):
            if isinstance(ancestor, ast.stmt):
                statement = ancestor
        return statement

    def comments_above(self, statement: ast.stmt) -> list[tuple[int, str]]:
        """The comment lines that stand directly above a statement, with their numbers."""
        number = first_line(statement) - 1
        lines = []
        while number >= 1 and self.layout.line(number).lstrip(" \t\f").startswith("#"):
            lines.append((number, self.layout.line(number)))
            number -= 1
        return lines

    # -- What becomes of proposals ---------------------------------------------------------------------------------

    def applies(self, proposal: Proposal) -> bool:
        """Whether a proposal's rewrite is wanted."""
        return proposal.rewrites and (proposal.fix == "safe" or self.settings.unsafe_fixes)

    def settle(self, proposal: Proposal, *, suppressed: bool = False) -> None:
        """Notes that the names of a proposal are taken, and whether they are gone from the new text."""
        self.taken.update(proposal.takes)
        self.proposed.add(proposal.node)
        if not suppressed and self.applies(proposal):
            self.replaced.update(proposal.takes)
            if proposal.make is not None:
                self.edited.add(proposal.node)

    def is_suppressed(self, node: ast.AST, code: str) -> bool:
        """Whether a comment on the lines of `node`, or where its statement begins, holds back findings of `code`."""
        if not self.comments.by_line:
            return False
        statement = self.statement(node)
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        if node is statement and getattr(node, "body", None):
            end = line
        return self.comments.suppresses(code, {statement.lineno, *range(line, end + 1)})

    # -- TF1 or not ------------------------------------------------------------------------------------------------

    @functools.cached_property
    def namespace(self) -> Namespace:
        """What `tensorflow` is to this file: `v1` code that plain TensorFlow no longer runs, `plain`, or `mixed`."""
        v1 = v2 = False
        for use in self.names.chains:
            if not self.is_plain(use.raw):
                continue
            rest = use.name[3:]
            if not rest:
                continue
            if self.tables.exists_in_v2(rest):
                v2 = v2 or not self.tables.exists(use.name)
                v1 = v1 or self._has_v1_argument(use)
            else:
                is_v1 = use.name in _V1_KERAS or not use.name.startswith(_BOTH_ERAS)
                v1 = v1 or (is_v1 and not is_awaited(self, use.node))
        for imported in self.names.imports:
            if self.is_plain(imported.raw):
                rest = self.tables.canonical(imported.raw)[3:]
                v1 = v1 or bool(
                    rest and not self.tables.exists_in_v2(rest) and not f"tf.{rest}".startswith(_BOTH_ERAS)
                )
        if v1 and v2:
            return "mixed"
        return "v1" if v1 else "plain"

    def is_plain(self, raw: str) -> bool:
        """Whether a path is looked up in `tensorflow` itself."""
        return raw.startswith("tensorflow.") and not raw.startswith(
            ("tensorflow.compat.", "tensorflow.python.", "tensorflow.core.")
        )

    def _has_v1_argument(self, use: Use) -> bool:
        if use.call is None or self.tables.same_in_both(use.name[3:]):
            return False
        return any(keyword.arg in _V1_ARGUMENTS for keyword in use.call.keywords)

    @functools.cached_property
    def swaps_imports(self) -> bool:
        """Whether `import tensorflow as tf` becomes `import tensorflow.compat.v1 as tf` in this file."""
        return self.settings.style == "import" and self.namespace == "v1" and self.settings.wants("TFB101")

    def swaps(self, binding: Binding) -> bool:
        """Whether `import tensorflow as X` becomes `import tensorflow.compat.v1 as X` here."""
        alias = binding.node
        if not (
            self.swaps_imports
            and binding.raw == "tensorflow"
            and isinstance(alias, ast.alias)
            and alias.asname
        ):
            return False
        if self.is_v1_anyway(binding):
            return False
        return binding.statement is None or not self.is_suppressed(binding.statement, "TFB101")

    def is_v1_anyway(self, binding: Binding) -> bool:
        """Whether the file itself sees to it that the name means v1: by another import of it, or `tf = tf.compat.v1`."""
        meaning = self.names.meaning(binding.name, binding.scope)
        siblings = binding.scope.bindings(binding.name)
        return (meaning is not None and meaning[0] == "tensorflow.compat.v1") or any(
            b.raw == "tensorflow.compat.v1" for b in siblings
        )

    def means_v1(self, binding: Binding | None) -> bool:
        """Whether a name bound to TensorFlow itself stands for the v1 namespace in the file's new text."""
        if binding is None:
            return False
        return binding.raw == "tensorflow.compat.v1" or self.is_v1_anyway(binding) or self.swaps(binding)

    def needs_v1(self, name: str) -> bool:
        """Whether `tf.X` means something else, or nothing, in plain `tensorflow` for a file like this."""
        rest = name[3:]
        if not name.startswith("tf.") or not self.tables.exists(name):
            return False
        if self.namespace == "mixed":
            return not self.tables.exists_in_v2(rest)
        return not self.tables.same_in_both(rest)

    # -- Spelling --------------------------------------------------------------------------------------------------

    def spell(self, name: str, node: ast.AST, module: str = "") -> str:
        """How a canonical name is written at `node` in the file's new text.

        Makes sure that the import is there: an alias that is visible at `node` is used, or else an import is added.

        Args:
          name: `tf.X`, or a path into another package.
          node: Where it will stand.
          module: What is imported for another package, such as `tf_slim.layers`; the package itself if left out.
        """
        if name.startswith("tf."):
            return self._spell_tensorflow(name[3:], node)
        module = module or name.partition(".")[0]
        scope = self.names.scope_of(node)
        for binding in self._visible(
            scope, lambda b: b.raw == module or name.startswith(f"{b.raw}.") or b.raw == name
        ):
            if binding.raw in (module, name) and not binding.raw.startswith("."):
                return binding.name + name[len(binding.raw) :]
        package = module.partition(".")[0]
        local = self._free_name(scope, (package, f"{package}_module", f"_{package}"))
        line = f"import {module}" if local == package else f"import {module} as {local}"
        self._need(line, node)
        return local + (name[len(package) :] if local == package else name[len(module) :])

    def _spell_tensorflow(self, rest: str, node: ast.AST) -> str:
        scope = self.names.scope_of(node)
        use = self.use_of(node) if isinstance(node, ast.expr) else None
        candidates = list(self._visible(scope, lambda b: b.raw in ("tensorflow", "tensorflow.compat.v1")))
        if use is not None and use.binding is not None:
            candidates.sort(key=lambda b: b is not use.binding)
        for binding in candidates:
            return f"{binding.name}.{self._below(rest, self.means_v1(binding))}"
        explicit = self.settings.style == "explicit" or self.namespace != "v1"
        module = "tensorflow" if explicit and self.namespace != "plain" else "tensorflow.compat.v1"
        local = self._free_name(scope, _PREFERRED_ALIASES[module])
        self._need(f"import {module} as {local}", node)
        return f"{local}.{self._below(rest, module != 'tensorflow')}"

    def _below(self, rest: str, v1: bool) -> str:
        if v1:
            return rest
        if rest.startswith("compat.v2."):
            return rest[10:]
        return rest if self.tables.same_in_both(rest) else f"compat.v1.{rest}"

    def _visible(self, scope: Scope, wanted: Callable[[Binding], bool]) -> Iterator[Binding]:
        """The imports that match, as far as their names mean them in `scope`; the file's own before a function's."""
        for imported in sorted(self.names.imports, key=lambda i: i.scope.kind != "module"):
            binding = imported.binding
            if binding is None or binding.kind != "import" or not wanted(binding):
                continue
            found = self.names.meaning(binding.name, scope)
            if (
                found is not None
                and found[0].startswith(binding.raw)
                and any(b is binding for b in self.names.lookup(binding.name, scope))
            ):
                yield binding

    def _free_name(self, scope: Scope, choices: tuple[str, ...]) -> str:
        for choice in choices:
            if not self.names.lookup(choice, scope) and choice not in self.names.module.names:
                return choice
        number = 2
        while self.names.lookup(f"{choices[0]}_{number}", scope):
            number += 1
        return f"{choices[0]}_{number}"

    def _need(self, line: str, node: ast.AST) -> None:
        """Notes an import: beside the TensorFlow import that serves `node`, if that is inside a function."""
        anchor: ast.stmt | None = None
        use = self.use_of(node) if isinstance(node, ast.expr) else None
        binding = use.binding if use is not None else None
        if binding is not None and binding.statement is not None and binding.scope.kind != "module":
            anchor = binding.statement
        self.needs[NeededImport(line, anchor)] = None

    # -- Proposing -------------------------------------------------------------------------------------------------

    def finding(
        self,
        node: ast.AST,
        message: str,
        *,
        why: str = "",
        remedy: str = "",
        url: str = "",
        todo: bool = True,
    ) -> Proposal:
        """Proposes to say something: hand work for the user.

        Args:
          node: Where.
          message: What is the matter, in one line without a full stop.
          why: Why it does not work as it is.
          remedy: Where to go.
          url: A page that helps.
          todo: Whether the place gets a TODO comment.
        """
        return Proposal(node, message, why, remedy, url, takes=self._roots(node), todo=todo)

    def edit(
        self,
        node: ast.AST,
        message: str,
        make: Make | None,
        *,
        fix: Fix = "safe",
        takes: tuple[Use, ...] = (),
        inserts: tuple[Insertion, ...] = (),
        why: str = "",
        remedy: str = "",
        url: str = "",
    ) -> Proposal:
        """Proposes a rewrite.

        Args:
          node: What is replaced: an expression, keyword, import alias or statement.
          message: What is the matter, in one line without a full stop.
          make: Turns the libcst node into its replacement; None if there are only insertions.
          fix: `safe`, or `unsafe` if what runs may change or a comment is lost.
          takes: Further uses that are settled by it.
          inserts: Lines that go in with it.
          why: Why it does not work as it is.
          remedy: Where to go where the fix is not applied.
          url: A page that helps.
        """
        roots = (*self._roots(node), *(use.root for use in takes))
        return Proposal(node, message, why, remedy, url, fix, make, roots, inserts=inserts)

    def rename(
        self,
        use: Use,
        name: str,
        message: str,
        *,
        fix: Fix = "safe",
        why: str = "",
        remedy: str = "",
        module: str = "",
    ) -> Proposal:
        """Proposes to write an expression as another canonical name.

        Args:
          use: The expression.
          name: The new canonical name.
          message: What is the matter.
          fix: `safe` or `unsafe`.
          why: Why it does not work as it is.
          remedy: Where to go where the fix is not applied.
          module: What is imported for it, if that is not the first part of the name.
        """
        spelled = self.spell(name, use.node, module)
        source = self.source(use.node)
        if "#" in source and source.count(".") != spelled.count("."):
            fix = "unsafe"  # A comment between the dots would be lost.
        return self.edit(use.node, message, Written(spelled), fix=fix, why=why, remedy=remedy)

    def _roots(self, node: ast.AST) -> tuple[ast.AST, ...]:
        inner = node.func if isinstance(node, ast.Call) else node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        return (inner,) if isinstance(inner, ast.Name) else ()


def _is_import(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module != "__future__"
    return isinstance(statement, ast.Import)


# What trains, evaluates or predicts in graphs of its own, before and after the migration.
ESTIMATORS = (
    *(
        f"{package}.{name}"
        for package in ("tf.estimator", "bridge.estimator")
        for name in (
            "Estimator",
            "train_and_evaluate",
            "DNNClassifier",
            "DNNLinearCombinedClassifier",
            "DNNLinearCombinedRegressor",
            "DNNRegressor",
            "LinearClassifier",
            "LinearRegressor",
            "tpu.TPUEstimator",
        )
    ),
    "tf.contrib.tpu.TPUEstimator",
)
_SESSIONS = (
    "tf.Session",
    "tf.InteractiveSession",
    "tf.train.MonitoredTrainingSession",
    "tf.train.MonitoredSession",
    "tf.train.SingularMonitoredSession",
    "tf.train.Supervisor",
)
