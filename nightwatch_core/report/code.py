"""Code as reports show it: quoted lines with numbers, fixes as diffs."""

from difflib import unified_diff

from nightwatch_core.models.analysis import Edit, Evidence
from nightwatch_core.report.values import CodeLine, Diff, Snippet
from nightwatch_core.text.escaping import MORE, block, line

DIFF_LINES = 300  # a side; keeps the comparison of hostile texts short
LINE_LENGTH = 400
ACTIONS = {"edit": "changed", "create": "new file", "delete": "deleted"}


def snippet(evidence: Evidence) -> Snippet:
    """The quoted lines, numbered from where the evidence points.

    >>> snippet(Evidence(path="app/a.py", line=7, quote="x = 1\\ny = 2")).lines[1]
    CodeLine(text='y = 2', number=8, mark='')
    """
    quoted = block(evidence.quote.strip("\r\n"), 2_000, code=True).splitlines()
    return Snippet(
        place=f"{line(evidence.path, 200)}:{evidence.line}",
        lines=tuple(
            CodeLine(text=text, number=number) for number, text in enumerate(quoted, evidence.line)
        ),
        note=line(evidence.note, 500),
        verified=evidence.verified,
    )


def diff(edit: Edit) -> Diff:
    """Old text against new text, line by line.

    >>> [l.mark + l.text for l in diff(Edit(path="a.py", old="a\\nb", new="a\\nc")).lines]
    [' a', '-b', '+c']
    """
    old, new = _lines(edit.old), _lines(edit.new)
    compared = list(unified_diff(old, new, lineterm=""))[2:]
    return Diff(
        path=line(edit.path, 200),
        action=ACTIONS.get(edit.action, edit.action),
        description=line(edit.description, 500),
        lines=tuple(
            CodeLine(text="", mark=MORE) if text.startswith("@@") else _marked(text)
            for at, text in enumerate(compared)
            if at or not text.startswith("@@")
        ),
    )


def as_text(lines: tuple[CodeLine, ...]) -> str:
    """Lines for a plain code block: numbered, or marked as a diff.

    >>> as_text((CodeLine(text="a", number=9), CodeLine(text="b", number=10)))
    ' 9  a\\n10  b'
    """
    width = max((len(str(each.number)) for each in lines if each.number is not None), default=0)
    return "\n".join(
        each.mark + each.text if each.number is None else f"{each.number:>{width}}  {each.text}"
        for each in lines
    )


def _lines(text: str) -> list[str]:
    kept = block(text, 30_000, code=True).split("\n") if text else []
    short = [each if len(each) <= LINE_LENGTH else each[:LINE_LENGTH] + MORE for each in kept]
    if len(short) <= DIFF_LINES:
        return short
    return [*short[:DIFF_LINES], f"{MORE} {len(short) - DIFF_LINES:,} more lines"]


def _marked(text: str) -> CodeLine:
    return CodeLine(text=text[1:], mark=text[:1])
