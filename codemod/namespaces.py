"""Whether a file is TF1 code at all, and what each of its TensorFlow aliases will mean after the migration."""

from __future__ import annotations

import ast
import functools
from typing import Literal

from codemod.file_tree import FileTree
from codemod.names import Binding, Use
from codemod.reached import is_awaited

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


class Namespaces(FileTree):
    """One file, and what TensorFlow's names mean in it before and after."""

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
