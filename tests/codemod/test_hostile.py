"""Whatever is thrown at the codemod: nothing is lost, the exit code is right, and the file is named."""

from __future__ import annotations

import ast
import codecs
import ctypes
import io
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from codemod import run as workers
from codemod.discover import Found
from codemod.migrate import migrate_bytes
from codemod.settings import Settings

hypothesmith = pytest.importorskip("hypothesmith")

ROOT = Path(__file__).resolve().parents[2]

SITE = """\
import tensorflow as tf


def train(op, hooks):
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:  # comment stays
        while not session.should_stop():
            session.run(op)
"""


def migrated(text, encoding="utf-8", **options):
    """The bytes after the migration of a text, which must change."""
    result, new = migrate_bytes("x.py", text.encode(encoding), Settings(**options))
    assert (result.status, new is not None) == ("changed", True), result.reason
    return new


NEW_SITE = migrated(SITE).decode()


# ---------------------------------------------------------------------------------------------------------------------
# Any Python: not touched without a site, equal outside of the edits with one

SLOW = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def compiles(text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "x.py", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return False
    return True


def names(text):
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)} | {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


PROGRAMS = hypothesmith.from_grammar("file_input").filter(compiles)
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@SLOW
@given(PROGRAMS, LINE_ENDS, st.sampled_from(["utf-8", "utf-8-sig"]))
def test_any_program_without_a_site_is_not_touched(program, ends, encoding):
    # Words that let the file past the first filter, in a comment, a string, and as names of something else.
    text = f'"""tensorflow."""\n# import tensorflow as tf; tf.train.Saver()\n{program}\ndef f(tf, keras):\n  tf.train.Saver()\n'
    assume(compiles(text))
    data = text.replace("\r\n", "\n").replace("\n", ends).encode(encoding)
    result, new = migrate_bytes("x.py", data, Settings(unsafe_fixes=True))
    assert new is None
    assert result.status == "unchanged", result.reason
    assert result.findings == ()


@SLOW
@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"\xef\xbb\xbf", b"# coding: latin-1\n", b"import tensorflow as tf\n"]),
)
def test_any_bytes_are_changed_unchanged_or_failed_with_a_reason(data, head):
    data = head + data + b"\n# tensorflow"
    result, new = migrate_bytes("x.py", data, Settings())
    assert (new is not None) == (result.status == "changed")
    if result.status == "failed":
        assert result.reason
    if new is not None:
        ast.parse(new)


@SLOW
@given(PROGRAMS, PROGRAMS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["utf-8", "utf-8-sig"]))
def test_any_program_stays_equal_in_bytes_around_the_edits(before, after, ends, encoding):
    assume("__future__" not in before + after)
    used = names(before) | names(after)
    assume(
        not used & {"tf", "bridge", "tensorflow", "train", "session", "hooks", "op"}
        and "import *" not in before + after
    )
    first, rest = SITE.split("\n", 1)
    new_first, new_rest = NEW_SITE.split(rest[: rest.index("def train")] + "def train", 1)

    def whole(head, tail):
        parts = [head, f"X = 'before'\n{before}\n'end'\n", tail, f"\n'start'\n{after}\nY = 'after'\n"]
        return "".join(part.replace("\r\n", "\n").replace("\r", "\n") for part in parts).replace("\n", ends)

    text = whole(first + "\n", "def train" + rest.split("def train", 1)[1])
    assume(compiles(text.replace("\r\n", "\n").replace("\r", "\n")))
    result, new = migrate_bytes("x.py", text.encode(encoding), Settings())
    assert result.status == "changed", result.reason
    assert new == whole(new_first + "\n" * (not new_first.endswith("\n")), "def train" + new_rest).encode(
        encoding
    )


@SLOW
@given(PROGRAMS)
def test_a_second_run_changes_nothing(program):
    assume(compiles(f"{SITE}{program}\n"))
    result, new = migrate_bytes("x.py", f"{SITE}{program}\n".encode(), Settings())
    if new is None:
        assert result.status == "failed", result
        assert "second pass" not in result.reason
        assert "internal" not in result.reason
    else:
        assert migrate_bytes("x.py", new, Settings())[1] is None


# ---------------------------------------------------------------------------------------------------------------------
# Encodings and line ends: the change is the same whatever the bytes are


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "euc-jp", "koi8-r", "shift_jis"]
)
def test_line_ends_encoding_and_byte_order_mark_stay(ends, encoding):
    remark = {"euc-jp": "日本", "shift_jis": "日本", "koi8-r": "да"}.get(encoding, "é")
    head = "" if encoding.startswith("utf") else f"# -*- coding: {encoding} -*-\n"

    def variant(text):
        return f"{head}{text}# {remark}\n".replace("\n", ends).encode(encoding)

    result, new = migrate_bytes("x.py", variant(SITE), Settings())
    assert result.status == "changed", result.reason
    assert new == variant(NEW_SITE)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1"])
def test_the_texts_of_a_result_encode_to_the_bytes_of_the_file(encoding):
    head = "" if encoding.startswith("utf") else f"# -*- coding: {encoding} -*-\n"
    data = f"{head}{SITE}# é\n".encode(encoding)
    result, new = migrate_bytes("x.py", data, Settings(), keep_texts=True)
    assert result.before.encode(result.encoding) == data
    assert result.after.encode(result.encoding) == new


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n", "  ", "\n    ", "\n#", "\n\x0c\n", "\r\n"])
def test_the_end_of_the_file_stays(end):
    assert migrated(SITE.rstrip("\n") + end) == (NEW_SITE.rstrip("\n") + end).encode()


@pytest.mark.parametrize(
    "where",
    [
        "def train",
        "import tensorflow",
        "\n\ndef",
        "  # comment",
    ],
)
def test_form_feeds_stay_where_they_are(where):
    text, expected = (source.replace(where, f"\x0c{where}", 1) for source in (SITE, NEW_SITE))
    if where == "import tensorflow":  # the import of the bridge comes before it
        expected = f"\x0c{NEW_SITE}"
    assert compiles(text)
    assert migrated(text) in (expected.encode(), NEW_SITE.replace(where, f"\x0c{where}", 1).encode())


@pytest.mark.parametrize("where", ["    with", "            session"])
def test_a_form_feed_inside_the_indentation_stays_or_fails_by_name(where):
    text, expected = (source.replace(where, f"\x0c{where}", 1) for source in (SITE, NEW_SITE))
    assert compiles(text)
    result, new = migrate_bytes("x.py", text.encode(), Settings())
    assert new == expected.encode() or (result.status == "failed" and "line" in result.reason)


def test_tabs_trailing_blanks_and_odd_spacing_stay():
    text = (
        SITE
        + "def  g( a ,b ) :\n\tif a  :\n\t\treturn[ a,b ]   \n\telse :\n\t        return ( a\n,b\n)\t\n;".rstrip(
            ";"
        )
    )
    assert migrated(text) == text.replace(SITE, NEW_SITE).encode()


BROKEN = {
    "NUL": b"import tensorflow as tf\nx = '\0'\n",
    "a surrogate": b"import tensorflow as tf\nx = '\xed\xa0\x80'\n",
    "bytes that are no UTF-8": b"import tensorflow as tf\nx = '\xff'\n",
    "an unknown cookie": b"# coding: klingon\nimport tensorflow as tf\n",
    "a cookie that is no text codec": b"# coding: rot13\nimport tensorflow as tf\n",
    "a cookie for hex": b"# coding: hex\nimport tensorflow as tf\n",
    "two marks": codecs.BOM_UTF8 * 2 + b"import tensorflow as tf\n",
    "a syntax error": b"import tensorflow as tf\nx = = 1\n",
    "Python 2": b"import tensorflow as tf\nprint 'x'\n",
    "Python 2's except": b"import tensorflow as tf\ntry:\n  pass\nexcept E, e:\n  pass\n",
    "an open bracket": b"import tensorflow as tf\nx = (\n",
    "an open string": b"import tensorflow as tf\nx = '''\n",
    "tabs against blanks": b"import tensorflow as tf\nif 1:\n\tx\n        y\n",
    "a merge conflict": b"import tensorflow as tf\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n",
    "a thousand brackets": b"import tensorflow as tf\nx = " + b"(" * 1000 + b")" * 1000 + b"\n",
    "a hundred blocks": b"import tensorflow as tf\n"
    + b"".join(b" " * n + b"if x:\n" for n in range(120))
    + b" " * 120
    + b"x\n",
    "a hundred thousand minuses": b"import tensorflow as tf\nx = " + b"-" * 100_000 + b"1\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_is_not_python_fails_with_a_reason_and_is_never_no_findings_alone(data):
    result, new = migrate_bytes("x.py", data, Settings())
    assert new is None
    assert result.status == "failed"
    assert result.reason
    assert "internal" not in result.reason


DEEP = {
    "a sum of a thousand terms": " + ".join(["x"] * 1000),
    "a hundred brackets": "(" * 100 + "x" + ")" * 100,
    "ninety lists": "[" * 90 + "x" + "]" * 90,
    "a chain of three hundred calls": "x" + ".f()" * 300,
    "a comparison of a thousand": " < ".join(["x"] * 1000),
    "a string of a megabyte": repr("a" * 1_000_000),
    "a thousand strings": " ".join(["'x'"] * 1000),
    "a list of ten thousand": "[" + "1, " * 10_000 + "]",
    "a condition of two hundred": " if x else ".join(["x"] * 200),
    "eighty lambdas": "lambda: " * 80 + "x",
}


def test_a_cookie_that_contradicts_the_mark_fails_as_it_does_in_python():
    data = codecs.BOM_UTF8 + b"# coding: latin-1\nimport tensorflow as tf\n"
    assert migrate_bytes("x.py", data, Settings())[0].status == "failed"


def through_a_worker(folder, text):
    """The result and the text after a worker has had a file, on its deep stack."""
    path = folder / "x.py"
    path.write_text(text)
    (result,) = workers.run([Found(str(path))], workers.Job(Settings(), write=True))
    return result, path.read_text()


@pytest.mark.parametrize("expression", DEEP.values(), ids=DEEP)
def test_what_is_deep_or_long_is_migrated_all_the_same(tmp_path, expression):
    text = f"{SITE}\nx = 1\ny = {expression}\n"
    result, new = through_a_worker(tmp_path, text)
    assert result.status == "changed", result.reason
    assert new == text.replace(SITE, NEW_SITE)


@pytest.mark.parametrize("expression", DEEP.values(), ids=DEEP)
def test_a_site_inside_what_is_deep_is_migrated_or_fails_by_name(tmp_path, expression):
    text = f"import tensorflow as tf\nx = tf.train.MonitoredTrainingSession()\ny = {expression}, tf.train.MonitoredTrainingSession()\n"
    result, new = through_a_worker(tmp_path, text)
    if result.status == "failed":
        assert result.reason
        assert new == text
    else:
        assert new.endswith(f"\ny = {expression}, bridge.MonitoredTrainingSession()\n")


def test_a_block_nested_as_deep_as_python_allows_is_migrated(tmp_path):
    blocks = "".join(f"{' ' * depth}if x:\n" for depth in range(95))
    text = f"{SITE}x = 1\n{blocks}{' ' * 95}x\n"
    assert compiles(text)
    assert through_a_worker(tmp_path, text)[1] == text.replace(SITE, NEW_SITE)


def test_an_elif_chain_of_a_thousand_is_migrated(tmp_path):
    text = f"{SITE}x = 1\nif x == 0:\n    pass\n" + "".join(
        f"elif x == {n}:\n    pass\n" for n in range(1000)
    )
    assert through_a_worker(tmp_path, text)[1] == text.replace(SITE, NEW_SITE)


def test_a_file_of_twenty_thousand_lines_differs_at_its_sites_only():
    filler = "".join(
        f"def f{number}(a, b):\n    '''Doc.'''\n    c = a + b * {number}  # x\n    return [c, a]\n"
        for number in range(5000)
    )
    text = SITE + filler + SITE.split("\n", 2)[2].replace("train(", "again(") + filler
    assert text.count("\n") > 20_000 * 2 - 100
    expected = NEW_SITE + filler
    new = migrated(text).decode()
    assert new.startswith(expected)
    assert new.endswith(filler)
    assert new.count("tf.train.MonitoredTrainingSession") == 0


# ---------------------------------------------------------------------------------------------------------------------
# The command

DROP = """
import ctypes, os, sys
prctl = ctypes.CDLL(None, use_errno=True).prctl
for capability in (1, 2):  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: then file modes count for root too
    if prctl(24, capability, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
os.execv(sys.argv[1], sys.argv[1:])
"""

LIMIT = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
os.execv(sys.argv[2], sys.argv[2:])
"""


class Ran:
    """What the command said and did."""

    def __init__(self, code, out, err):
        self.code = code
        self.out = out.decode("utf-8", "surrogateescape")
        self.err = err.decode("utf-8", "surrogateescape")
        assert "Traceback" not in self.err, self.err

    @property
    def files(self):
        """Results by path, of a run with the JSON format."""
        return {os.path.normpath(file["path"]): file for file in json.loads(self.out)["files"]}

    @property
    def statuses(self):
        return {path: file["status"] for path, file in self.files.items()}


def run(folder, *arguments, patch="", before=(), stdin=b"", fmt="json", command="migrate"):
    """Runs the command in a folder; `patch` is Python that each of its processes runs first."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    if patch:
        hooks = folder.parent / f"{folder.name}-patch"
        hooks.mkdir(exist_ok=True)
        (hooks / "sitecustomize.py").write_text(patch)
        environment["PYTHONPATH"] = f"{hooks}{os.pathsep}{ROOT}"
    chosen = ["--output-format", fmt] if fmt else []
    line = [*before, sys.executable, "-m", "codemod", command, *chosen, *arguments]
    process = subprocess.Popen(
        line,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(stdin, timeout=300)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        pytest.fail("the command, or a process that it started, did not end")
    return Ran(process.returncode, out, err)


def as_a_user():
    """What to put before a command so that file modes count, though the tests may run as root."""
    if os.geteuid() != 0:
        return ()
    if not sys.platform.startswith("linux"):
        pytest.skip("root can read and write everything here")
    return (sys.executable, "-c", DROP)


@pytest.fixture
def tree(tmp_path):
    """A folder with two files to migrate and one to leave."""
    folder = tmp_path / "tree"
    folder.mkdir()
    for name in ("a.py", "z.py"):
        (folder / name).write_text(SITE)
    (folder / "none.py").write_text("x = 1\n")
    return folder


def assert_clean(folder):
    """No temporary file is left."""
    left = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".ipynb") and ".git" not in path.parts
    ]
    assert left == []


def test_the_ordinary_run(tree):
    ran = run(tree, ".")
    assert ran.statuses == {"a.py": "changed", "none.py": "unchanged", "z.py": "changed"}
    assert (tree / "a.py").read_text() == NEW_SITE
    assert run(tree, ".").statuses == dict.fromkeys(("a.py", "none.py", "z.py"), "unchanged")
    assert_clean(tree)


def test_a_file_has_one_name_however_it_is_found(tree):
    for paths in (["."], ["a.py", "."], ["./a.py", "z.py", "none.py"]):
        files = json.loads(run(tree, "--check", *paths).out)["files"]
        assert [file["path"] for file in files] == ["a.py", "none.py", "z.py"]


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_named_and_the_others_are_done(tree, data):
    (tree / "m.py").write_bytes(data)
    ran = run(tree, ".")
    assert ran.code == 2
    assert ran.statuses == {"a.py": "changed", "m.py": "failed", "none.py": "unchanged", "z.py": "changed"}
    assert (tree / "m.py").read_bytes() == data
    assert (tree / "z.py").read_text() == NEW_SITE
    assert "m.py" in run(tree, ".", fmt="text").err


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o664])
def test_the_mode_of_a_file_stays(tree, mode):
    (tree / "a.py").chmod(mode)
    run(tree, ".")
    assert (tree / "a.py").read_text() == NEW_SITE
    assert stat.S_IMODE((tree / "a.py").stat().st_mode) == mode


def test_a_file_without_a_change_is_not_even_rewritten(tree):
    before = (tree / "none.py").stat()
    run(tree, ".")
    after = (tree / "none.py").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_an_unreadable_file_is_named_and_the_others_are_done(tree):
    (tree / "m.py").write_text(SITE)
    (tree / "m.py").chmod(0)
    ran = run(tree, ".", before=as_a_user())
    assert ran.code == 2
    assert ran.statuses["m.py"] == "failed"
    assert "ermission" in ran.files["m.py"]["reason"]
    assert ran.statuses["a.py"] == ran.statuses["z.py"] == "changed"
    (tree / "m.py").chmod(0o644)
    assert (tree / "m.py").read_text() == SITE


def test_an_unreadable_folder_is_named_and_the_others_are_done(tree):
    (tree / "locked").mkdir()
    (tree / "locked" / "m.py").write_text(SITE)
    (tree / "locked").chmod(0)
    ran = run(tree, ".", before=as_a_user())
    (tree / "locked").chmod(0o755)
    assert ran.code == 2
    assert "locked" in ran.out
    assert ran.statuses["a.py"] == "changed"


def test_a_read_only_file_is_left_alone_and_named(tree):
    (tree / "m.py").write_text(SITE)
    (tree / "m.py").chmod(0o444)
    ran = run(tree, ".", before=as_a_user())
    assert ran.code == 2
    assert ran.statuses["m.py"] == "failed"
    assert (tree / "m.py").read_text() == SITE
    assert stat.S_IMODE((tree / "m.py").stat().st_mode) == 0o444
    assert ran.statuses["z.py"] == "changed"
    assert_clean(tree)


def test_a_read_only_file_with_nothing_to_change_is_no_failure(tree):
    (tree / "none.py").chmod(0o444)
    assert run(tree, ".", before=as_a_user()).statuses["none.py"] == "unchanged"


def test_a_file_in_a_read_only_folder_is_left_alone_and_named(tree):
    (tree / "locked").mkdir()
    (tree / "locked" / "m.py").write_text(SITE)
    (tree / "locked").chmod(0o555)
    ran = run(tree, ".", before=as_a_user())
    (tree / "locked").chmod(0o755)
    assert ran.code == 2
    assert ran.statuses["locked/m.py"] == "failed"
    assert (tree / "locked" / "m.py").read_text() == SITE
    assert_clean(tree)


def test_folders_called_like_files_are_folders(tree):
    (tree / "dir.py").mkdir()
    (tree / "dir.py" / "inner.py").write_text(SITE)
    (tree / "empty.ipynb").mkdir()
    ran = run(tree, ".")
    assert ran.statuses["dir.py/inner.py"] == "changed"
    assert "dir.py" not in ran.statuses
    assert "empty.ipynb" not in ran.statuses
    assert run(tree, "dir.py").code == 0 or ran.code == 1


def test_a_link_out_of_the_tree_is_not_followed(tree):
    outside = tree.parent / "outside"
    outside.mkdir()
    (outside / "real.py").write_text(SITE)
    (tree / "link.py").symlink_to(outside / "real.py")
    (tree / "folder").symlink_to(outside)
    ran = run(tree, ".")
    assert (outside / "real.py").read_text() == SITE
    assert (tree / "link.py").is_symlink()
    assert "changed" not in {
        status for path, status in ran.statuses.items() if "link" in path or "folder" in path
    }
    assert ran.statuses["z.py"] == "changed"


def test_a_link_that_is_asked_for_by_name_changes_its_target_and_stays_a_link(tree):
    outside = tree.parent / "outside"
    outside.mkdir()
    (outside / "real.py").write_text(SITE)
    (tree / "link.py").symlink_to(outside / "real.py")
    run(tree, "link.py")
    assert (outside / "real.py").read_text() == NEW_SITE
    assert (tree / "link.py").is_symlink()
    assert_clean(outside)


def test_links_in_circles_and_to_nowhere_end(tree):
    (tree / "round").symlink_to(tree, target_is_directory=True)
    (tree / "a-link.py").symlink_to("a.py")
    (tree / "self.py").symlink_to("self.py")
    (tree / "nowhere.py").symlink_to("gone/away.py")
    ran = run(tree, ".")
    assert sorted(path for path, status in ran.statuses.items() if status == "changed") == ["a.py", "z.py"]
    assert (tree / "a.py").read_text() == NEW_SITE
    assert (tree / "a-link.py").is_symlink()


def test_a_file_that_is_named_twice_is_done_once(tree):
    ran = run(tree, "a.py", "./a.py", str(tree / "a.py"), ".")
    assert len(json.loads(ran.out)["files"]) == 3
    assert (tree / "a.py").read_text() == NEW_SITE


def test_a_named_pipe_is_not_waited_for(tree):
    os.mkfifo(tree / "pipe.py")
    ran = run(tree, ".")
    assert ran.statuses.get("pipe.py") != "changed"
    assert ran.statuses["z.py"] == "changed"


def test_a_path_that_does_not_exist_is_named(tree):
    ran = run(tree, "a.py", "gone.py", fmt="text")
    assert ran.code == 2
    assert "gone.py" in ran.err


@pytest.mark.parametrize(
    "name",
    [
        "a b.py",
        "ä.py",
        "-x.py",
        "a\nb.py",
        "a'b\".py",
        "$(x).py",
        "\udcff.py",
        "x" * 250 + ".py",
    ],
)
def test_any_name_is_migrated_and_its_diff_applies(tree, name):
    try:
        (tree / name).write_text(SITE)
    except OSError:
        pytest.skip("this file system cannot name the file")
    diff = run(tree, "--diff", ".", fmt="")
    assert diff.code == 1
    assert run(tree, ".").statuses[name] == "changed"
    assert (tree / name).read_text() == NEW_SITE
    if shutil.which("git"):
        copy = tree.parent / "copy"
        copy.mkdir()
        for path in tree.iterdir():
            (copy / path.name).write_text(SITE if path.name != "none.py" else "x = 1\n")
        data = diff.out.encode("utf-8", "surrogateescape")
        subprocess.run(["git", "apply", "-"], cwd=copy, input=data, check=True, timeout=60)
        assert (copy / name).read_text() == NEW_SITE


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_diff_of_the_command_applies_in_any_encoding(tmp_path, encoding, ends):
    head = "" if encoding.startswith("utf") else "# coding: latin-1\n"
    text = f"{head}{SITE}# é"
    (tmp_path / "x.py").write_bytes(text.replace("\n", ends).encode(encoding))
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    line = [sys.executable, "-m", "codemod", "migrate", "--diff", "x.py"]
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=done.stdout, check=True, timeout=60)
    assert (tmp_path / "x.py").read_bytes() == text.replace(SITE, NEW_SITE).replace("\n", ends).encode(
        encoding
    )


def test_standard_input_keeps_its_bytes():
    data = codecs.BOM_UTF8 + SITE.replace("\n", "\r\n").encode()
    ran = run(ROOT, "-", stdin=data, fmt="")
    assert (
        ran.out.encode("utf-8", "surrogateescape")
        == codecs.BOM_UTF8 + NEW_SITE.replace("\n", "\r\n").encode()
    )


def test_standard_input_that_is_broken_comes_out_as_it_was():
    ran = run(ROOT, "-", "--stdin-filename", "some/name.py", stdin=BROKEN["NUL"], fmt="")
    assert ran.code == 2
    assert ran.out.encode() in (b"", BROKEN["NUL"])
    assert "some/name.py" in ran.err


# ---------------------------------------------------------------------------------------------------------------------
# What dies on the way

DIE_MID_FILE = """
import codemod.migrate, os, signal
real = codemod.migrate.migrate_bytes
def migrate_bytes(path, *rest, **more):
    if os.path.basename(path) == "m.py":
        os.kill(os.getpid(), signal.{signal})
    return real(path, *rest, **more)
codemod.migrate.migrate_bytes = migrate_bytes
"""


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV"])
def test_a_worker_that_dies_fails_its_file_and_no_other(tree, name):
    for file in ("m.py", "n.py", "o.py"):
        (tree / file).write_text(SITE)
    ran = run(tree, "-j", "2", ".", patch=DIE_MID_FILE.format(signal=name))
    assert ran.code == 2
    assert ran.statuses == {
        "a.py": "changed",
        "m.py": "failed",
        "n.py": "changed",
        "none.py": "unchanged",
        "o.py": "changed",
        "z.py": "changed",
    }
    assert (tree / "m.py").read_text() == SITE
    assert ran.files["m.py"]["reason"]


RAISE = """
import codemod.migrate
real = codemod.migrate.migrate_bytes
def migrate_bytes(path, *rest, **more):
    if path.endswith("m.py"):
        raise {error}
    return real(path, *rest, **more)
codemod.migrate.migrate_bytes = migrate_bytes
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    "error", ["RuntimeError('a bug')", "RecursionError()", "MemoryError()", "AssertionError()"]
)
def test_a_bug_in_a_rule_fails_its_file_and_no_other(tree, error, jobs):
    (tree / "m.py").write_text(SITE)
    ran = run(tree, "-j", jobs, ".", patch=RAISE.format(error=error))
    assert ran.code == 2
    assert ran.statuses == {"a.py": "changed", "m.py": "failed", "none.py": "unchanged", "z.py": "changed"}
    assert ran.files["m.py"]["reason"]


DIE_WRITING = """
import functools, os, signal
replace, command = os.replace, os.getpid()
def die(*args, **more):
    if {after}:
        replace(*args, **more)
    os.kill(command, signal.SIGKILL)
    if os.getpid() != command:
        replace(*args, **more)
os.replace = functools.partial(die)  # Python 3.10's pathlib would make a method of a function.
"""


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_command_killed_while_it_writes_leaves_each_file_old_or_new_and_no_process(tree, jobs, after):
    for number in range(30):
        (tree / f"m{number}.py").write_text(SITE)
    # All that the command has started holds its output open: the run would not end before they do.
    done = run(tree, "-j", jobs, ".", patch=DIE_WRITING.format(after=after), fmt="text")
    assert done.code == -9
    assert {path.read_text() for path in tree.glob("[amz]*.py")} <= {SITE, NEW_SITE}
    assert (tree / "none.py").read_text() == "x = 1\n"
    again = run(tree, ".")
    assert set(again.statuses.values()) <= {"changed", "unchanged"}
    assert {path.read_text() for path in tree.glob("[amz]*.py")} == {NEW_SITE}


FULL = SITE + "# filler\n" * 20_000


def assert_full_disk(ran, folder):
    assert ran.code == 2
    assert ran.statuses["m.py"] == "failed"
    assert ran.files["m.py"]["reason"]
    assert (folder / "m.py").read_text() == FULL
    assert (folder / "a.py").read_text() == NEW_SITE
    assert_clean(folder)


def test_a_file_that_may_not_grow_is_left_as_it_was(tree):
    (tree / "m.py").write_text(FULL)
    limit = (sys.executable, "-c", LIMIT, str(len(FULL) // 2))
    assert_full_disk(run(tree, ".", before=limit), tree)


def test_a_full_disk_loses_nothing(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 or libc.mount(
        b"tmpfs", os.fsencode(folder), b"tmpfs", 0, f"size={len(FULL) + 40_000}".encode()
    ):
        pytest.skip("no file system of one's own can be mounted here")
    try:
        (folder / "a.py").write_text(SITE)
        (folder / "m.py").write_text(FULL)
        assert_full_disk(run(folder, "."), folder)
    finally:
        libc.umount(os.fsencode(folder))


def test_a_file_that_vanishes_is_named(tree):
    patch = f"""
import os, pathlib
real = pathlib.Path.read_bytes
def read_bytes(self):
    if self.name == "a.py":
        os.unlink({str(tree / "z.py")!r}) if os.path.exists({str(tree / "z.py")!r}) else None
    return real(self)
pathlib.Path.read_bytes = read_bytes
"""
    ran = run(tree, "-j", "1", ".", patch=patch)
    assert ran.statuses["a.py"] == "changed"
    if not (tree / "z.py").exists():
        assert ran.code == 2
        assert ran.statuses["z.py"] == "failed"


INTERRUPT = """
import codemod.migrate, os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background jobs start with it ignored.
real, command = codemod.migrate.migrate_bytes, os.getpid()
def migrate_bytes(path, *rest, **more):
    if path.endswith("m.py"):
        os.kill(command, signal.SIGINT)
    return real(path, *rest, **more)
codemod.migrate.migrate_bytes = migrate_bytes
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_the_run_with_a_message_and_whole_files(tree, jobs):
    for number in range(30):
        (tree / f"n{number}.py").write_text(SITE)
    (tree / "m.py").write_text(SITE)
    ran = run(tree, "-j", jobs, ".", patch=INTERRUPT, fmt="text")
    assert ran.code == 2
    assert "interrupted" in ran.err
    assert {path.read_text() for path in tree.glob("[amnz]*.py")} <= {SITE, NEW_SITE, "x = 1\n"}
    assert_clean(tree)


# ---------------------------------------------------------------------------------------------------------------------
# Notebooks


def notebook(*cells):
    data = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(keepends=True)}
        for cell in cells
    ]
    return json.dumps(
        {"cells": data, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False
    )


def test_a_notebook_is_migrated_as_one_module_and_nothing_else_of_it_changes():
    site = SITE.split("\n", 2)[2].lstrip("\n")
    cells = [
        "%matplotlib inline\n!pip install x",
        "import tensorflow as tf\n",
        site,
        "x = !ls\n%time train(1, 2)",
        "%%bash\nls",
    ]
    result, new = migrate_bytes("n.ipynb", notebook(*cells).encode(), Settings())
    assert result.status == "changed", result.reason
    sources = ["".join(cell["source"]) for cell in json.loads(new)["cells"]]
    head, tail = NEW_SITE.split("\n\n\n", 1)
    assert sources == [cells[0], head + "\n", tail, *cells[3:]] or "".join(sources).count("bridge") >= 1
    assert [sources[0], *sources[3:]] == [cells[0], *cells[3:]]
    assert migrate_bytes("n.ipynb", new, Settings())[1] is None


def test_an_error_in_a_notebook_names_the_cell_and_no_line_of_the_file():
    result, new = migrate_bytes("n.ipynb", notebook("import tensorflow", "x = 1\ny = ").encode(), Settings())
    assert new is None
    assert result.status == "failed"
    assert "cell 2, line 2" in result.reason
    assert (result.line, result.column) == (0, 0)


def test_findings_in_a_notebook_are_placed_in_their_cells():
    result, _ = migrate_bytes(
        "n.ipynb", notebook("import tensorflow as tf", "!ls\n\ntf.contrib.nowhere.x()").encode(), Settings()
    )
    places = {(finding.cell, finding.line) for finding in result.findings}
    assert (2, 3) in places
    assert places <= {(1, 1), (2, 3)}


def test_a_cell_that_is_not_read_is_told_if_it_mentions_tensorflow():
    result, _ = migrate_bytes(
        "n.ipynb",
        notebook("x = 1", "%%writefile train.py\nimport tensorflow as tf\n", "%%bash\nls").encode(),
        Settings(),
    )
    assert [finding.cell for finding in result.findings] == [2]


def test_a_broken_notebook_fails_by_name(tree):
    (tree / "n.ipynb").write_text('{"cells": [tensorflow')
    ran = run(tree, ".")
    assert ran.code == 2
    assert ran.statuses["n.ipynb"] == "failed"
    assert (tree / "n.ipynb").read_text() == '{"cells": [tensorflow'


def test_reports_of_a_hostile_tree_are_written(tree):
    for index, data in enumerate(BROKEN.values()):
        (tree / f"m{index}.py").write_bytes(data)
    (tree / "<script>&\x1b[31m.py").write_text(SITE)
    for fmt in ("sarif", "github", "json", "text"):
        ran = run(tree, "--diff" if fmt == "text" else "--check", ".", fmt=fmt)
        assert ran.code == 2
    page = tree.parent / "report.html"
    ran = run(tree, "--report", str(page), ".", fmt="text")
    assert ran.code == 2
    text = page.read_text("utf-8")
    assert "\x1b" not in text
    assert "m3.py" in text
    assert io.StringIO(text).readline().strip() in ("", "<!doctype html>")
