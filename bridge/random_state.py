"""Takes the state of random operations out of the operations.

`tf.random.normal` and its kin keep a Philox counter in their kernel. A v1 session shares kernels between all its
runs; TensorFlow 2 gives each function kernels of its own, so that a step that is part of several programs would draw
the same numbers again in each. Here each such operation becomes the stateless one with the same generator, over a
counter that is a variable: the numbers are those that the original would have drawn.
"""

from __future__ import annotations

import dataclasses
import secrets
from typing import Any

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1

_STATELESS = {
    "RandomStandardNormal": "StatelessRandomNormalV2",
    "RandomUniform": "StatelessRandomUniformV2",
    "RandomUniformInt": "StatelessRandomUniformIntV2",
    "TruncatedNormal": "StatelessTruncatedNormalV2",
}
# Random operations that have no stateless counterpart with the same numbers.
_OTHERS = frozenset(
    {"Multinomial", "ParameterizedTruncatedNormal", "RandomGamma", "RandomPoisson", "RandomPoissonV2"}
)
_OTHERS |= {"RandomShuffle"}
RANDOM_OPERATIONS = _OTHERS | _STATELESS.keys()

# A kernel sets aside this many blocks of the generator for each number it returns (`ReserveRandomOutputs`).
_BLOCKS_PER_NUMBER = 256


@dataclasses.dataclass
class RandomState:
    """What the step's random operations became.

    Attributes:
      counters: From the name of the node that stands for a counter's handle to the counter.
      effects: Names of the operations that advance the counters; they belong to the step.
      others: Names of random operations whose state could not be taken out.
    """

    counters: dict[str, tf.Variable]
    effects: list[str]
    others: list[str]


def take_out(graph_def: Any) -> RandomState:
    """Replaces the stateful random operations of a step.

    Args:
      graph_def: The step's graph, which is changed.

    Returns:
      The state that was taken out.
    """
    state = RandomState({}, [], [])
    inner = [node for function in graph_def.library.function for node in function.node_def]
    state.others = [node.name for node in (*graph_def.node, *inner) if node.op in _OTHERS]
    state.others += [node.name for node in inner if node.op in _STATELESS]
    for node in [node for node in graph_def.node if node.op in _STATELESS]:
        _replace(node, graph_def, state)
    return state


def _replace(node: Any, graph_def: Any, state: RandomState) -> None:
    seed, seed2 = node.attr["seed"].i, node.attr["seed2"].i
    if seed == 0 and seed2 == 0:  # No seed was set: the kernel takes one by chance.
        seed, seed2 = secrets.randbits(62), secrets.randbits(62)
    handle = f"{node.name}/counter"
    with tf.init_scope():
        state.counters[handle] = tf.Variable(0, dtype=tf.int64, trainable=False)
    state.effects.append(f"{node.name}/advance")
    shape_type = node.attr["T"].type
    del node.attr["seed"], node.attr["seed2"]

    def add(name: str, op: str, inputs: list[str], **attributes: Any) -> str:
        made = graph_def.node.add(name=f"{node.name}/{name}", op=op, input=inputs)
        for key, value in attributes.items():
            if isinstance(value, tf.DType):
                made.attr[key].type = value.as_datatype_enum
            elif isinstance(value, np.ndarray):
                made.attr[key].tensor.CopyFrom(tf1.make_tensor_proto(value))
            elif isinstance(value, bool):
                made.attr[key].b = value
            else:
                made.attr[key].i = value
        return str(made.name)

    def constant(name: str, value: Any, dtype: Any) -> str:
        return add(name, "Const", [], dtype=tf.as_dtype(dtype), value=np.asarray(value, dtype))

    placeholder = graph_def.node.add(name=handle, op="Placeholder")
    placeholder.attr["dtype"].type = tf.resource.as_datatype_enum
    placeholder.attr["shape"].shape.SetInParent()

    read = add("read", "ReadVariableOp", [handle], dtype=tf.int64)
    drawn = add("drawn", "Cast", [read], SrcT=tf.int64, DstT=tf.uint64)
    stream = constant("stream", np.uint64(seed2 & (2**64 - 1)), np.uint64)
    counter = add("philox", "Pack", [drawn, stream], N=2, T=tf.uint64, axis=0)
    key = constant("key", [np.uint64(seed & (2**64 - 1))], np.uint64)
    algorithm = constant("algorithm", 1, np.int32)  # Philox

    shape = node.input[0]
    size = add(
        "size",
        "Prod",
        [shape, constant("axis", [0], np.int32)],
        T=_dtype(shape_type),
        Tidx=tf.int32,
        keep_dims=False,
    )
    size = add("count", "Cast", [size], SrcT=_dtype(shape_type), DstT=tf.int64)
    blocks = add("blocks", "Mul", [size, constant("each", _BLOCKS_PER_NUMBER, np.int64)], T=tf.int64)
    add("advance", "AssignAddVariableOp", [handle, blocks, f"^{read}"], dtype=tf.int64)

    bounds = list(node.input[1:])
    controls = [name for name in bounds if name.startswith("^")]
    bounds = [name for name in bounds if not name.startswith("^")]
    del node.input[:]
    node.input.extend([shape, key, counter, algorithm, *bounds, *controls])
    if node.op == "RandomUniformInt":
        node.attr["dtype"].type = node.attr["Tout"].type
        del node.attr["Tout"]
    node.attr["Tshape"].type = shape_type
    del node.attr["T"]
    node.op = _STATELESS[node.op]


def _dtype(enum: int) -> tf.DType:
    return tf.as_dtype(enum)
