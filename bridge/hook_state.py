"""State that operations of hooks keep: variables, tables, queues and iterators that hooks create."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

tf1 = tf.compat.v1


class HookState:
    """Keeps hooks' state apart from other sessions', the same for all programs of one session, until it is freed."""

    def __init__(self, container: str) -> None:
        """Prepares.

        Args:
          container: TensorFlow's name for the place where the state is kept.
        """
        self._container = container
        self._nodes: dict[str, Any] = {}
        self._makers: list[Any] = []

    def keep(self, node: Any) -> None:
        """Makes an operation keep its state in this session, whatever program it is part of.

        Args:
          node: A node definition with a `container` attribute, which is changed.
        """
        node.attr["container"].s = self._container.encode()
        if not node.attr["shared_name"].s:
            node.attr["shared_name"].s = node.name.encode()
        self._nodes[node.name] = node

    def hold(self, graph_def: Any) -> tf.Tensor:
        """Makes a resource whose state lives in its operation, once, for all programs.

        Args:
          graph_def: A graph of the one operation.

        Returns:
          The handle.
        """
        (node,) = graph_def.node
        node.attr.pop("_class", None)
        name = f"{node.name}:0"
        maker = tf1.wrap_function(
            lambda: tf.graph_util.import_graph_def(graph_def, name="", return_elements=[name])[0], []
        )
        self._makers.append(maker)  # Owns the operation.
        return maker()

    def free(self, graph: tf.Graph) -> None:
        """Destroys the state.

        Args:
          graph: The graph that the operations belong to.
        """
        graph_def = tf1.GraphDef()
        for name, node in self._nodes.items():
            operation = graph.get_operation_by_name(name)
            if not node.input and any(tensor.dtype == tf.resource for tensor in operation.outputs):
                graph_def.node.append(node)
        graph_def.versions.CopyFrom(graph.graph_def_versions)

        def destroy() -> tf.Tensor:
            names = [f"{node.name}:0" for node in graph_def.node]
            handles = tf.graph_util.import_graph_def(graph_def, name="", return_elements=names)
            destroyed = [tf.raw_ops.DestroyResourceOp(resource=h, ignore_lookup_error=True) for h in handles]
            with tf.control_dependencies(destroyed):
                return tf.constant(0)

        if graph_def.node:
            tf1.wrap_function(destroy, [])()
        self._nodes.clear()
        self._makers.clear()
