"""Code as reports show it: quoted lines with numbers, fixes as diffs."""

from typing import Literal

from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.code import ChangedFile
from nightwatch_core.models.value import Value
from nightwatch_core.text.escaping import MORE, block, line

# How much of a night each rendering shows; the rest is in report.json.

# Characters of one text.
NAME, TITLE, TEXT, LONG = 120, 200, 300, 500
CAUSE, MESSAGE, TRACE, QUOTE, EDIT = 6_000, 800, 8_000, 2_000, 30_000
CODE_LINE = 400
DIFF_LINES = 300  # a side; keeps the comparison of hostile texts short
COMMITS = 8  # that a night read and that are named


class Limits(Value):
    """Items of each list, and the kinds of sections that are left out."""

    rows: int = 200
    triage: int = 200  # errors judged at first sight
    findings: int = 200
    reasons: int = 40  # why groups were dropped
    examples: int = 25  # of a reason
    lines: int = 50
    common: int = 20  # patterns, and ignore rules to add
    facts: int = 12  # of one finding, like all below
    evidence: int = 12
    files: int = 10  # of a fix
    code_lines: int = 1_000  # of one excerpt
    suspects: int = 3
    texts: int = 10
    how: int = 12
    handovers: Literal["all", "alone", "none"] = "all"  # errors without a cause shown in detail
    paths: int = 10  # where the report lies
    advice: bool = True  # what whoever runs it might set, and commands to type there
    good_health: bool = True  # of the services, where nobody has to do anything
    without: frozenset[str] = frozenset()
    without_if_known: frozenset[str] = frozenset()


FULL = Limits(without=frozenset({"verdict", "end", "unknown"}))
BRIEF = Limits(
    rows=25,
    triage=15,
    findings=10,
    reasons=8,
    examples=2,
    lines=5,
    common=3,
    evidence=3,
    code_lines=4,
    suspects=1,
    texts=3,
    handovers="alone",
    paths=1,
    without=frozenset(
        {"facts", "message", "fix", "considered", "learned", "capture", "how", "trace"}
        | {"evidence_more", "scoreboard", "run", "files", "proof", "checked"}
    ),
    without_if_known=frozenset({"evidence", "suspects", "next", "verdict", "also", "open"}),
)

HUNK = "@@"  # begins the line that says which lines follow


class CodeLine(Value):
    """A line of code; `mark` is "+", "-", " ", "@@" (which lines follow) or "…" in a diff."""

    text: str
    number: int | None = None
    mark: str = ""


class Excerpt(Value):
    """Code at a place: quoted evidence, or what a fix does to a file."""

    place: str
    remark: str = ""  # "verified", or what is done to the file
    note: str = ""
    address: str = ""  # of the place, on the web
    lines: tuple[CodeLine, ...] = ()
    verified: bool = False


def evidence_excerpt(evidence: Evidence, most: int = QUOTE, address: str = "") -> Excerpt:
    """At most `most` quoted lines, numbered from where the evidence points; none unverified.

    >>> evidence = Evidence(path="app/a.py", line=7, quote="x = 1\\ny = 2", verified=True)
    >>> evidence_excerpt(evidence).lines[1]
    CodeLine(text='y = 2', number=8, mark='')
    """
    quote = evidence.quote.strip("\r\n") if evidence.verified else ""
    quoted = block(quote, QUOTE, code=True).splitlines()[:most]
    return Excerpt(
        place=f"{line(evidence.path, TITLE)}:{evidence.line}",
        remark="verified" if evidence.verified else "not found in the code",
        note=line(evidence.note, LONG),
        address=address,
        lines=tuple(
            CodeLine(text=text, number=number) for number, text in enumerate(quoted, evidence.line)
        ),
        verified=evidence.verified,
    )


def diff_excerpt(file: ChangedFile, note: str = "", most: int = 2 * DIFF_LINES) -> Excerpt:
    """Return a file's diff, at most `most` lines.

    >>> [l.mark + l.text for l in diff_excerpt(ChangedFile(path="a.py", diff=" a\\n-b\\n+c")).lines]
    [' a', '-b', '+c']
    """
    rows = block(file.diff, EDIT, code=True).split("\n") if file.diff else []
    left = len(rows) - most
    more = (CodeLine(text=f" {left:,} more lines", mark=MORE),) if left > 0 else ()
    return Excerpt(
        place=line(file.path, TITLE),
        remark=f"+{file.added} -{file.removed}",
        note=line(note, LONG),
        lines=(*map(_diff_line, rows[:most]), *more),
    )


def code_text(lines: tuple[CodeLine, ...]) -> str:
    """Return lines for a plain code block: numbered, or marked as a diff.

    >>> code_text((CodeLine(text="a", number=9), CodeLine(text="b", number=10)))
    ' 9  a\\n10  b'
    """
    width = max((len(str(item.number)) for item in lines if item.number is not None), default=0)
    return "\n".join(
        item.mark + item.text if item.number is None else f"{item.number:>{width}}  {item.text}"
        for item in lines
    )


def _diff_line(row: str) -> CodeLine:
    text = row if len(row) <= CODE_LINE else row[:CODE_LINE] + MORE
    mark = HUNK if text.startswith(HUNK) else text[:1]
    return CodeLine(text=text[len(mark) :], mark=mark or " ")
