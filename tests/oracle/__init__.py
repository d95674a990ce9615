"""The oracle: real TensorFlow 1.15.5 says what each built-in hook does, and the bridge must do the same.

`scenarios` holds small programs that build hooks for one tiny model. `v1_world` runs a program in a hand-written
graph under TensorFlow 1.15.5, `bridge_world` runs the same program under `bridge.HookCallback` in `model.fit` on
today's TensorFlow. `recording` writes down what a run left behind: events, checkpoints, log lines, files, stop
steps, what hooks saw. `make oracle` (which runs `make_golden` with a Python 3.7 environment that holds
`tensorflow==1.15.5`) keeps the records of the first world in `golden/`; `test_oracle` compares the second
with them, minus the differences that `differences` lists with their reasons.

`session_scenarios` are programs about `MonitoredTrainingSession` itself, which `session_worlds` runs. `test_sessions` has
the bridge's session run all programs over the hand-written graph, where nothing at all may differ.

All but the tests, `differences` and `bridge_world` run on Python 3.7 and NumPy 1.18 too: keep their syntax that old.
"""
