"""The report for a browser: complete, self-contained, escaped, and readable in a real browser, by day and by night."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
import struct

import pytest

from codemod.report import html as report_html
from codemod.report import render
from codemod.results import FileResult, RunResult
from tests.codemod.report import browser
from tests.codemod.report.samples import HOSTILE, PAGES, changed, finding, hostile, huge, ordinary

GUIDE = "https://example.org/guide/rules/{code}.html"


class Page(html.parser.HTMLParser):
    """What a browser's parser would see: elements with their attributes, and the text outside script and style."""

    VOID = frozenset({"meta", "input", "br", "wbr", "col", "link", "img", "hr"})

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self.text = []
        self.open = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    def by_class(self, name):
        return [(tag, attrs) for tag, attrs in self.elements if name in (attrs.get("class") or "").split()]


@pytest.mark.parametrize(
    "result",
    [ordinary(), hostile(), RunResult(), huge(200, 20)],
    ids=["ordinary", "hostile", "empty", "huge"],
)
def test_every_element_that_opens_closes_and_ids_are_unique(result):
    page = Page(render("html", result, pages=PAGES, guide=GUIDE))
    assert page.open == []
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "result", [ordinary(), hostile(), huge(200, 20)], ids=["ordinary", "hostile", "huge"]
)
def test_links_inside_the_page_lead_somewhere(result):
    page = Page(render("html", result, pages=PAGES, guide=GUIDE))
    ids = {attrs["id"] for _, attrs in page.elements if "id" in attrs}
    inner = [attrs["href"][1:] for attrs in page.all("a") if attrs["href"].startswith("#")]
    assert inner
    assert set(inner) <= ids


def test_nothing_is_fetched():
    text = render("html", ordinary(), pages=PAGES, guide=GUIDE)
    page = Page(text)
    assert not any(
        name in attrs for _, attrs in page.elements for name in ("src", "srcset", "background", "data")
    )
    assert not page.all("link") + page.all("img") + page.all("iframe")
    assert not re.search(r"@import|url\(|fetch\(|XMLHttp|import\(", text)
    (policy,) = [attrs["content"] for attrs in page.all("meta") if "http-equiv" in attrs]
    assert "default-src 'none'" in policy


def test_totals_rules_files_and_findings_are_in_it():
    page = Page(render("html", ordinary(), pages=PAGES, guide=GUIDE))
    text = " ".join(" ".join(page.text).split())
    for part in (
        "Files 5",
        "1 would change",
        "1 failed",
        "Findings 4",
        "2 fixable",
        "1 with --unsafe-fixes",
        "1 by hand",
    ):
        assert part in text
    assert "exit code 2" in text
    assert "not Python: invalid syntax" in text
    assert "generated" in text
    assert "Write it anew" in text
    assert "MonitoredTrainingSession becomes the bridge's" in text
    kinds = [attrs["data-kind"] for tag, attrs in page.by_class("finding")]
    assert kinds == ["fixable", "fixable", "hand", "failed", "skipped", "unsafe"]


def test_findings_link_to_the_rule_the_line_the_guide_and_the_page_that_helps():
    page = Page(render("html", ordinary(), pages=PAGES, guide=GUIDE))
    links = [attrs["href"] for attrs in page.all("a")]
    for link in (
        "#rule-TFB201",
        "#f0-4",
        "#f0",
        "https://example.org/guide/rules/TFB201.html",
        "https://example.org/x",
    ):
        assert link in links


def test_a_rule_page_is_shown_with_its_code():
    text = render("html", ordinary(), pages=PAGES)
    assert "<h4>Why</h4>" in text
    assert "<p>It is <code>gone</code>.</p>" in text
    assert "<pre>x = 1 &lt; 2</pre>" in text


def test_what_is_written_is_called_fixed():
    text = render("html", ordinary(written=True))
    assert 'data-kind="fixed"' in text
    assert 'data-kind="fixable"' not in text
    assert ">changed<" in text


def test_lines_stand_side_by_side_with_the_words_that_differ_marked():
    result = RunResult(files=(changed("a.py", "a = tf.x(1)\nb\n", "import q\na = tf.y(1)\nb\n"),))
    text = render("html", result)
    assert '<td class="del">a = tf.<del>x</del>(1)</td>' in text
    assert '<td class="add">a = tf.<ins>y</ins>(1)</td>' in text
    assert (
        '<td class="no none"></td><td class="none"></td><td class="no add">1</td><td class="add">import q</td>'
        in text
    )


def test_a_notebook_is_shown_by_cells_and_lines():
    def book(line):
        cells = [{"cell_type": "markdown", "source": "t"}, {"cell_type": "code", "source": ["a\n", line]}]
        return json.dumps({"cells": cells})

    found = finding("n.ipynb", 2, cell=2)
    text = render("html", RunResult(files=(changed("n.ipynb", book("old"), book("new"), found),)))
    assert '<td class="no del">2:2</td><td class="del"><del>old</del></td>' in text or (
        '<td class="no del">2:2</td><td class="del">old</td>' in text
    )
    assert '<a href="#f0-2:2">cell 2, 2:5</a>' in text


@pytest.mark.parametrize(
    "broken",
    ["{", "[]", '{"cells": 1}', '{"cells": [1]}', '{"cells": [{"cell_type": "code", "source": [1]}]}'],
)
def test_a_notebook_that_is_none_is_shown_as_text(broken):
    assert "BROKEN" in render("html", RunResult(files=(changed("n.ipynb", broken, broken + "\nBROKEN"),)))


def test_files_without_anything_to_say_are_counted_and_not_listed():
    text = render("html", ordinary())
    assert "src/c.py" not in text
    assert "<b>2</b> unchanged" in text


def test_a_changed_file_whose_text_was_not_kept_says_so():
    assert "is not part of this report" in render("html", RunResult(files=(FileResult("a.py", "changed"),)))


def test_hostile_text_makes_no_element_no_attribute_no_script_and_no_link():
    hostile_pages = {
        "TFB201": f"{HOSTILE}\n\n## {HOSTILE}\n```\n{HOSTILE}\n```\n- {HOSTILE}",
        HOSTILE: HOSTILE,
    }
    text = render("html", hostile(), pages=hostile_pages, title=HOSTILE, guide="https://example.org/{code}")
    text.encode()
    page = Page(text)
    assert len(page.all("script")) == 1
    assert not [attrs for _, attrs in page.elements for name in attrs if name.startswith("on")]
    for attrs in page.all("a"):
        assert re.match(r"#|https://example\.org/[^\"<>]*\Z", attrs["href"])
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    shown = "".join(page.text)
    assert "</script><script>alert(1)</script>" in shown
    assert "{{ 7 * 7 }}" in shown
    assert "\\x1b[31mred" in shown
    assert "\\u202eevil" in shown


def test_the_only_script_is_the_one_that_the_policy_names():
    text = render("html", hostile())
    script = text[text.index("<script>") + len("<script>") : text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text


def test_a_diff_too_large_for_a_page_says_how_much_is_left_out():
    before = "".join(f"a{number}\n" for number in range(report_html.MAX_ROWS_PER_FILE + 500))
    text = render("html", RunResult(files=(changed("a.py", before, before.replace("a", "b")),)))
    assert "500 more lines of this diff" in text
    assert text.count("<del>") + text.count('class="del"') >= report_html.MAX_ROWS_PER_FILE


def test_a_page_has_a_budget_for_all_files(monkeypatch):
    monkeypatch.setattr(report_html, "MAX_ROWS", 10)
    files = tuple(changed(f"{number}.py", "a\n" * 8, "b\n" * 8) for number in range(3))
    text = render("html", RunResult(files=files))
    assert "6 more lines of this diff" in text
    assert "8 more lines of this diff" in text


def test_lines_of_any_length_are_shown():
    line = "x = [" + "1, " * 100_000 + "]"
    assert line in render("html", RunResult(files=(changed("a.py", line, line + " # end"),)))


def test_the_same_run_is_the_same_page():
    assert render("html", ordinary(), pages=PAGES) == render("html", ordinary(), pages=PAGES)


# ---------------------------------------------------------------------------------------------------------------------
# In a browser


@pytest.fixture(scope="module")
def chromium():
    if browser.find() is None:
        pytest.skip("no Chromium on this machine")
    with browser.Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    runs = {"ordinary": ordinary(), "hostile": hostile(), "huge": huge()}
    for name, run in runs.items():
        (folder / f"{name}.html").write_text(render("html", run, pages=PAGES, guide=GUIDE), "utf-8")
    return folder


# Relative luminance and contrast as WCAG 2 defines them, of every text against what is painted behind it.
CONTRAST = """
(() => {
  const parse = (color) => (color.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const bad = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || element.closest("script, .sr") || !element.checkVisibility()) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) bad.push([element.className || element.tagName, walk.currentNode.data.slice(0, 20), contrast]);
  }
  return bad;
})()
"""

# Elements that reach out of the page on the right, which a reader would have to scroll to; what a box cuts off does not.
OVERFLOW = """
(() => {
  const right = (element) => {
    let edge = element.getBoundingClientRect().right;
    for (let at = element.parentElement; at; at = at.parentElement)
      if (getComputedStyle(at).overflowX !== "visible") edge = Math.min(edge, at.getBoundingClientRect().right);
    return edge;
  };
  return [...document.querySelectorAll("body *")].filter((element) => element.checkVisibility())
    .filter((element) => right(element) > innerWidth + 1)
    .map((element) => element.tagName + "." + element.className + " " + element.textContent.slice(0, 30)).slice(0, 5);
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 800, 400])
@pytest.mark.parametrize("name", ["ordinary", "hostile"])
def test_it_looks_right_in_a_browser(chromium, pages, tmp_path, name, width, scheme):
    chromium.open(pages / f"{name}.html", width, scheme)
    assert chromium.evaluate(OVERFLOW) == []
    assert chromium.evaluate("document.documentElement.scrollWidth") <= width
    assert chromium.evaluate(CONTRAST) == []
    background = chromium.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background))) > 384) == (scheme == "light")
    assert chromium.evaluate(
        "[...document.querySelectorAll('.diff td')].some((cell) => cell.offsetWidth > 100)"
    )
    image = chromium.screenshot()
    (tmp_path / f"{name}-{width}-{scheme}.png").write_bytes(image)
    assert struct.unpack(">I", image[16:20]) == (width,)
    assert len(image) > 20_000
    assert chromium.problems() == []
    assert [url for url in chromium.requests() if not url.startswith("file:")] == []


def test_hostile_text_runs_nothing_in_a_browser(chromium, pages):
    chromium.open(pages / "hostile.html")
    assert chromium.evaluate("document.scripts.length") == 1
    assert chromium.evaluate("document.querySelectorAll('[onerror], [onclick], iframe, object').length") == 0
    assert not [event for event in chromium.events if event.get("method") == "Page.javascriptDialogOpening"]


SHOWN = "[...document.querySelectorAll('.finding')].filter((row) => row.checkVisibility()).length"
FILES = "[...document.querySelectorAll('.file')].filter((file) => file.checkVisibility()).length"


def fill(chromium, text):
    chromium.evaluate(
        f"(() => {{ const b = document.getElementById('filter'); b.value = {text!r}; b.dispatchEvent(new Event('input')); }})()"
    )


def test_the_filter_leaves_what_matches_path_rule_or_text(chromium, pages):
    chromium.open(pages / "ordinary.html")
    assert (chromium.evaluate(SHOWN), chromium.evaluate(FILES)) == (6, 4)
    for words, expected in [
        ("tfb201", (1, 1)),
        ("A B.PY", (3, 1)),
        ("a b.py gone", (2, 1)),
        ("generated", (1, 1)),
        ("nowhere", (0, 0)),
    ]:
        fill(chromium, words)
        assert (chromium.evaluate(SHOWN), chromium.evaluate(FILES)) == expected, words
    assert chromium.evaluate("document.getElementById('nothing').checkVisibility()")
    fill(chromium, "")
    assert (chromium.evaluate(SHOWN), chromium.evaluate(FILES)) == (6, 4)
    assert chromium.evaluate("document.getElementById('shown').textContent") == ""


def test_kinds_can_be_switched_off(chromium, pages):
    chromium.open(pages / "ordinary.html")
    chromium.evaluate("document.querySelector('input[value=fixable]').click()")
    assert (chromium.evaluate(SHOWN), chromium.evaluate(FILES)) == (4, 4)
    chromium.evaluate("document.querySelector('input[value=failed]').click()")
    assert (
        chromium.evaluate("document.getElementById('shown').textContent") == "3 of 6 entries in 3 of 4 files"
    )


def test_a_link_to_a_line_opens_its_file_whatever_the_filter_hides(chromium, pages):
    chromium.open(pages / "ordinary.html")
    chromium.evaluate("document.getElementById('close').click()")
    fill(chromium, "nowhere")
    chromium.evaluate(
        "new Promise((done) => { addEventListener('hashchange', () => setTimeout(done)); location.hash = '#f0-4'; })"
    )
    assert chromium.evaluate(
        "document.getElementById('f0').open && document.getElementById('f0-4').checkVisibility()"
    )
    assert chromium.evaluate("document.getElementById('filter').value") == ""
    top = chromium.evaluate("document.getElementById('f0-4').getBoundingClientRect().top")
    assert 0 <= top <= 1000


def test_ten_thousand_findings_open_and_filter(chromium, pages):
    chromium.open(pages / "huge.html", 800, "dark")
    assert chromium.evaluate(FILES) == 500
    fill(chromium, "m17.py tfb102")
    chromium.evaluate("document.getElementById('open').click()")
    assert chromium.evaluate(FILES) == 1
    assert chromium.evaluate("document.getElementById('shown').textContent").endswith(
        "of 10,000 entries in 1 of 500 files"
    )
    assert chromium.evaluate(OVERFLOW) == []
    assert chromium.problems() == []
