"""Whether a session's hooks can ask it to stop: if they cannot, a loop need not ask whether to go on."""

from __future__ import annotations

import ast

from codemod.loops.place import Place
from codemod.loops.sessions import BRIDGE_SESSION
from codemod.loops.values import value_of

# Hooks that never ask a session to stop; those that raise are none the less errors.
_GOES_ON = frozenset(
    f"tf.{package}.{name}"
    for package in ("train", "estimator")
    for name in (
        "LoggingTensorHook",
        "StepCounterHook",
        "SummarySaverHook",
        "ProfilerHook",
        "CheckpointSaverHook",
        "NanTensorHook",
        "FinalOpsHook",
        "FeedFnHook",
        "GlobalStepWaiterHook",
    )
)
_MAY_STOP_BY = frozenset({"listeners", "fail_on_nan_loss", None})


def never_stops(place: Place) -> bool:
    """Whether the session has no hooks that could stop it."""
    return all(_Hooks(place).none_stops(call) for call in place.session.calls)


class _Hooks:
    def __init__(self, place: Place) -> None:
        self._file, self._scope = place.file, place.scope

    def none_stops(self, call: ast.Call) -> bool:
        """Whether nothing that a session is opened with may stop it."""
        name = self._file.name_of(call.func)
        if len(call.args) > (3 if name in (BRIDGE_SESSION, "tf.train.MonitoredTrainingSession") else 0):
            return False
        if any(isinstance(arg, ast.Starred) for arg in call.args):
            return False
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        hooks = (given.get("hooks"), given.get("chief_only_hooks"))
        return not {None, "scaffold", "session_creator"} & set(given) and all(
            self._go_on(value) for value in hooks
        )

    def _list_of(self, name: ast.Name) -> ast.expr:
        """The list that a name is, if nothing is added to it: it is given to sessions and no more."""
        value = value_of(self._file, name, self._scope)
        for load, where in self._file.names.loads(name.id):
            is_given = isinstance(self._file.parent(load), ast.keyword | ast.Subscript)
            if not is_given and self._file.names.lookup(name.id, where) == self._file.names.lookup(
                name.id, self._scope
            ):
                return name
        return value

    def _go_on(self, hooks: ast.expr | None) -> bool:
        """Whether hooks are a list of such that never ask for a stop."""
        if hooks is None:
            return True
        if isinstance(hooks, ast.Name):
            hooks = self._list_of(hooks)
        if not isinstance(hooks, ast.List | ast.Tuple):
            return isinstance(hooks, ast.Constant) and hooks.value is None
        return all(map(self._goes_on, hooks.elts))

    def _goes_on(self, hook: ast.expr) -> bool:
        if not isinstance(hook, ast.Call) or self._file.name_of(hook.func) not in _GOES_ON:
            return False
        if _MAY_STOP_BY & {keyword.arg for keyword in hook.keywords} or len(hook.args) > 3:
            return False
        if len(hook.args) > 1 and str(self._file.name_of(hook.func)).endswith("NanTensorHook"):
            return False
        return not any(isinstance(arg, ast.Starred) for arg in hook.args)
