"""The part of a step graph that some fetches need, and what must come before what in it.

Works on node definitions alone. "The step" are the nodes that were imported from the traced Keras step; everything
else was added by the bridge, by hooks, or by savers.
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from bridge.step_graph import STEP_SCOPE

_PLAIN_READ = "ReadVariableOp"
_READS = frozenset({_PLAIN_READ, "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp"})
_WRITES = ("Assign", "ResourceApply", "ResourceScatter", "ResourceSparseApply", "ResourceStridedSliceAssign")
_NO_EFFECT = frozenset({"Identity", "Cast", "Shape", "NoOp"})
_READING_CALLS = frozenset(
    {
        "If",
        "StatelessIf",
        "While",
        "StatelessWhile",
        "Case",
        "StatelessCase",
        "PartitionedCall",
        "StatefulPartitionedCall",
    }
)


def in_step(name: str) -> bool:
    """Tells whether a node or tensor belongs to the imported step."""
    return name.startswith(f"{STEP_SCOPE}/")


def tensor_name(node_input: str) -> str:
    """Turns a node's input as GraphDef writes it, `x`, into a tensor's name, `x:0`."""
    return node_input if ":" in node_input else f"{node_input}:0"


def node_name(node_input: str) -> str:
    """Returns the name of the node that an input comes from."""
    return node_input.lstrip("^").split(":")[0]


class GraphPart:
    """The nodes that some fetches need.

    Iterating gives their names; `in` asks for one.
    """

    def __init__(
        self,
        nodes: Mapping[str, Any],
        fetches: Iterable[Any],
        replaced: Collection[str],
        *,
        without_step: bool = False,
    ) -> None:
        """Cuts the part out.

        Args:
          nodes: All node definitions of the graph, by name.
          fetches: Tensors and operations of that graph.
          replaced: Names of tensors that are given from outside; what only they need is not in the part.
          without_step: Whether to leave out the step where nodes only wait for it.
        """
        self._nodes = nodes
        self._replaced = replaced
        self._found: dict[str, None] = {}
        self._fetched = [fetch.name for fetch in fetches]
        queue = collections.deque(node_name(name) for name in self._fetched if name not in replaced)
        while queue:
            name = queue.popleft()
            if name in self._found:
                continue
            self._found[name] = None
            for node_input in nodes[name].input:
                if without_step and node_input.startswith("^") and in_step(node_input[1:]):
                    continue
                if node_input.startswith("^") or tensor_name(node_input) not in replaced:
                    queue.append(node_name(node_input))

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def step_tensors_used_outside(self) -> list[str]:
        """Returns the names of the step's tensors that are fetched, or that nodes outside the step use."""
        used = dict.fromkeys(name for name in self._fetched if in_step(name) and ":" in name)
        for name in self._found:
            if not in_step(name):
                for node_input in self._nodes[name].input:
                    if in_step(node_input) and tensor_name(node_input) not in self._replaced:
                        used[tensor_name(node_input)] = None
        return list(used)

    def after_step(self) -> set[str]:
        """Returns the nodes outside the step that need some of it."""
        return {name for name in self._after(filter(in_step, self._found)) if not in_step(name)}

    def inputs_from_before(self, late: Collection[str]) -> list[str]:
        """Returns the names of tensors that these nodes take from nodes outside the step and outside of them."""
        return list(
            dict.fromkeys(
                tensor_name(node_input)
                for name in late
                for node_input in self._nodes[name].input
                if not node_input.startswith("^")
                and tensor_name(node_input) not in self._replaced
                and not in_step(node_input)
                and node_name(node_input) not in late
            )
        )

    def before_writes(self, *, unit: bool = False) -> tuple[list[str], list[str]]:
        """Finds what must be done before the step writes, so that hooks see the step's start and a step is whole.

        These are the reads of variables outside the step, and whatever hooks fetch, since it may fail. A plain read
        cannot: see `reads_before_writes`. What comes after a write by the graph's own edges (a hook that asked for the
        new value by control dependencies) is left where it is.

        Args:
          unit: Whether the step runs as one node, so that whatever needs any of it comes after all of it.

        Returns:
          The nodes to be done first, and the step's writing nodes.
        """
        readers: dict[str, None] = {}
        writers: dict[str, None] = {}
        for name in self._found:
            node = self._nodes[name]
            for node_input in node.input:
                if node_input.startswith("^") or tensor_name(node_input) not in self._replaced:
                    continue
                if in_step(name):
                    if node.op not in _READS and node.op not in _NO_EFFECT:
                        writers[name] = None
                elif node.op in _READS or node.op in _READING_CALLS:
                    readers[name] = None
        for name in map(node_name, self._fetched):
            if name in self._found and not in_step(name) and self._nodes[name].op != "Placeholder":
                readers[name] = None
        if not unit:
            readers = {name: None for name in readers if not self._is_plain_read(name)}
        late = self._after(filter(in_step, self._found) if unit else writers)
        return [name for name in readers if name not in late], list(writers)

    def reads_before_writes(self) -> list[tuple[str, str]]:
        """Orders plain reads outside the step before what the step writes to the same variable, and to no other.

        Returns:
          Pairs of a node and one that must wait for it.
        """
        users = list(self._users_of_replaced().values())
        writes = [
            [n for n in names if in_step(n) and self._nodes[n].op not in _READS | _NO_EFFECT]
            for names in users
        ]
        late = self._after(name for names in writes for name in names)
        return [
            (read, write)
            for names, writing in zip(users, writes, strict=True)
            for read in names
            if not in_step(read) and self._is_plain_read(read) and read not in late
            for write in writing
        ]

    def around_writes(self) -> list[tuple[str, str]]:
        """Orders what hooks write against what else uses the same variable, which would race.

        A hook's write that needs nothing of the step comes before the step's reads; one that does comes after them.
        Other reads by hooks come before hooks' writes.

        Returns:
          Pairs of a node and one that must wait for it.
        """
        users = self._users_of_replaced()
        writes = {n for names in users.values() for n in names if not in_step(n) and self._may_write(n)}
        if not writes:
            return []
        after_step, after_writes = self.after_step(), self._after(writes)
        pairs: list[tuple[str, str]] = []
        for names in users.values():
            inside = [n for n in names if in_step(n)]
            reads = [n for n in names if not in_step(n) and n not in after_writes]
            for write in (n for n in names if n in writes):
                pairs.extend((read, write) for read in reads)
                if write in after_step:
                    pairs.extend((n, write) for n in inside if self._nodes[n].op in _READS)
                else:
                    pairs.extend((write, n) for n in inside)
        return pairs

    def _users_of_replaced(self) -> dict[str, list[str]]:
        """Returns which nodes take each tensor that is given from outside, such as a live variable's handle."""
        users: dict[str, list[str]] = collections.defaultdict(list)
        for name in self._found:
            for node_input in self._nodes[name].input:
                if not node_input.startswith("^") and tensor_name(node_input) in self._replaced:
                    users[tensor_name(node_input)].append(name)
        return users

    def _is_plain_read(self, name: str) -> bool:
        """Tells whether a node reads a live variable, which has a value, and waits for nothing that may fail."""
        node = self._nodes[name]
        return (
            node.op == _PLAIN_READ and len(node.input) == 1 and tensor_name(node.input[0]) in self._replaced
        )

    def plain_read_of(self, fetch: Any) -> str | None:
        """Returns the name of the handle whose variable a fetched tensor is the value of, or None."""
        name = node_name(fetch.name)
        is_read = name in self._found and self._is_plain_read(name)
        return tensor_name(self._nodes[name].input[0]) if is_read and ":" in fetch.name else None

    def _may_write(self, name: str) -> bool:
        return self._nodes[name].op.startswith(_WRITES)

    def is_reading_call(self, name: str) -> bool:
        """Tells whether a node is a branch, loop or function call."""
        return self._nodes[name].op in _READING_CALLS

    def step_writes(self, handles: Collection[str]) -> bool:
        """Tells whether some operation of the step may write one of these handles."""
        return any(
            tensor_name(node_input) in handles
            for name in self._found
            if in_step(name) and self._nodes[name].op not in _READS | _NO_EFFECT
            for node_input in self._nodes[name].input
            if not node_input.startswith("^")
        )

    def written_outside_step(self, handles: Collection[str]) -> frozenset[str]:
        """Returns which of these handles some operation outside the step may write."""
        return frozenset(
            tensor_name(node_input)
            for name in self._found
            if not in_step(name) and self._nodes[name].op not in _READS
            for node_input in self._nodes[name].input
            if tensor_name(node_input) in handles
        )

    def _after(self, names: Iterable[str]) -> set[str]:
        """Returns the nodes that need one of these, themselves included."""
        users: dict[str, list[str]] = collections.defaultdict(list)
        for name in self._found:
            for node_input in self._nodes[name].input:
                users[node_name(node_input)].append(name)
        reached: set[str] = set()
        queue = collections.deque(names)
        while queue:
            name = queue.popleft()
            if name not in reached:
                reached.add(name)
                queue.extend(users[name])
        return reached
