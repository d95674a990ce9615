"""A program that works with Keras's session and graph runs after the migration, on Keras 2, and gives what the graph gives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.codemod.conftest import migrate

pytestmark = pytest.mark.multiprocess

PROGRAM = """\
import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K

config = tf.ConfigProto(allow_soft_placement=True)
sess = tf.Session(config=config)
K.set_session(sess)
x = tf.placeholder(tf.float32, [None, 3])
norm = tf.keras.layers.BatchNormalization(momentum=0.5)
y = norm(tf.keras.layers.Dense(2, kernel_initializer="ones")(x))
with K.get_session().as_default() as session:
    session.run(tf.global_variables_initializer())
    data = np.arange(12).reshape(4, 3)
    before = session.run(y, {x: data, K.learning_phase(): 0})
    session.run([y, norm.updates], {x: data, K.learning_phase(): 1})
    print(before[0].tolist(), session.run(norm.moving_mean).tolist())
"""


def test_get_session_learning_phase_and_updates_work_after_the_migration(tmp_path: Path) -> None:
    new = migrate(PROGRAM).text
    assert new.startswith(
        "import numpy as np\nimport bridge.legacy_keras\nimport tensorflow.compat.v1 as tf\n"
    )
    (tmp_path / "program.py").write_text(new)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # Rows sum to 3, 12, 21, 30; half of their mean, 16.5, is the moving mean after one step.
    first, mean = done.stdout.strip().splitlines()[-1].rsplit(" [", 1)
    assert [float(v) for v in first.strip("[]").split(",")] == pytest.approx([3 / 1.001**0.5] * 2, rel=1e-5)
    assert [float(v) for v in mean.strip("]").split(",")] == pytest.approx([8.25, 8.25])
