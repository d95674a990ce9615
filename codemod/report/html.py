"""The report for a browser: one file that needs no network, in which every text is shown and none is obeyed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from codemod.report.lines import hunks
from codemod.report.plain import UNSAFE, counted, escape, is_fixable, visible
from codemod.results import STATUSES, FileResult, Finding, RunResult

# A browser lays out some ten thousand table rows without trouble; what is beyond is counted and left to `--diff`.
MAX_ROWS_PER_FILE = 3_000
MAX_ROWS = 40_000

# Lines longer than this are shown without the words that changed being marked.
_MAX_MARKED = 500

# Pairs of lines in one change that are compared to find which belong side by side.
_MAX_COMPARED = 400

_KINDS = {
    "fixed": "fixed",
    "fixable": "fixable",
    "unsafe": "with --unsafe-fixes",
    "hand": "by hand",
    "failed": "not processed",
    "skipped": "skipped",
}


def render(
    result: RunResult,
    *,
    pages: Mapping[str, str] | None = None,
    guide: str = "",
    title: str = "Migration report",
) -> str:
    """Writes a run as one self-contained HTML page.

    Args:
      result: The run; files whose texts were kept are shown side by side.
      pages: Rule pages by code, in Markdown. They are part of the report, and findings link to them.
      guide: Address of a rule's page in the migration guide, with `{code}` in it; empty for no such links.
      title: The page's heading.

    Returns:
      The page, without any lone surrogate.
    """
    folder = Path(__file__).parent
    script = (folder / "report.js").read_text("utf-8")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
    )
    rows = _Budget(MAX_ROWS)
    labels = {status: str(status) for status in STATUSES} | (
        {} if result.written else {"changed": "would change"}
    )
    return environment.get_template("report.html.j2").render(
        title=title,
        result=result,
        style=Markup((folder / "report.css").read_text("utf-8")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        lines=sum(file.lines for file in result.files),
        statuses=_parts(
            ((status, labels[status], result.count(status)) for status in STATUSES), len(result.files)
        ),
        labels=labels,
        kinds=_kind_parts(result),
        rules=_rules(result, pages or {}, guide),
        ranking=_ranking(result),
        files=[view for index, file in enumerate(result.files) for view in _view(index, file, result, rows)],
        counted=counted,
        breakable=_breakable,
    )


def _shown(value: Any) -> Any:
    """What jinja2 is about to write: markup of ours as it is, any other text without characters that do something."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return UNSAFE.sub(lambda match: escape(match[0]), value)
    return value


# ---------------------------------------------------------------------------------------------------------------------
# Numbers and bars


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a bar."""

    name: str
    label: str
    count: int
    percent: float


def _parts(counts: Iterable[tuple[str, str, int]], total: int) -> list[_Part]:
    return [
        _Part(name, label, count, round(100 * count / total, 3)) for name, label, count in counts if count
    ]


def _kind(finding: Finding, result: RunResult) -> str:
    if finding.fixed and result.written:
        return "fixed"
    if is_fixable(finding, unsafe=False):
        return "fixable"
    return "unsafe" if is_fixable(finding, unsafe=True) else "hand"


def _kinds(findings: Sequence[Finding], result: RunResult, scale: int) -> list[_Part]:
    counts = Counter(_kind(finding, result) for finding in findings)
    return _parts(((kind, label, counts[kind]) for kind, label in _KINDS.items()), scale)


def _kind_parts(result: RunResult) -> list[_Part]:
    """The filter's switches: the kinds of findings, and the files that were not processed."""
    parts = _kinds(result.findings, result, len(result.findings) or 1)
    files = ((status, _KINDS[status], result.count(status)) for status in ("failed", "skipped"))
    return [*parts, *(_Part(name, label, count, 0) for name, label, count in files if count)]


def _ranking(result: RunResult) -> list[tuple[int, FileResult, list[_Part]]]:
    """The files with findings, most of them first: (index, file, bar)."""
    ranked = sorted(
        ((index, file) for index, file in enumerate(result.files) if file.findings),
        key=lambda item: (-len(item[1].findings), item[1].path),
    )
    most = max((len(file.findings) for _, file in ranked), default=1)
    return [(index, file, _kinds(file.findings, result, most)) for index, file in ranked]


# ---------------------------------------------------------------------------------------------------------------------
# Rules


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule that has found something."""

    code: str
    anchor: str
    title: Markup
    body: Markup
    guide: str
    count: int
    parts: list[_Part]


def _rules(result: RunResult, pages: Mapping[str, str], guide: str) -> list[_Rule]:
    counts = result.by_code()
    most = max(counts.values(), default=1)
    by_code: dict[str, list[Finding]] = {code: [] for code in counts}
    for finding in result.findings:
        by_code[finding.code].append(finding)
    rules = []
    for code, findings in by_code.items():
        page = pages.get(code, "").strip() or _page_of(findings)
        title, _, body = page.partition("\n")
        address = _address(guide.replace("{code}", code)) if guide else ""
        parts = _kinds(findings, result, most)
        rules.append(
            _Rule(
                code,
                _anchor(code),
                _inline(title.rstrip(".")),
                _markdown(body),
                address,
                len(findings),
                parts,
            )
        )
    return rules


def _page_of(findings: Sequence[Finding]) -> str:
    """What is known of a rule without a page: what its findings say."""
    first = findings[0]
    return "\n\n".join(
        [visible(first.message), *(visible(part) for part in (first.why, first.remedy) if part)]
    )


def _anchor(code: str) -> str:
    return "rule-" + re.sub(r"[^A-Za-z0-9]", lambda match: f"_{ord(match[0]):x}", code)


def _breakable(path: str) -> Markup:
    """A path, which may go on in the next line behind a slash."""
    return Markup("/<wbr>").join(_code(part) for part in path.split("/"))


def _address(url: str) -> str:
    """A link's address, or nothing: a page of the web is one, a script is none."""
    return url if re.match(r"https?://[^\s\"'<>\\`]+\Z", url) and not UNSAFE.search(url) else ""


_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def _markdown(text: str) -> Markup:
    """Writes the Markdown that rule pages use: headings, fenced and inline code, lists, paragraphs, links."""
    pieces: list[Markup] = []
    end = 0
    for fence in _FENCE.finditer(text):
        pieces += _prose(text[end : fence.start()])
        pieces.append(Markup("<pre>{}</pre>").format(_code(fence[1].rstrip("\n"))))
        end = fence.end()
    return Markup("\n").join([*pieces, *_prose(text[end:])])


def _prose(text: str) -> Iterator[Markup]:
    for block in re.split(r"\n[ \t]*\n|(?=^#)|(?<=\n)(?=[-*] )", text, flags=re.MULTILINE):
        heading, rest = re.match(r"(#+ [^\n]*\n?)?(.*)\Z", block.strip(), re.DOTALL).groups()  # type: ignore[union-attr]
        if heading:
            yield Markup("<h4>{}</h4>").format(_inline(heading.lstrip("#").strip()))
        if rest.startswith(("- ", "* ")):
            yield Markup('<p class="item">{}</p>').format(_inline(rest[2:]))
        elif rest.strip():
            yield Markup("<p>{}</p>").format(_inline(rest))


def _inline(text: str) -> Markup:
    pieces: list[Markup] = []
    for part in re.split(r"(`[^`\n]+`|\[[^\]\n]+\]\([^)\s]+\))", text):
        link = re.fullmatch(r"\[([^\]]+)\]\(([^)]+)\)", part)
        if part.startswith("`") and part.endswith("`") and len(part) > 2:
            pieces.append(Markup("<code>{}</code>").format(_code(part[1:-1])))
        elif link and _address(link[2]):
            pieces.append(Markup('<a href="{}" rel="noreferrer">{}</a>').format(link[2], _code(link[1])))
        else:
            pieces.append(_code(part))
    return Markup("").join(pieces)


# ---------------------------------------------------------------------------------------------------------------------
# Files


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the side-by-side diff, whose code is markup; `gap` is a number of lines that are left out before it."""

    kind: str
    old_label: str = ""
    old: str = ""
    new_label: str = ""
    new: str = ""
    gap: int = 0


@dataclass(frozen=True, slots=True)
class _Item:
    """A finding as it is shown; `target` is the line of the diff that it is about, if that is shown."""

    finding: Finding
    kind: str
    label: str
    place: str
    target: str
    anchor: str
    address: str


@dataclass(frozen=True, slots=True)
class _View:
    """A file as it is shown."""

    index: int
    file: FileResult
    items: list[_Item]
    parts: list[_Part]
    rows: list[_Row] = field(default_factory=list)
    left_out: int = 0


@dataclass(slots=True)
class _Budget:
    """How many rows the page may still hold."""

    left: int


def _view(index: int, file: FileResult, result: RunResult, budget: _Budget) -> Iterator[_View]:
    """Yields the file, unless there is nothing to show of it."""
    if file.status == "unchanged" and not file.findings:
        return
    rows: list[_Row] = []
    left_out = 0
    for row in _diff(file):
        if len(rows) < MAX_ROWS_PER_FILE and budget.left > 0:
            rows.append(row)
            budget.left -= 1
        else:
            left_out += row.kind != "gap"
    shown = {row.old_label for row in rows}
    items = [_item(index, finding, result, shown) for finding in file.findings]
    yield _View(index, file, items, _kinds(file.findings, result, len(file.findings) or 1), rows, left_out)


def _item(index: int, finding: Finding, result: RunResult, shown: set[str]) -> _Item:
    label = f"{finding.cell}:{finding.line}" if finding.cell else str(finding.line)
    place = (f"cell {finding.cell}, " if finding.cell else "") + f"{finding.line}:{finding.column}"
    kind = _kind(finding, result)
    target = f"f{index}-{label}" if label in shown else ""
    return _Item(finding, kind, _KINDS[kind], place, target, _anchor(finding.code), _address(finding.url))


def _labelled(file: FileResult, text: str) -> tuple[list[str], list[str]]:
    """Returns the lines of a text and what they are called: by number, or in a notebook by cell and number."""
    cells = _cells(text) if file.path.endswith(".ipynb") else None
    if cells is None:
        lines = _split(text)
        return lines, [str(number) for number in range(1, len(lines) + 1)]
    numbered = [
        (f"{cell}:{number}", line) for cell, source in cells for number, line in enumerate(_split(source), 1)
    ]
    return [line for _, line in numbered], [label for label, _ in numbered]


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _cells(text: str) -> list[tuple[int, str]] | None:
    """The sources of a notebook's cells of code, which read better than their JSON; None if there are none."""
    try:
        cells = json.loads(text)["cells"]
        return [
            (number, "".join(cell["source"]))
            for number, cell in enumerate(cells, 1)
            if cell["cell_type"] == "code" and cell["source"]
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _diff(file: FileResult) -> Iterator[_Row]:
    if file.status != "changed" or file.before is None or file.after is None:
        return
    before, old = _labelled(file, file.before)
    after, new = _labelled(file, file.after)
    end = 0
    for hunk in hunks(before, after):
        if hunk[0].a0 > end:
            yield _Row("gap", gap=hunk[0].a0 - end)
        end = hunk[-1].a1
        for tag, a0, a1, b0, b1 in hunk:
            if tag == "equal":
                for a, b in zip(range(a0, a1), range(b0, b1), strict=True):
                    yield _Row("equal", old[a], _code(before[a]), new[b], _code(after[b]))
                continue
            for one, other in _pairs(before[a0:a1], after[b0:b1]):
                left, right = (
                    None if one is None else before[a0 + one],
                    None if other is None else after[b0 + other],
                )
                old_code, new_code = _marked(left, right)
                old_label, new_label = (
                    "" if one is None else old[a0 + one],
                    "" if other is None else new[b0 + other],
                )
                yield _Row("change", old_label, old_code, new_label, new_code)
    if end and end < len(before):
        yield _Row("gap", gap=len(before) - end)


def _pairs(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Yields which lines of a change stand side by side: those that are most alike, else one after the other."""
    start_a = start_b = 0
    for a, b in [*_alike(left, right), (len(left), len(right))]:
        for offset in range(max(a - start_a, b - start_b)):
            one, other = start_a + offset, start_b + offset
            yield one if one < a else None, other if other < b else None
        if a < len(left):
            yield a, b
        start_a, start_b = a + 1, b + 1


def _alike(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs of lines, in order, whose likeness adds up to most; none where that is plain or would cost too much."""
    if len(left) == len(right) or len(left) * len(right) > _MAX_COMPARED:
        return []
    best: list[list[tuple[float, list[tuple[int, int]]]]] = [[(0.0, [])] * (len(right) + 1)]
    for a, line in enumerate(left):
        row: list[tuple[float, list[tuple[int, int]]]] = [(0.0, [])]
        for b, other in enumerate(right):
            ratio = _likeness(line, other)
            score, pairs = best[a][b]
            paired = [(score + ratio, [*pairs, (a, b)])] if ratio > 0.5 else []
            row.append(max([best[a][b + 1], row[b], *paired], key=lambda entry: entry[0]))
        best.append(row)
    return best[-1][-1][1]


def _likeness(line: str, other: str) -> float:
    if not line.strip() or not other.strip() or max(len(line), len(other)) > _MAX_MARKED:
        return 0.0
    matcher = SequenceMatcher(None, line.strip(), other.strip(), autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() > 0.5 else 0.0


def _marked(left: str | None, right: str | None) -> tuple[Markup, Markup]:
    """Returns a line before and after, with the words marked in which they differ."""
    if left is None or right is None or max(len(left), len(right)) > _MAX_MARKED:
        return _code(left or ""), _code(right or "")
    words = [re.findall(r"\w+|\s+|.", line) for line in (left, right)]
    matcher = SequenceMatcher(None, words[0], words[1], autojunk=False)
    if matcher.ratio() < 0.3:  # two lines that have nothing to do with each other
        return _code(left), _code(right)
    old, new = Markup(""), Markup("")
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        before, after = _code("".join(words[0][a0:a1])), _code("".join(words[1][b0:b1]))
        if tag == "equal":
            old, new = old + before, new + after
        else:
            old += Markup("<del>{}</del>").format(before) if before else ""
            new += Markup("<ins>{}</ins>").format(after) if after else ""
    return old, new


def _code(text: str) -> Markup:
    """Escapes a piece of text; a character that cannot be seen is shown as an escape, and looks like one."""
    pieces = re.split(f"({UNSAFE.pattern})", text)
    return Markup("").join(
        Markup("<i>{}</i>").format(escape(piece)) if index % 2 else piece
        for index, piece in enumerate(pieces)
        if piece
    )
