"""Code as reports show it: quoted lines with numbers, fixes as diffs."""

from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.code import ChangedFile
from nightwatch_core.models.value import Value
from nightwatch_core.report.limits import CODE_LINE, DIFF_LINES, EDIT, LONG, QUOTE, TITLE
from nightwatch_core.text.escaping import MORE, block, line

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
    """What a fix does to a file, at most `most` lines.

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
    """Lines for a plain code block: numbered, or marked as a diff.

    >>> code_text((CodeLine(text="a", number=9), CodeLine(text="b", number=10)))
    ' 9  a\\n10  b'
    """
    width = max((len(str(each.number)) for each in lines if each.number is not None), default=0)
    return "\n".join(
        each.mark + each.text if each.number is None else f"{each.number:>{width}}  {each.text}"
        for each in lines
    )


def _diff_line(row: str) -> CodeLine:
    text = row if len(row) <= CODE_LINE else row[:CODE_LINE] + MORE
    mark = HUNK if text.startswith(HUNK) else text[:1]
    return CodeLine(text=text[len(mark) :], mark=mark or " ")
