"""What conditions that ask for the release say, and what is not reached for it."""

from __future__ import annotations

import ast

import pytest

from codemod import tables
from codemod.facts import FileFacts
from codemod.reached import is_awaited, truth, unreached
from codemod.settings import Settings
from tests.codemod.conftest import migrate

HEAD = """
import sys
from distutils.version import LooseVersion, StrictVersion
import packaging.version
from packaging import version
from pkg_resources import parse_version
import six
import tensorflow as tf
from tensorflow import keras

MAJOR = int(tf.__version__.split(".")[0])
CHANGING = tf.__version__
CHANGING = sys.argv[1]

def is_tf1():
    return MAJOR == 1

def asks(name):
    return hasattr(tf, name)

def loops():
    return loops()

"""

TRUE = [
    "tf.__version__ >= '2'",
    "tf.__version__[0] == '2'",
    "tf.__version__[:2] != '1.'",
    "tf.VERSION.startswith('2.')",
    "not tf.__version__.startswith(('0.', '1.'))",
    "MAJOR >= 2",
    "MAJOR in (2, 3)",
    "1 < MAJOR < 3",
    "LooseVersion(tf.__version__) >= LooseVersion('2.0.0')",
    "StrictVersion(tf.__version__) > StrictVersion('1.15.5')",
    "version.parse(tf.__version__) >= version.parse('2.0.0')",
    "packaging.version.Version('2.0') == packaging.version.Version('2.0.0')",
    "parse_version(tf.__version__) > parse_version('1.4')",
    "tuple(map(int, tf.__version__.split('.')[:2])) >= (2, 0)",
    "float(tf.__version__[:1]) > 1",
    "not is_tf1()",
    "not hasattr(tf, 'contrib')",
    "hasattr(tf.nn, 'relu')",
    "six.PY3",
    "sys.version_info.major == 3",
    "sys.argv or six.PY3",
    "True",
]
FALSE = ["six.PY2", "hasattr(tf, 'contrib') and sys.argv", "is_tf1() and MAJOR", "tf.__version__ < '2'", "0"]
OPEN = [
    "sys.argv",
    "CHANGING >= '2'",
    "asks('contrib')",
    "hasattr(sys, 'maxint')",
    "hasattr(tf, sys.argv[1])",
    "hasattr(tf, 'placeholder')",  # In one of the namespaces only.
    "hasattr(keras.layers.Layer, 'no_such')",
    "loops()",
    "tf.__version__ + 1",
    "tf.__version__ < 2",
    "tf.__version__[99] == '2'",
    "int('two') == 2",
    "LooseVersion('two') < LooseVersion('3')",
    "six.PY3 and sys.argv",
    "lambda: True",
    "tf.constant(1) > 2",
]


def facts(text: str) -> FileFacts:
    return FileFacts("train.py", text, ast.parse(text), tables.load_builtin(), Settings())


@pytest.mark.parametrize(
    ("test", "expected"),
    [*((t, True) for t in TRUE), *((t, False) for t in FALSE), *((t, None) for t in OPEN)],
)
def test_a_condition_says(test: str, expected: bool | None) -> None:
    file = facts(f"{HEAD}if {test}:\n    pass\n")
    condition = file.tree.body[-1]
    assert isinstance(condition, ast.If)
    assert truth(file, condition.test) is expected


REACHED = {
    "at the top": "here",
    "in an open branch": "if sys.argv:\n    here",
    "in the branch of today": "if MAJOR > 1:\n    here",
    "in the other branch": "if is_tf1():\n    pass\nelse:\n    here",
    "behind what is true": "x = six.PY3 and here",
    "behind what is open": "x = sys.argv and here",
    "behind a return for the past": "def f():\n    if is_tf1():\n        return\n    here",
    "behind a branch that goes on": "def f():\n    if six.PY3:\n        print()\n    here",
    "in an expression of today": "x = here if six.PY3 else 0",
}
UNREACHED = {
    "in a branch for the past": "if is_tf1():\n    here",
    "in the other branch": "if not is_tf1():\n    pass\nelse:\n    here",
    "in an elif": "if sys.argv:\n    pass\nelif six.PY2:\n    here",
    "in a function of such a branch": "if is_tf1():\n    def f():\n        here",
    "in an expression": "x = here if six.PY2 else 0",
    "behind what is false": "x = hasattr(tf, 'contrib') and here",
    "behind what is true": "x = six.PY3 or here",
    "behind a return": "def f():\n    if six.PY3:\n        return\n    for x in []:\n        here",
    "behind a raise": "if MAJOR > 1:\n    raise SystemExit\nhere",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [*((t, True) for t in REACHED.values()), *((t, False) for t in UNREACHED.values())],
    ids=[*REACHED, *(f"not {name}" for name in UNREACHED)],
)
def test_code_is_reached(text: str, expected: bool) -> None:
    file = facts(f"{HEAD}{text}\n")
    (here,) = (n for n in ast.walk(file.tree) if isinstance(n, ast.Name) and n.id == "here")
    assert (here not in unreached(file)) is expected


AWAITED = {
    "try:\n    here\nexcept (AttributeError, ImportError):\n    pass": True,
    "try:\n    if sys.argv:\n        here\nexcept AttributeError:\n    pass": True,
    "try:\n    here\nexcept (ImportError, KeyError):\n    pass": False,
    "try:\n    here\nexcept:\n    pass": False,
    "try:\n    pass\nexcept AttributeError:\n    here": False,
    "try:\n    def f():\n        here\nexcept AttributeError:\n    pass": False,
    "here": False,
}


@pytest.mark.parametrize(("text", "expected"), AWAITED.items())
def test_a_try_waits_for_names_that_are_not_there(text: str, expected: bool) -> None:
    file = facts(f"{HEAD}{text}\n")
    (here,) = (n for n in ast.walk(file.tree) if isinstance(n, ast.Name) and n.id == "here")
    assert is_awaited(file, here) is expected


def test_what_is_never_run_stays_and_says_nothing_of_the_file() -> None:
    text = f"{HEAD}if is_tf1():\n    from tensorflow.contrib import slim\n    x = tf.placeholder(1)\n    slim.conv2d(x)\n"
    outcome = migrate(text)
    assert outcome.text == text
    assert not outcome.findings
