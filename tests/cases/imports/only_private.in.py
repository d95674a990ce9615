from tensorflow.python.framework import ops
from tensorflow.python.training import session_run_hook as srh


class Count(srh.SessionRunHook):
    def begin(self):
        self.graph = ops.get_default_graph()
