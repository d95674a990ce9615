"""Hooks of the library; imported with a star."""
import tensorflow as tf

__all__ = ["MeanLossHook", "DecayHook"]


class MeanLossHook(tf.train.SessionRunHook):
    def __init__(self, name="loss:0"):
        self.name = name
        self.values = []

    def before_run(self, run_context):
        graph = run_context.session.graph
        return tf.train.SessionRunArgs(graph.as_graph_element(self.name))

    def after_run(self, run_context, run_values):
        self.values.append(float(run_values.results))

    @property
    def mean(self):
        return sum(self.values) / len(self.values)


class DecayHook(tf.train.SessionRunHook):
    """Multiplies a variable of the graph every few steps, by an op made in begin()."""

    def __init__(self, variable_name, factor, every):
        self.variable_name, self.factor, self.every = variable_name, factor, every
        self.runs = 0

    def begin(self):
        variable, = [v for v in tf.global_variables() if v.op.name == self.variable_name]
        self.decay = variable.assign(variable * self.factor)

    def after_run(self, run_context, run_values):
        self.runs += 1
        if self.runs % self.every == 0:
            run_context.session.run(self.decay)
