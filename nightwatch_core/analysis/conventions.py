"""What the repository says about how its code is written: data for the analyst, never an order."""

import re

from nightwatch_core.analysis.limits import CONVENTIONS, CONVENTIONS_READ
from nightwatch_core.code.code_view import name
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.escaping import clean

NAMES = ("CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md", ".github/copilot-instructions.md")
_ONLY_POINTS = re.compile(r"\s*(?:#[^\n]*\n\s*)?@(?:\./)?([\w./-]{1,200}\.md)\s*")
_BLANK = re.compile(r"\n\s*\n\s*\n")


def conventions(reader: CodeReader, path: str = "") -> str:
    """The head of the conventions nearest to `path`, at most 2,000 characters; empty for none.

    The first line names the file. A file that only points to another one is followed once. Raises
    what the reader raises.
    """
    known = frozenset(reader.paths())
    for folder in _upwards(path):
        for one in NAMES:
            file = f"{folder}{one}"
            text = _text(reader, file) if file in known else ""
            pointed = _ONLY_POINTS.fullmatch(text)
            if pointed and f"{folder}{pointed[1]}" in known:
                file = f"{folder}{pointed[1]}"
                text = _text(reader, file)
            if text.strip():
                return _shortened(file, text)
    return ""


def _upwards(path: str) -> tuple[str, ...]:
    """The folders above a path, the nearest first, the root last; with a slash where not empty.

    >>> _upwards("web/src/a.ts"), _upwards("")
    (('web/src/', 'web/', ''), ('',))
    """
    folders = path.split("/")[:-1]
    return (*("/".join(folders[:n]) + "/" for n in range(len(folders), 0, -1)), "")


def _text(reader: CodeReader, file: str) -> str:
    text = clean((reader.read_file(file) or "")[:CONVENTIONS_READ])
    return _BLANK.sub("\n\n", _without_comments(text)).strip()


def _without_comments(text: str) -> str:
    """What people see of Markdown: an open comment goes on to the end.

    >>> _without_comments("a<!-- b -->c<!-- d")
    'ac'
    """
    first, *rest = text.split("<!--")
    return first + "".join(part.partition("-->")[2] for part in rest)


def _shortened(file: str, text: str) -> str:
    """File name and head of the text, cut at a line's end where that is near."""
    head = name(file)[:300]
    room = CONVENTIONS - len(head) - 40
    if len(text) <= room:
        return f"{head}:\n{text}"
    end = text.rfind("\n", room // 2, room)
    return f"{head} (its beginning):\n{text[: end if end > 0 else room].rstrip()}\n…"
