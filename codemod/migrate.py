"""One file's way through: cheap steps first, and nothing is written that was not understood.

Bytes that mention no package of interest leave at once. What stays is decoded, parsed by Python's own parser (which says
where an error is, and stops Python 2), and its names are looked up. The rules then propose; what they propose is applied
by libcst; the result is parsed, and migrated once more to see that a second pass changes nothing.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codemod import python2, rewrite, tables
from codemod.facts import FileFacts, NeededImport
from codemod.layout import first_line, line_statement
from codemod.notebook import Notebook, NotebookError
from codemod.notebook import read as read_notebook
from codemod.proposals import Proposal
from codemod.results import FileResult, Finding, Loop
from codemod.rules import all_rules
from codemod.settings import Settings
from codemod.source import Source, SourceError, decode, decode_utf8
from codemod.suppressions import Comments, read_comments, read_todo, todo

# What every file has in it that any rule could have to do with.
PREFILTER = re.compile(rb"tensorflow|keras|horovod|tf_slim")

# One pass may make room for another (an import that nothing needs any more); the last must find nothing to do.
_PASSES = 4

UNUSED_SUPPRESSION = "TFB002"
UNREAD_CELL = "TFB003"
COLAB_MAGIC = "TFB103"


@dataclass(frozen=True, slots=True)
class Migrated:
    """One text's way through.

    Attributes:
      text: The new text; the old one if nothing was changed.
      findings: The findings, sorted.
      skipped: Why it was left alone, if it was.
      loops: The training loops, and what became of each.
    """

    text: str
    findings: tuple[Finding, ...] = ()
    skipped: str = ""
    loops: tuple[Loop, ...] = ()


def migrate_bytes(
    path: str, data: bytes, settings: Settings, *, keep_texts: bool = False
) -> tuple[FileResult, bytes | None]:
    """Takes one file through.

    Args:
      path: Its name; one that ends in `.ipynb` is a notebook.
      data: Its bytes.
      settings: What the user asked for.
      keep_texts: Whether the result carries the texts before and after.

    Returns:
      How it ended, and its new bytes if it changed.
    """
    if not PREFILTER.search(data):
        return FileResult(path, "unchanged", "mentions no TensorFlow", lines=0), None
    is_notebook = path.endswith(".ipynb")
    try:
        source = decode_utf8(data) if is_notebook else decode(data)
        outcome = _migrate_source(path, source, settings, is_notebook)
        new = source.encode(outcome.text) if outcome.text != source.text else None
    except SourceError as error:
        return _failed(path, error, settings), None
    lines = source.text.count("\n") or source.text.count("\r")
    if outcome.skipped:
        return FileResult(path, "skipped", outcome.skipped, lines=lines, encoding=source.encoding), None
    result = FileResult(
        path,
        "unchanged" if new is None else "changed",
        "" if new is not None else "nothing to rewrite",
        source.text if keep_texts and new is not None else None,
        outcome.text if keep_texts and new is not None else None,
        outcome.findings,
        lines + 1,
        encoding="utf-8-sig"
        if source.bom
        else source.encoding,  # what the texts encode to the file's bytes with
        loops=outcome.loops,
    )
    return result, new


def _failed(path: str, error: SourceError, settings: Settings) -> FileResult:
    findings: tuple[Finding, ...] = ()
    if isinstance(error, python2.Python2Error) and settings.wants(python2.CODE):
        findings = (python2.finding(path, error),)
    return FileResult(path, "failed", error.reason, findings=findings, line=error.line, column=error.column)


def _migrate_source(path: str, source: Source, settings: Settings, is_notebook: bool) -> Migrated:
    if not is_notebook:
        return migrate_text(path, source.text, settings)
    return _migrate_notebook(path, source.text, settings)


def _migrate_notebook(path: str, text: str, settings: Settings) -> Migrated:
    try:
        notebook = read_notebook(text)
        if notebook.language != "python":
            return Migrated(text, skipped=f"a notebook in {notebook.language}")
        outcome = _migrate_cells(path, notebook, settings)
        findings = (
            *(_in_cell(notebook, finding) for finding in outcome.findings),
            *_unread(path, notebook, settings),
            *_old_magics(path, notebook, settings),
        )
        loops = tuple(_loop_in_cell(notebook, loop) for loop in outcome.loops)
        return replace(outcome, text=notebook.replaced(outcome.text), findings=findings, loops=loops)
    except NotebookError as error:
        line, column = (
            (0, 0) if error.cell else (error.line, error.column)
        )  # a cell's lines are not the file's
        raise SourceError(str(error), line, column) from error


def _migrate_cells(path: str, notebook: Notebook, settings: Settings) -> Migrated:
    try:
        return migrate_text(path, notebook.code, settings, notebook=True)
    except SourceError as error:
        if not error.line:
            raise
        cell, line = notebook.locate(error.line)
        raise SourceError(f"cell {cell}, line {line}: {error.reason}") from error


def _unread(path: str, notebook: Notebook, settings: Settings) -> Iterator[Finding]:
    if not settings.wants(UNREAD_CELL):
        return
    for number, kind, text in notebook.opaque:
        if PREFILTER.search(text.encode("utf-8", "surrogatepass")):
            lines = text.split("\n")
            yield Finding(
                path,
                1,
                1,
                len(lines),
                len(lines[-1]) + 1,
                UNREAD_CELL,
                f"this cell ({kind}) names TensorFlow or Keras, and is not read",
                remedy="Put its text into a file of its own, and migrate that.",
                cell=number,
            )


def _old_magics(path: str, notebook: Notebook, settings: Settings) -> Iterator[Finding]:
    if settings.wants(COLAB_MAGIC):
        for cell, line, text in notebook.magics():
            if re.match(r"%tensorflow_version\b", text.strip()):
                yield Finding(
                    path,
                    line,
                    1,
                    line,
                    len(text) + 1,
                    COLAB_MAGIC,
                    f"{text.strip()} has nothing to choose from any more",
                    why="Colab has taken TensorFlow 1 away.",
                    remedy="Take the line out: the migrated notebook runs on the TensorFlow that is installed.",
                    cell=cell,
                )


def _in_cell(notebook: Notebook, finding: Finding) -> Finding:
    cell, line = notebook.locate(finding.line)
    _, end_line = notebook.locate(finding.end_line)
    return replace(
        finding,
        cell=cell,
        line=line,
        end_line=max(line, end_line),
        column=notebook.column(finding.line, finding.column),
        end_column=notebook.column(finding.end_line, finding.end_column),
    )


def _loop_in_cell(notebook: Notebook, loop: Loop) -> Loop:
    cell, line = notebook.locate(loop.line)
    return replace(loop, cell=cell, line=line, column=notebook.column(loop.line, loop.column))


def migrate_text(path: str, text: str, settings: Settings, *, notebook: bool = False) -> Migrated:
    """Takes one text through.

    Args:
      path: Its name, for the findings.
      text: The decoded text.
      settings: What the user asked for.
      notebook: Whether it is the code of a notebook.

    Raises:
      SourceError: If the text is not Python, or what came out would not be sound. Nothing may be written then.
    """
    text, converted = _from_python_2(path, text, settings)
    once = _one_pass(path, text, settings, notebook)
    once = replace(once, findings=(*converted, *once.findings))
    new = once.text
    for _ in range(_PASSES):
        if new == text:
            break
        text = new
        try:
            again = _one_pass(path, text, settings, notebook)
            new, once = again.text, replace(once, loops=_later(once.loops, again.loops))
        except SourceError as error:
            reason = f"internal error, nothing written: the new text is not sound ({error.reason})"
            raise SourceError(reason, error.line) from error
    else:
        raise SourceError(
            f"internal error, nothing written: each pass changes line {_first_difference(text, new)} of the new text again"
        )
    return replace(once, text=new)


def _later(loops: tuple[Loop, ...], left: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """What became of the loops when another pass has judged those that the one before has left."""
    if sum(bool(loop.kept) for loop in loops) != len(left):
        return loops
    judged = iter(left)
    return tuple(
        replace(loop, kept=(now := next(judged)).kept, reason=now.reason) if loop.kept else loop
        for loop in loops
    )


def _from_python_2(path: str, text: str, settings: Settings) -> tuple[str, tuple[Finding, ...]]:
    """The text as Python 3, if it is Python 2 and that is asked for; and what there is to say about it."""
    if not settings.py2:
        return text, ()
    try:
        parse(text)
    except python2.Python2Error as error:
        new = python2.convert(text, error)
        parse(new)
        return new, tuple(python2.findings_of_conversion(path, error, text, new))
    return text, ()


def _first_difference(first: str, second: str) -> int:
    at = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    return first.count("\n", 0, at) + 1


def _one_pass(path: str, text: str, settings: Settings, notebook: bool) -> Migrated:
    comments = read_comments(text)
    if comments.skip_file:
        return Migrated(text, skipped="asked to be skipped by its comment")
    tree = parse(text)
    facts = FileFacts(path, text, tree, tables.load(settings.tensorflow), settings, notebook=notebook)
    try:
        return _proposed(facts, comments)
    finally:
        facts.names.release()


def _proposed(facts: FileFacts, comments: Comments) -> Migrated:
    """What the rules make of a file."""
    path, text, settings = facts.path, facts.text, facts.settings
    if not facts.first_use and "TODO(codemod" not in text:
        return Migrated(text, _unused(path, comments, settings))
    facts.comments = comments
    chosen = list(_propose(facts))
    applied = [(code, p) for code, p in chosen if facts.applies(p) and not settings.scan]
    written = {id(p) for _, p in applied}
    findings = [_finding(facts, code, p, fixed=id(p) in written) for code, p in chosen]
    findings += _unused(path, comments, settings)
    new = _write(facts, chosen, applied)
    return Migrated(new, tuple(sorted(findings, key=lambda f: f.order)), loops=facts.loops)


def parse(text: str) -> ast.Module:
    """Parses a text with Python's own parser.

    Raises:
      SourceError: If it is not Python of today, with the place.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Invalid escapes in other people's strings.
            return ast.parse(text)
    except SyntaxError as error:
        raise python2.explain(text, error) from error
    except (RecursionError, MemoryError) as error:
        raise SourceError("nested too deeply for Python's own parser") from error
    except ValueError as error:  # NUL, lone surrogates
        raise SourceError(f"not Python: {error}") from error


def _propose(facts: FileFacts) -> Iterator[tuple[str, Proposal]]:
    """What the rules say, without what comments hold back."""
    known: dict[str, bool] = {}
    for rule in all_rules():
        if rule.reports_elsewhere or not facts.settings.wants(rule.code):
            continue
        if not rule.concerns(facts.text, known):
            continue
        for proposal in rule.check(facts):
            suppressed = facts.is_suppressed(proposal.node, rule.code)
            facts.settle(proposal, suppressed=suppressed)
            if not suppressed:
                yield rule.code, proposal


def _finding(facts: FileFacts, code: str, proposal: Proposal, *, fixed: bool) -> Finding:
    line, column, end_line, end_column = facts.layout.span(proposal.node)
    return Finding(
        facts.path,
        line,
        column + 1,
        end_line,
        end_column + 1,
        code,
        proposal.message,
        proposal.why,
        proposal.remedy,
        proposal.url,
        proposal.fix if proposal.rewrites else None,
        fixed,
    )


def _unused(path: str, comments: Comments, settings: Settings) -> tuple[Finding, ...]:
    if not settings.wants(UNUSED_SUPPRESSION):
        return ()
    found = []
    for suppression in comments.by_line.values():
        for code in suppression.unused:
            if code and not settings.wants(code):
                continue  # It may well be needed in a run with that rule.
            what = f"ignore[{code}]" if code else "ignore"
            found.append(
                Finding(
                    path,
                    suppression.line,
                    suppression.column + 1,
                    suppression.line,
                    suppression.end_column + 1,
                    UNUSED_SUPPRESSION,
                    f"the comment 'codemod: {what}' holds nothing back",
                    remedy="Remove it.",
                )
            )
    return tuple(found)


def _write(
    facts: FileFacts, chosen: Sequence[tuple[str, Proposal]], applied: Sequence[tuple[str, Proposal]]
) -> str:
    if facts.settings.scan:
        return facts.text
    written = {id(p) for _, p in applied}
    left = [(code, p) for code, p in chosen if id(p) not in written]
    remarks, removals = _todos(facts, left) if facts.settings.todo else ([], [])
    edits = [(p.node, p.make) for _, p in applied if p.make is not None]
    inserts = [_inserted(facts, i.line, i.anchor, after=i.after) for _, p in applied for i in p.inserts]
    insertions = list(dict.fromkeys(inserts))  # Two rules may want the same line in the same place.
    if not edits and not insertions and not remarks and not removals:
        return facts.text
    try:
        text = rewrite.rewrite(facts, edits, insertions, remarks, removals)
        needed = _needed(facts, text, insertions)
        return rewrite.rewrite(facts, edits, [*needed, *insertions], remarks, removals) if needed else text
    except rewrite.RewriteError as error:
        raise SourceError(f"nothing written: {error}") from error


_TODO_LINE = re.compile(r"#[ ]TODO\(codemod.*")


def _needed(facts: FileFacts, text: str, insertions: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The imports that the new text needs: those whose name occurs in it more often than in the old one."""
    lines = []
    # Our own comments name what they speak of.
    texts = [_TODO_LINE.sub("", each) for each in (text, facts.text)] if facts.needs else []
    for need in facts.needs:
        name = re.compile(rf"{re.escape(need.line.rpartition(' ')[2])}\b")
        # A boundary in front, looked for last, makes the search many times as fast.
        new, old = (sum(_begins_word(each, m.start()) for m in name.finditer(each)) for each in texts)
        if new > old:
            lines.append(_import_place(facts, need))
    return lines


def _begins_word(text: str, at: int) -> bool:
    return not (at and (text[at - 1].isalnum() or text[at - 1] == "_"))


def _import_place(facts: FileFacts, need: NeededImport) -> tuple[int, str]:
    anchor = need.anchor or facts.first_import
    if anchor is not None:
        return _inserted(facts, need.line, anchor, after=False)
    body = facts.tree.body
    header = [
        s
        for s in body
        if _is_docstring(body, s) or (isinstance(s, ast.ImportFrom) and s.module == "__future__")
    ]
    if header:
        return _inserted(facts, need.line, header[-1], after=True)
    line = first_line(body[0]) if body else 1
    return facts.layout.starts[line - 1], need.line + facts.layout.newline()


def _is_docstring(body: list[ast.stmt], statement: ast.stmt) -> bool:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text and statement is body[0] and isinstance(statement.value.value, str)  # type: ignore[attr-defined]


def _inserted(facts: FileFacts, line: str, anchor: ast.stmt, *, after: bool) -> tuple[int, str]:
    layout = facts.layout
    number = first_line(anchor)
    indent = layout.indent(number).lstrip("\f")
    offset = layout.next_line(anchor.end_lineno or number) if after else layout.starts[number - 1]
    return offset, f"{indent}{line}{layout.newline()}"


def _todos(
    facts: FileFacts, left: Sequence[tuple[str, Proposal]]
) -> tuple[list[tuple[ast.stmt, list[str]]], list[tuple[int, int]]]:
    """One comment a place and code, unless it stands there from an earlier run; and those that are settled by now."""
    wanted: dict[ast.stmt, dict[tuple[str, str], None]] = {}
    for code, proposal in left:
        if proposal.todo:
            statement = line_statement(facts, facts.statement(proposal.node))
            wanted.setdefault(statement, {})[code, _remark(proposal)] = None
    remarks: list[tuple[ast.stmt, list[str]]] = []
    kept: set[int] = set()
    for statement, items in wanted.items():
        above = facts.comments_above(statement)
        present = {found for _, text in above if (found := read_todo(text))}
        codes = {code for code, _ in items}
        kept.update(number for number, text in above if (found := read_todo(text)) and found[0] in codes)
        lines = [todo(code, message) for code, message in items if (code, message) not in present]
        if lines:
            remarks.append((statement, lines))
    return remarks, [_whole_line(facts, number) for number in _stale_todos(facts) if number not in kept]


def _stale_todos(facts: FileFacts) -> Iterator[int]:
    """The lines of our own TODO comments; those of rules that do not run this time are not looked at."""
    position = -1
    while (position := facts.text.find("TODO(codemod", position + 1)) >= 0:
        number = facts.layout.line_of(position)
        text = facts.layout.line(number).strip(" \t\f")
        found = read_todo(text) if text.startswith("#") else None
        if found and facts.settings.wants(found[0]) and not facts.names.is_in_string(number):
            yield number


def _whole_line(facts: FileFacts, number: int) -> tuple[int, int]:
    return facts.layout.starts[number - 1], facts.layout.next_line(number)


def _remark(proposal: Proposal) -> str:
    text = proposal.message
    if proposal.fix == "unsafe":
        return f"{text} (--unsafe-fixes rewrites it)"
    return f"{text}. {proposal.remedy}".rstrip(". ") if proposal.remedy else text
