import tensorflow


def text(x):
    return f"{tensorflow.compat.v1.get_default_graph()} {x!r:>{tensorflow.compat.v1.get_default_graph().version}} {tensorflow.nn.relu}" f'''
    {tensorflow.compat.v1.get_default_graph()
    }'''
