"""What counts as a name that the installed TensorFlow lacks."""

from __future__ import annotations

import pytest

from tests.corpus.missing import missing_names


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("import tensorflow as tf\ntf.Session()", ["tensorflow.Session"]),
        ("import tensorflow.compat.v1 as tf\ntf.Session()", []),
        ("from tensorflow.python.ops import array_ops\narray_ops.stack", ["tensorflow.python.ops.array_ops.stack"]),
        ("import tensorflow.contrib.slim as slim\nslim.conv2d", ["tensorflow.contrib.slim"]),
        ("def f(tf):\n    tf.Session()\nimport tensorflow as tf\ntf.placeholder", ["tensorflow.placeholder"]),
        ("import tensorflow as tf\nfor tf in []:\n    tf.Session()", []),
        ("try:\n    import tensorflow as tf\nexcept ImportError:\n    tf = None\ntf.Session", ["tensorflow.Session"]),
        ("try:\n    import tensorflow.contrib as c\nexcept ImportError:\n    c = None\nc.x", []),
        ("try:\n    import tensorflow.contrib as c\nexcept ValueError:\n    pass", ["tensorflow.contrib"]),
        ("import tensorflow as tf\ntry:\n    tf.Session\nexcept AttributeError:\n    pass", []),
        ("import tensorflow as tf\ntry:\n    tf.Session\nexcept KeyError:\n    pass", ["tensorflow.Session"]),
        ("import tensorflow as tf\ns = tf.Session if hasattr(tf, 'Session') else tf.placeholder", ["tensorflow.placeholder"]),
        ("import tensorflow as tf\nif hasattr(tf, 'Session') and tf.Session:\n    tf.placeholder", []),
        ("import tensorflow as tf\nif tf.__version__.startswith('1.'):\n    tf.Session\nelse:\n    tf.placeholder", ["tensorflow.placeholder"]),
        ("import tensorflow as tf\nif LooseVersion(tf.__version__) < LooseVersion('1.4'):\n    tf.Session", []),
        ("import tensorflow as tf\nif old():\n    tf.Session", ["tensorflow.Session"]),
        ("import tensorflow as tf\nclass A:\n    tf = 1\n    def f(self):\n        tf.Session", ["tensorflow.Session"]),
        ("import tensorflow as tf\ntf.float32.nothing", []),
        ("from . import tensorflow as tf\ntf.Session", []),
    ],
)  # fmt: skip
def test_a_name_is_missing_only_where_it_is_reached_and_means_tensorflow(
    text: str, missing: list[str]
) -> None:
    assert [name for _, name in missing_names(text)] == missing
