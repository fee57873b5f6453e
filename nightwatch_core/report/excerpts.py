"""Code as reports show it: quoted lines with numbers, fixes as diffs."""

from difflib import unified_diff

from nightwatch_core.models.answer import Edit, Evidence
from nightwatch_core.models.value import Value
from nightwatch_core.report.limits import CODE_LINE, DIFF_LINES, EDIT, LONG, QUOTE, TITLE
from nightwatch_core.text.escaping import MORE, block, line

_ACTIONS = {"edit": "changed", "create": "new file", "delete": "deleted"}


class CodeLine(Value):
    """A line of code; `mark` is "+", "-", " " or "…" (lines left out) in a diff."""

    text: str
    number: int | None = None
    mark: str = ""


class Excerpt(Value):
    """Code at a place: quoted evidence, or what a fix does to a file."""

    place: str
    remark: str = ""  # "verified", or what is done to the file
    note: str = ""
    lines: tuple[CodeLine, ...] = ()
    verified: bool = False


def evidence_excerpt(evidence: Evidence, most: int = QUOTE) -> Excerpt:
    """At most `most` quoted lines, numbered from where the evidence points.

    >>> evidence_excerpt(Evidence(path="app/a.py", line=7, quote="x = 1\\ny = 2")).lines[1]
    CodeLine(text='y = 2', number=8, mark='')
    """
    quoted = block(evidence.quote.strip("\r\n"), QUOTE, code=True).splitlines()[:most]
    return Excerpt(
        place=f"{line(evidence.path, TITLE)}:{evidence.line}",
        remark="verified" if evidence.verified else "",
        note=line(evidence.note, LONG),
        lines=tuple(
            CodeLine(text=text, number=number) for number, text in enumerate(quoted, evidence.line)
        ),
        verified=evidence.verified,
    )


def fix_excerpt(edit: Edit, most: int = 2 * DIFF_LINES) -> Excerpt:
    """Old text against new text, at most `most` lines.

    >>> [l.mark + l.text for l in fix_excerpt(Edit(path="a.py", old="a\\nb", new="a\\nc")).lines]
    [' a', '-b', '+c']
    """
    compared = list(unified_diff(_lines(edit.old), _lines(edit.new), lineterm=""))[2:]
    lines = tuple(_diff_line(text) for at, text in enumerate(compared) if at or text[:2] != "@@")
    return Excerpt(
        place=line(edit.path, TITLE),
        remark=_ACTIONS.get(edit.action, edit.action),
        note=line(edit.description, LONG),
        lines=lines[:most],
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


def _lines(text: str) -> list[str]:
    kept = block(text, EDIT, code=True).split("\n") if text else []
    short = [each if len(each) <= CODE_LINE else each[:CODE_LINE] + MORE for each in kept]
    if len(short) <= DIFF_LINES:
        return short
    return [*short[:DIFF_LINES], f"{MORE} {len(short) - DIFF_LINES:,} more lines"]


def _diff_line(text: str) -> CodeLine:
    if text.startswith("@@"):
        return CodeLine(text="", mark=MORE)
    return CodeLine(text=text[1:], mark=text[:1])
