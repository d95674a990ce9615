"""The step as one function that XLA compiles, for use as a single node of a program.

Other steps are spliced into each program operation by operation. XLA compiles a function as a whole, and once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

tf1 = tf.compat.v1


class StepUnit:
    """A traced step as one function.

    Attributes:
      positions: From the name of a tensor of the traced step to its position among the outputs.
      library: The function definitions that a graph with a call of the unit needs.
    """

    def __init__(self, function: Any, step: Any, outputs: Sequence[str]) -> None:
        """Makes the function.

        Args:
          function: The traced step, a concrete function.
          step: Its graph, a `GraphDef`.
          outputs: Names of the step's tensors that the unit returns.
        """
        effects = [operation.name for operation in function.graph.control_outputs]
        # XLA refuses the input nodes, even where all their uses are replaced.
        given = {tensor.op.name for tensor in function.inputs}
        graph_def = tf1.GraphDef()
        graph_def.CopyFrom(step)
        del graph_def.node[:]
        graph_def.node.extend(node for node in step.node if node.name not in given)
        for node in graph_def.node:
            node.attr.pop("_class", None)  # Colocation with the input nodes.
        own = [name for name in outputs if name.split(":")[0] not in given]

        @tf.function(autograph=False, jit_compile=True)
        def unit(*arguments: tf.Tensor) -> list[tf.Tensor]:
            inputs = {tensor.name: value for tensor, value in zip(function.inputs, arguments, strict=True)}
            got = tf.graph_util.import_graph_def(
                graph_def, input_map=inputs, name="", return_elements=[*own, *effects]
            )
            inputs.update(zip(own, got[: len(own)], strict=True))
            with tf.control_dependencies(got[len(own) :]):
                return [tf.identity(inputs[name]) for name in outputs]

        concrete = unit.get_concrete_function(*(tf.TensorSpec(t.shape, t.dtype) for t in function.inputs))
        self._concrete = concrete  # Owns the function.
        self._definition = concrete.function_def
        self._types = [t.dtype for t in function.inputs], [t.dtype for t in concrete.outputs]
        self.positions = {name: position for position, name in enumerate(outputs)}
        self.library = {f.signature.name: f for f in concrete.graph.as_graph_def().library.function}
        self.library[self._definition.signature.name] = self._definition

    def call(self, name: str, inputs: Sequence[str]) -> Any:
        """Returns a node that calls the unit.

        Args:
          name: The node's name.
          inputs: Names of the tensors that the step takes: batch and captured handles.
        """
        sources = [name.removesuffix(":0") for name in inputs]
        node = tf1.NodeDef(name=name, op="StatefulPartitionedCall", input=sources)
        node.attr["f"].func.name = self._definition.signature.name
        node.attr["Tin"].list.type.extend(t.as_datatype_enum for t in self._types[0])
        node.attr["Tout"].list.type.extend(t.as_datatype_enum for t in self._types[1])
        node.attr["_XlaMustCompile"].b = True
        return node
