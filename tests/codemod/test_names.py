"""What a name means is what Python would find, and nothing is guessed."""

from __future__ import annotations

import ast

import pytest

from codemod.names import Names
from codemod.tables import load

TABLES = load()


def meanings(text: str) -> list[str]:
    return [use.name for use in Names(ast.parse(text), TABLES).chains]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import tensorflow as tf\ntf.train.Saver", "tf.train.Saver"),
        ("import tensorflow as T\nT.train.Saver", "tf.train.Saver"),
        ("import tensorflow\ntensorflow.train.Saver", "tf.train.Saver"),
        ("import tensorflow.compat.v1 as tf1\ntf1.train.Saver", "tf.train.Saver"),
        ("from tensorflow.compat import v1\nv1.train.Saver", "tf.train.Saver"),
        ("import tensorflow as tf\ntf.compat.v1.train.Saver", "tf.train.Saver"),
        ("import tensorflow as tf\ntf.compat.v2.summary.scalar", "tf.compat.v2.summary.scalar"),
        ("from tensorflow import train\ntrain.Saver", "tf.train.Saver"),
        ("from tensorflow.train import Saver as S\nS", "tf.train.Saver"),
        (
            "from tensorflow.python.training import session_run_hook\nsession_run_hook.SessionRunHook",
            "tf.train.SessionRunHook",
        ),
        ("from tensorflow.python.training.training import Saver\nSaver", "tf.train.Saver"),
        ("import tensorflow.python.training.saver as s\ns.Saver", "tf.train.Saver"),
        ("import tensorflow.contrib.slim as slim\nslim.conv2d", "tf.contrib.slim.conv2d"),
        ("import tensorflow.contrib.slim\ntensorflow.contrib.slim.conv2d", "tf.contrib.slim.conv2d"),
        ("from keras import backend as K\nK.set_session", "keras.backend.set_session"),
        ("from tensorflow.keras import backend as K\nK.set_session", "tf.keras.backend.set_session"),
        ("from tensorflow import *\nplaceholder", "tf.placeholder"),
        ("def f():\n  import tensorflow as tf\n  return tf.log", "tf.log"),
        ("def f():\n  global tf\n  import tensorflow as tf\ndef g():\n  return tf.log", "tf.log"),
        ("try:\n  import tensorflow as tf\nexcept ImportError:\n  tf = None\ntf.log", "tf.log"),
        ("import horovod.tensorflow as hvd\nhvd.rank", "horovod.tensorflow.rank"),
    ],
)
def test_every_style_of_import_leads_to_one_name(text: str, name: str) -> None:
    assert meanings(text)[-1] == name


@pytest.mark.parametrize(
    "text",
    [
        "def f(tf): return tf.log",
        "f = lambda tf: tf.log",
        "[tf.log for tf in x]",
        "def f():\n  tf = x()\n  return tf.log",
        "def f():\n  for tf in x: tf.log",
        "def f():\n  with x as tf: tf.log",
        "def f():\n  try: pass\n  except E as tf: tf.log",
        "def f():\n  def tf(): pass\n  tf.log",
        "def f():\n  (tf := x); tf.log",
        "def f(*tf): tf.log",
        "def f():\n  match x:\n    case {'a': tf}: tf.log",
        "class A:\n  tf = x()\n  y = tf.log",
        "def f():\n  tf = x\n  def g():\n    nonlocal tf\n    tf = 1\n  tf.log",
    ],
)
def test_a_name_that_hides_the_module_means_nothing(text: str) -> None:
    assert meanings(f"import tensorflow as tf\n{text}\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n  tf = 1\n  def f(self): return tf.log",  # A class body's names are not seen from its methods.
        "def f(tf=tf.log): pass",  # Defaults are evaluated outside.
        "[tf for tf in tf.log]",  # So is the first iterable.
        "def f():\n  return tf.log\ndef g():\n  tf = 1",
        "def f(x: tf.log): pass",
        "@tf.log\ndef f(tf): pass",
    ],
)
def test_a_name_that_hides_elsewhere_does_not_count(text: str) -> None:
    assert meanings(f"import tensorflow as tf\n{text}\n") == ["tf.log"]


def test_an_assigned_alias_is_followed() -> None:
    assert meanings("import tensorflow as tf\nlayers = tf.contrib.layers\nlayers.conv2d") == [
        "tf.contrib.layers",
        "tf.contrib.layers.conv2d",
    ]


def test_a_name_with_two_assigned_meanings_has_none() -> None:
    text = "import tensorflow as tf\nif x:\n  n = tf.log\nelse:\n  n = tf.exp\nn.a"
    assert meanings(text) == ["tf.log", "tf.exp"]


def test_of_several_imports_the_one_that_exists_counts() -> None:
    text = "try:\n  from tensorflow.contrib import slim\nexcept ImportError:\n  import tf_slim as slim\nslim.conv2d"
    assert meanings(text) == ["tf_slim.conv2d"]


def test_relative_imports_are_not_tensorflow() -> None:
    assert (
        meanings("from . import tensorflow as tf\nfrom .tensorflow import train\ntf.log, train.Saver") == []
    )


def test_what_a_nonlocal_name_is_given_is_the_outer_function_s() -> None:
    text = "def f():\n  def g():\n    nonlocal n\n    n = 7\n  n = 5\n  return n\n"
    names = Names(ast.parse(text), TABLES)
    outer, inner = (scope for scope in names.scopes.values() if scope.kind == "function")
    assert [type(binding.node) for binding in outer.bindings("n")] == [ast.Name, ast.Name]
    assert inner.bindings("n") == []
    assert {id(binding.scope) for binding in outer.bindings("n")} == {id(outer)}


def test_the_first_iterable_of_a_comprehension_is_evaluated_around_it() -> None:
    tree = ast.parse("class A:\n  x = [i for i in first for j in second]\n")
    names = Names(tree, TABLES)
    kinds = {n.id: names.scope_of(n).kind for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id != "i"}
    assert (kinds["first"], kinds["second"]) == ("class", "comprehension")
