from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops
from tensorflow.python.ops import control_flow_ops


def pick(flag, values):
    with ops.name_scope("pick"):
        values = control_flow_ops.cond(flag, lambda: array_ops.stack(values), lambda: array_ops.zeros([2]))
        return control_flow_ops.group(values)
