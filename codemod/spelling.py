"""How names are written in a file's new text: by aliases that are visible at a place, or by imports that are added."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codemod.names import Binding, Scope
from codemod.namespaces import Namespaces

_PREFERRED_ALIASES = {"tensorflow.compat.v1": ("tf", "tf1", "tfv1"), "tensorflow": ("tf", "tensorflow")}


@dataclass(frozen=True, slots=True)
class NeededImport:
    """An import that the new text needs.

    Attributes:
      line: The statement, such as `import bridge`.
      anchor: The statement before which it goes; None for the file's own place for imports.
    """

    line: str
    anchor: ast.stmt | None = None


class Spelling(Namespaces):
    """One file, and the words of its new text."""

    @functools.cached_property
    def needs(self) -> dict[NeededImport, None]:
        """The imports that the new text needs, in the order in which they were asked for."""
        return {}

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
