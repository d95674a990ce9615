import tensorflow
from tensorflow.python.framework import ops


def text(x):
    return f"{tensorflow.get_default_graph()} {x!r:>{ops.get_default_graph().version}} {tensorflow.nn.relu}" f'''
    {ops.get_default_graph()
    }'''
