"""A notebook goes through as one module, and only the changed cells' sources differ afterwards."""

from __future__ import annotations

import ast
import json
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codemod.notebook import NotebookError, read


def notebook(*sources, indent=1, as_list=True, **extra):
    """The text of a notebook whose code cells have these sources, as Jupyter writes it."""
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": source.splitlines(keepends=True) if as_list else source,
        }
        for source in sources
    ]
    data = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **extra}
    return json.dumps(data, indent=indent, ensure_ascii=False) + "\n"


def sources(text):
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]


def migrated(text, old, new):
    """The text after a migration that replaces one piece of code by another, everywhere."""
    book = read(text)
    assert old in book.code
    return book.replaced(book.code.replace(old, new))


def code_or_cell(book):
    """The module of a notebook, or the number of the cell that keeps it from being one."""
    try:
        return book.code, None
    except NotebookError as error:
        return None, error.cell


MAGICS = [
    "%matplotlib inline",
    "!pip install tensorflow==1.15",
    "!!ls",
    "%time f()",
    "%time x = f()",
    "%timeit -n 10 -r 3 f()",
    "%time for i in range(3): f()",
    "%env TF_CPP_MIN_LOG_LEVEL=3",
    "x = !ls",
    "x = !ls $HOME | grep '('",
    "x, y = !ls",
    "a.b = !ls",
    "a['k'] = %time f()",
    "x = %time f()",
    "files = %sx ls",
    "print?",
    "tf.train.Saver??",
    "?tf.train.Saver",
    "??print",
    "%time?",
    "tf.*Saver*?",
    "!ls \\\n  -la \\\n  /tmp",
    "%run train.py \\\n  --steps 3",
    "x = !ls \\\n  -la",
    "if True:\n    !ls",
    "if True:\n    %cd /tmp\nelse:\n    x = !ls",
    "for i in range(3):\n\t!echo {i}\n",
    "def f():\n    out = !ls \\\n      -l\n    return out",
    "/f 1 2",
    ",f a b",
    ";f a b",
    "a = '''\n!no magic\n%none\n'''\n!ls",
    "a = (1\n     % 2)\n!ls",
    "a = [\n  # a comment (\n  1]\n!ls",
    "a = 1 \\\n  % 2\n!ls",
    'a = "\\"%"; b = "#"\n!ls',
    "a = 1  # why?\n!ls",
    "a = b'x'; a != b''\n!ls != x",
    "a %= 3\n!ls",
    "!ls\r\na = 1\r\nx = !ls \\\r\n  -l\r\n",
    "   \n\n  \t\n!ls",
    "!ls\n\n\n",
    "!echo 'unclosed (\na = 1",
    "from __future__ import annotations",
    "x = 1\nfrom __future__ import (\n    annotations,\n    division,  # both\n)\n",
    "",
    "\n",
    "# only a comment",
    "\x0ca = 1\n!ls\n",
    "await f()\n!ls",
]


@pytest.mark.parametrize("source", MAGICS)
def test_what_only_ipython_understands_survives_a_change_of_its_neighbours(source):
    text = notebook("import tensorflow as tf", source + "\n" + "marker_ = 1", source, "tf.x")
    book = read(text)
    ast.parse(book.code)
    new = book.replaced(book.code.replace("marker_ = 1", "other = 2\nmore = 3").replace("tf.x", "tf.y"))
    assert sources(new) == ["import tensorflow as tf", source + "\nother = 2\nmore = 3", source, "tf.y"]


@pytest.mark.parametrize("source", MAGICS)
def test_a_notebook_in_which_nothing_changes_is_the_same_text(source):
    text = notebook(source, "a = 1", source)
    assert read(text).replaced(read(text).code) is text


@pytest.mark.parametrize("source", MAGICS)
def test_lines_are_those_of_the_cell(source):
    book = read(notebook("a = 1\nb = 2", source, source + "\nhere = 1"))
    line = 1 + book.code[: book.code.index("here = 1")].count("\n")
    assert book.locate(line) == (3, source.count("\n") + 2)


@pytest.mark.parametrize(
    "source",
    [
        "%time tf.old()",
        "%time x = tf.old()",
        "%timeit -n 3 tf.old()",
        "if True:\n    %prun tf.old()",
        "%time f(tf.old, \\\n  1)",
    ],
)
def test_the_statement_behind_a_timing_magic_is_migrated(source):
    new = migrated(notebook("a = 1", source), "tf.old", "tf.compat.v1.new")
    assert sources(new) == ["a = 1", source.replace("tf.old", "tf.compat.v1.new")]


def test_columns_behind_a_timing_magic_are_those_of_the_cell():
    source = "if True:\n    %time tf.old()"
    book = read(notebook("a = 1", source))
    lines = book.code.split("\n")
    line = next(number for number, text in enumerate(lines, 1) if "tf.old" in text)
    assert book.locate(line) == (2, 2)
    assert book.column(line, lines[line - 1].index("tf.old") + 1) == source.split("\n")[1].index("tf.old") + 1
    assert book.column(line - 1, 3) == 3


def test_a_timed_statement_that_would_outgrow_its_line_is_refused_with_the_way_out():
    book = read(notebook("%matplotlib inline", "a = 1\n%time tf.old()"))
    with pytest.raises(NotebookError, match=r"cell 2, line 2: .*`%%time`"):
        book.replaced(book.code.replace("tf.old()", "tf.new(\n    1)"))


@pytest.mark.parametrize("head", ["%%time\n", "%%capture out\n", "\n%%timeit -n 1\n", "%%time\n%%capture\n"])
def test_python_under_a_cell_magic_is_migrated_and_the_magic_stays_first(head):
    text = notebook(head + "import old\nold.f()", "old.g()")
    book = read(text)
    assert "%%" not in book.code
    assert sources(book.replaced("import more\n" + book.code.replace("old", "new"))) == [
        head + "import more\nimport new\nnew.f()",
        "new.g()",
    ]
    assert book.locate(2) == (1, head.count("\n") + 2)


@pytest.mark.parametrize(
    "head",
    [
        "%%bash",
        "%%writefile train.py",
        "%%html",
        "%%!",
        "%%javascript",
        "%%time\n%%bash",
        "%%script python2 -u",
    ],
)
def test_cells_of_another_language_are_not_read_and_named(head):
    source = f"{head}\nold.f( 'x"
    book = read(notebook("old.f()", source, "old.g()"))
    assert [(number, text) for number, _, text in book.opaque] == [(2, source)]
    assert sources(book.replaced(book.code.replace("old", "new"))) == ["new.f()", source, "new.g()"]


def test_markdown_and_raw_cells_are_not_touched_and_count_for_the_numbers():
    data = json.loads(notebook("old", "old)"))
    data["cells"].insert(0, {"cell_type": "markdown", "metadata": {}, "source": ["old"]})
    data["cells"].insert(1, {"cell_type": "raw", "metadata": {}, "source": "old"})
    with pytest.raises(NotebookError, match="cell 4, line 1, column 4"):
        _ = read(json.dumps(data)).code
    data["cells"].pop()
    new = migrated(json.dumps(data), "old", "new")
    assert sources(new) == ["old", "old", "new"]


@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
@pytest.mark.parametrize("as_list", [True, False])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_the_source_of_the_changed_cell_differs(indent, as_list, newline):
    text = notebook("a = 1\nold()\nb = 2\n", "c = 'é\\u2028'\n", indent=indent, as_list=as_list).replace(
        "\n", newline
    )
    new = migrated(text, "old()", "new()")
    assert new == text.replace("old()", "new()")


def test_lines_that_are_added_take_the_layout_of_the_list():
    text = notebook("import a\nb = 2")
    new = migrated(text, "import a", "import a\nimport c")
    assert new == text.replace('    "import a\\n",\n', '    "import a\\n",\n    "import c\\n",\n')


def test_lines_that_are_taken_away_leave_the_layout_of_the_list():
    text = notebook("import a\nimport c\nb = 2")
    assert migrated(text, "import c\n", "") == text.replace('    "import c\\n",\n', "")


def test_a_list_of_one_line_grows_in_its_own_layout():
    assert migrated(notebook("old"), "old", "new\nmore") == notebook("new\nmore")
    assert migrated('{"cells":[{"cell_type":"code","source":["old"]}]}', "old", "a\nb") == (
        '{"cells":[{"cell_type":"code","source":["a\\n", "b"]}]}'
    )


def test_key_order_outputs_and_odd_spacing_stay():
    text = """ {"nbformat" : 4,"cells":[ {"source" : [ "old\\n" ,"x" ],"outputs":[{"text":["old"],"n":1e400}],
      "cell_type":"code", "execution_count":null ,"source2":"old"} ] , "metadata":{"b":1,"a":[]}}
    """
    assert migrated(text, "old", "new") == text.replace('[ "old\\n"', '[ "new\\n"')


def test_escapes_of_unchanged_lines_stay_as_they_were_written():
    text = r'{"cells":[{"cell_type":"code","source":["# \u00e9 \/ \u0041\n","old"]}]}'
    assert migrated(text, "old", "new = 'é'") == text.replace('"old"', r'''"new = '\u00e9'"''')


def test_a_lone_surrogate_in_an_output_or_comment_stays_an_escape():
    text = r'{"cells":[{"cell_type":"code","source":["é = 1\n","old"],"outputs":["\ud800"]}]}'
    new = migrated(text, "old", "new")
    assert new == text.replace("old", "new")
    new.encode()


def test_a_lone_surrogate_in_the_code_is_an_error_that_names_the_cell():
    text = r'{"cells":[{"cell_type":"code","source":["a = 1"]},{"cell_type":"code","source":["# \ud800"]}]}'
    with pytest.raises(NotebookError, match=r"^cell 2: not Python: "):
        _ = read(text).code


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("a = 1\nprint 'two'", "cell 2, line 2"),
        ("f(", "cell 2, line 1"),
        ("a = 1 + \\", "cell 2, line 1"),
        ("%%time\na = 1\nb =", "cell 2, line 3"),
        ("!ls\n\nb = )", "cell 2, line 3, column 5"),
        ("'''", "cell 2, line 1"),
        ("a\0b", "cell 2"),
        ("(" * 5000, "cell 2"),
        ("-" * 100_000 + "1", "cell 2"),
    ],
)
def test_a_cell_that_is_not_python_is_named_and_never_joined_with_its_neighbours(source, place):
    book = read(notebook("a = 1", source, ")\n'''"))
    with pytest.raises(NotebookError) as caught:
        _ = book.code
    assert str(caught.value).startswith(place)
    assert caught.value.cell == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "^line 1, column 1: not JSON"),
        ('{"cells":\n [', "^line 2, column 3: not JSON"),
        ("[]", "no notebook"),
        ('{"a": 1}', "no notebook"),
        ('{"cells": [1]}', "a cell is not an object"),
        ('{"cells": [{"cell_type":"code","source":[1]}]}', "cell 1: its source is neither"),
        ('{"cells": [{"cell_type":"code","source":null}]}', "cell 1: its source is neither"),
        ('{"cells": ' + "[" * 100_000, "nested too deeply"),
        ('{"cells": [], "n": ' + "9" * 10_000 + "}", "digits"),
    ],
)
def test_what_is_no_notebook_is_an_error_that_says_so(text, message):
    with pytest.raises(NotebookError, match=message):
        read(text)


@pytest.mark.parametrize(
    "text", ['{"cells": []}', '{"cells": null}', '{"cells": [{"cell_type":"code"}]}', '{"worksheets": []}']
)
def test_a_notebook_without_code_is_an_empty_module(text):
    book = read(text)
    assert book.code == ""
    assert book.replaced("") == text


def test_notebooks_of_version_3_keep_their_code_in_work_sheets():
    text = (
        '{"nbformat":3,"worksheets":[{"cells":[{"cell_type":"code","language":"python","input":["old"]}]}]}'
    )
    assert migrated(text, "old", "new") == text.replace("old", "new")


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"language": "R"}},
        {"language_info": {"name": "julia"}, "kernelspec": {"language": "python"}},
    ],
)
def test_the_code_of_another_kernel_is_not_python(metadata):
    book = read(notebook("x <- 1", metadata=metadata))
    assert book.code == ""
    assert book.language in {"r", "julia"}
    assert [number for number, _, _ in book.opaque] == [1]


@pytest.mark.parametrize("name", ["python", "python3", "Python", "ipython"])
def test_python_has_several_names(name):
    assert read(notebook("a", metadata={"language_info": {"name": name}})).language == "python"


def test_a_cell_may_be_of_another_language_than_its_notebook():
    data = json.loads(notebook("select 1", "old"))
    data["cells"][0]["metadata"] = {"vscode": {"languageId": "sql"}}
    assert sources(migrated(json.dumps(data), "old", "new")) == ["select 1", "new"]


def test_future_lines_of_later_cells_do_not_make_the_module_invalid():
    text = notebook(
        "'''doc'''\nfrom __future__ import annotations\nold", "from __future__ import division\nold"
    )
    book = read(text)
    compile(book.code, "book", "exec")
    assert book.code.startswith("'''doc'''\nfrom __future__ import annotations\n")
    assert sources(book.replaced(book.code.replace("old", "new"))) == [
        "'''doc'''\nfrom __future__ import annotations\nnew",
        "from __future__ import division\nnew",
    ]


def test_a_name_that_looks_like_a_placeholder_is_left_alone():
    text = notebook("_codemod_1_0 = _codemod_cell_2 = 1\n!ls", "_codemod_1_0\nold")
    assert sources(migrated(text, "old", "new")) == [
        "_codemod_1_0 = _codemod_cell_2 = 1\n!ls",
        "_codemod_1_0\nnew",
    ]


def test_more_than_ten_magics_in_a_cell_each_come_back_once():
    source = "\n".join(f"!echo {number}" for number in range(25)) + "\nold"
    assert sources(migrated(notebook(source), "old", "new")) == [source.replace("old", "new")]


@pytest.mark.parametrize("lost", ["_codemod_cell_2\n", "_codemod_1_0", "_codemod_cell_3\n"])
def test_a_migration_that_loses_a_boundary_or_a_magic_writes_nothing(lost):
    book = read(notebook("!ls\na = 1", "b = 1", "c = 1"))
    assert lost in book.code
    for broken in (book.code.replace(lost, ""), book.code.replace(lost, lost + "\n" + lost)):
        with pytest.raises(NotebookError, match="please report this"):
            book.replaced(broken)


def test_cells_may_not_change_places():
    book = read(notebook("a", "b", "c"))
    swapped = book.code.replace("cell_2", "cell_X").replace("cell_3", "cell_2").replace("cell_X", "cell_3")
    with pytest.raises(NotebookError, match="boundary"):
        book.replaced(swapped)


def test_invalid_escapes_in_strings_warn_nobody():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(notebook("a = '\\d'\n!ls")).code


def test_ten_megabytes_of_outputs_are_no_obstacle():
    data = json.loads(notebook("old"))
    data["cells"][0]["outputs"] = [{"data": {"image/png": "iVBORw0KGgo\n" * 900_000}}]
    text = json.dumps(data)
    assert migrated(text, "old", "new") == text.replace('"old"', '"new"')


PYTHON_LINES = st.sampled_from(
    [
        "old",
        "old()",
        "x = old",
        "# old",
        "s = '''\n!old\n'''",
        "if old:\n    pass",
        "f(old,\n  % 2)",
        "d = {'é': old}",
        "\x0c",
        "",
        "    ",
    ]
)
LINES = st.one_of(st.sampled_from([magic for magic in MAGICS if "unclosed" not in magic]), PYTHON_LINES)


@given(
    st.lists(st.lists(LINES, max_size=6).map("\n".join), max_size=5),
    st.sampled_from([None, 1, 4]),
    st.booleans(),
)
@example(["old\n", "!ls \\", "old"], 1, True)
@example(["\x0c\nold"], 1, True)
def test_any_mixture_of_python_and_magics_reads_back(cells, indent, as_list):
    book = read(notebook(*cells, indent=indent, as_list=as_list))
    code, cell = code_or_cell(book)
    if code is None:
        assert 1 <= cell <= len(cells)
        return
    ast.parse(code)
    new = book.replaced(code.replace("old", "newer"))
    # What is behind an exclamation mark in a string is Python; nothing else that holds "old" is a magic here.
    assert sources(new) == [cell.replace("old", "newer") for cell in cells]
    assert new == notebook(*[cell.replace("old", "newer") for cell in cells], indent=indent, as_list=as_list)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["", "%%time\n", "!ls\n"]))
def test_any_text_in_a_cell_is_read_back_or_refused(source, head):
    text = notebook("a = 1", head + source)
    book = read(text)
    code, cell = code_or_cell(book)
    if code is None:
        assert cell == 2
        return
    assert sources(book.replaced(code.replace("a = 1", "b = 2", 1))) == ["b = 2", head + source]
