"""Shows hooks inner tensors of the step without changing how TensorFlow optimises the step.

TensorFlow fuses an operation with its only consumer (a convolution with its bias and activation, a sum with the next
sum), and a fetch is one more consumer: weights would differ in their last bits from a fit in which nobody looks.
So a tensor with fewer than two consumers is computed for hooks by copies of the operations that lead to it, up to
tensors that have more consumers anyway. The step itself stays as it is.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bridge.graph_part import in_step, node_name, tensor_name

_MARK = "_observed_by_hooks"  # An attribute more, so that TensorFlow does not merge a copy with its original.

# Operations that need no more than a tensor's shape, and those that hand it on.
_FOLDED_AWAY = frozenset({"OnesLike", "Rank", "Shape", "ShapeN", "Size", "ZerosLike"})
_PASSED_THROUGH = frozenset({"Identity", "PreventGradient", "Snapshot", "StopGradient"})


class ObservedCopies:
    """Makes copies of operations of one step graph."""

    def __init__(
        self, nodes: Mapping[str, Any], training: Iterable[str], is_stateful: Callable[[str], bool]
    ) -> None:
        """Counts the consumers of the step's tensors.

        Args:
          nodes: All node definitions of the graph, by name.
          training: Names of the nodes that the step itself runs.
          is_stateful: Tells whether the operation of this name must not run twice.
        """
        self._nodes = nodes
        self._is_stateful = is_stateful
        self._users: dict[str, list[str]] = collections.defaultdict(list)
        for name in filter(in_step, training):
            for node_input in nodes[name].input:
                if not node_input.startswith("^"):
                    self._users[tensor_name(node_input)].append(name)
        self._consumers: dict[str, int] = {}

    def copy(self, tensor: str, into: dict[str, Any]) -> str:
        """Returns the name of a tensor that has the same value, and whose use does not change the step.

        Args:
          tensor: The name of a tensor of the step.
          into: Receives the copies that are made, by name.

        Returns:
          The tensor itself if it is safe to use, or a copy.
        """
        name = node_name(tensor)
        if not in_step(name) or self._count(tensor) > 1 or self._is_original(name):
            return tensor
        copied = f"{name}/observed"
        if copied not in into:
            node = type(self._nodes[name])()
            node.CopyFrom(self._nodes[name])
            node.name = copied
            node.attr.pop("_class", None)
            node.attr[_MARK].b = True
            into[copied] = node
            inputs = [i if i.startswith("^") else self.copy(tensor_name(i), into) for i in node.input]
            del node.input[:]
            node.input.extend(inputs)
        return f"{copied}:{tensor.rsplit(':', 1)[1]}"

    def _count(self, tensor: str) -> int:
        """Counts the operations that still use a tensor after TensorFlow has simplified the step."""
        if tensor not in self._consumers:
            count = 0
            for user in self._users[tensor]:
                operation = self._nodes[user].op
                if operation in _PASSED_THROUGH:
                    count += self._count(f"{user}:0")
                elif operation not in _FOLDED_AWAY:
                    count += 1
            self._consumers[tensor] = count
        return self._consumers[tensor]

    def _is_original(self, name: str) -> bool:
        """Tells whether an operation has no copy: inputs, state, and calls, which nothing is fused with."""
        node = self._nodes[name]
        calls = any(value.HasField("func") for value in node.attr.values())
        return not node.input or calls or self._is_stateful(name)
