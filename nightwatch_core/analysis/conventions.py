"""What the repository says about how its code is written: data for the analyst, never an order."""

import re

from nightwatch_core.analysis.limits import CONVENTIONS, CONVENTIONS_READ
from nightwatch_core.code.code_view import name
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.escaping import clean

NAMES = ("CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md", ".github/copilot-instructions.md")
_ONLY_POINTS = re.compile(r"\s*(?:#[^\n]*\n\s*)?@(?:\./)?([\w./-]{1,200}\.md)\s*")
_HEADING = re.compile(r"^#{1,6} [^\n]{1,200}$", re.MULTILINE)
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_FOR_EDITS = re.compile(
    r"test|spec\b|style|format|lint|convention|naming|guideline|change ?log|change ?set"
    r"|release note|commit|pull request|\bpr\b|rules",
    re.IGNORECASE,
)
_BLANK = re.compile(r"\n\s*\n\s*\n")


def conventions(reader: CodeReader, path: str = "") -> str:
    """What the conventions nearest to `path` say, at most 2,000 characters; empty for none.

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
    """A short file whole; of a long one its headings, and what it says on what an edit touches.

    Those are tests, style and changelogs; of a file without headings it is the beginning.
    """
    head = name(file)[:300]
    room = CONVENTIONS - len(head) - 40
    if len(text) <= room:
        return f"{head}:\n{text}"
    parts = _sections(text)
    wanted = "\n\n".join(part for title, part in parts if _FOR_EDITS.search(title))
    titles = "; ".join(title for title, _ in parts if title)[: room // 3]
    if not wanted:
        return f"{head} (its beginning):\n{_cut(text, room)}"
    return f"{head} (in part; it is about: {titles})\n{_cut(wanted, room - len(titles) - 40)}"


def _sections(text: str) -> list[tuple[str, str]]:
    """A Markdown text at its headings: titles without their marks, and what stands below each."""
    starts = [match.start() for match in _HEADING.finditer(_without_code(text))]
    bounds = zip([0, *starts], [*starts, len(text)], strict=True)
    parts = (text[start:end].strip() for start, end in bounds)
    return [(_title(part), part) for part in parts if part]


def _title(part: str) -> str:
    return part.split("\n", 1)[0].lstrip("#").strip() if part.startswith("#") else ""


def _without_code(text: str) -> str:
    """The text, as long as it was, with what looks like a heading in code blanked."""
    return _CODE.sub(lambda found: found[0].replace("#", " "), text)


def _cut(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    end = text.rfind("\n", room // 2, room)
    return f"{text[: end if end > 0 else room].rstrip()}\n…"
