"""Whether a session's hooks can ask it to stop: if they cannot, a loop need not ask whether to go on."""

from __future__ import annotations

import ast

from codemod.loops.place import Place
from codemod.loops.sessions import BRIDGE_SESSION, SESSIONS
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
_BASES = frozenset(
    {"tf.train.SessionRunHook", "tf.estimator.SessionRunHook", "tf.contrib.learn.SessionRunHook"}
)
# Attributes of a run's context by which nobody can stop anything.
_LOOKED_AT = frozenset({"session", "original_args", "stop_requested"})
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
        names = self._file.names
        for load, where in names.loads(name.id):
            is_same = names.lookup(name.id, where) == names.lookup(name.id, self._scope)
            if is_same and not self._is_given_to_a_session(load):
                return name
        return value_of(self._file, name, self._scope)

    def _is_given_to_a_session(self, load: ast.Name) -> bool:
        keyword = self._file.parent(load)
        call = self._file.parent(keyword) if isinstance(keyword, ast.keyword) else None
        return isinstance(call, ast.Call) and self._file.name_of(call.func) in (BRIDGE_SESSION, *SESSIONS)

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
        hook = value_of(self._file, hook, self._scope)
        if not isinstance(hook, ast.Call):
            return False
        if isinstance(hook.func, ast.Name) and self._is_own_that_goes_on(hook.func):
            return True
        if self._file.name_of(hook.func) not in _GOES_ON:
            return False
        if _MAY_STOP_BY & {keyword.arg for keyword in hook.keywords} or len(hook.args) > 3:
            return False
        if len(hook.args) > 1 and str(self._file.name_of(hook.func)).endswith("NanTensorHook"):
            return False
        return not any(isinstance(arg, ast.Starred) for arg in hook.args)

    def _is_own_that_goes_on(self, name: ast.Name) -> bool:
        """Whether a class of the file's own is a hook that neither asks for a stop nor lets others do so."""
        bindings = self._file.names.lookup(name.id, self._scope)
        made = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(made, ast.ClassDef) or made.decorator_list or made.keywords:
            return False
        if not made.bases or any(self._file.name_of(base) not in _BASES for base in made.bases):
            return False
        return "request_stop" not in self._file.source(made) and all(map(self._keeps_context, made.body))

    def _keeps_context(self, method: ast.stmt) -> bool:
        """Whether a method does not hand on what could ask for a stop."""
        if not isinstance(method, ast.FunctionDef) or method.name not in ("before_run", "after_run"):
            return not isinstance(method, ast.ClassDef)
        parameters = [arg.arg for arg in method.args.args]
        if len(parameters) < 2 or method.args.vararg or method.args.kwarg:
            return False
        loads = (n for n in ast.walk(method) if isinstance(n, ast.Name) and n.id == parameters[1])
        parents = map(self._file.parent, loads)
        return all(isinstance(p, ast.Attribute) and p.attr in _LOOKED_AT for p in parents)
