"""All public symbols of `tf.estimator`; under the bridge, those of its table."""

import types

from tests.bridge.estimator.world import IS_V1, estimator


def public(module, prefix=""):
    found = []
    for name in dir(module):
        if name.startswith("_"):
            continue
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            found += public(value, prefix + name + ".")
        else:
            found.append(prefix + name)
    return found


def main(work):
    del work
    if IS_V1:
        return sorted(public(estimator))
    from bridge.estimator.symbols import MISSING
    from tests.bridge.estimator.symbols_page import WORKS

    return sorted([*WORKS, *MISSING])
