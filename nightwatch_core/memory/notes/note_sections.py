"""Where `<future-agent-notes>` sections lie in a text, and the pieces they are made of.

People edit these sections by hand and strangers' text stands around them. So reading is tolerant,
every pattern is bounded, and the time taken grows with the length of the text, not faster.
"""

import re
from collections.abc import Iterator

MOST_SECTIONS = 20
SECTION_SIZE = 64 * 1024  # characters of a section that are read

_PARENTS = {
    "timestamp": "",
    "problems": "",
    "problem": "problems",
    "what": "problem",
    "symptoms": "problem",
    "root-cause": "problem",
    "solution": "problem",
    "prevention": "problem",
    "decisions": "",
    "decision": "decisions",
    "choice": "decision",
    "alternatives": "decision",
    "rationale": "decision",
    "gotchas": "",
    "gotcha": "gotchas",
}
_NAMES = "|".join(sorted(_PARENTS, key=len, reverse=True)).replace("root-cause", "root[-_]?cause")
_TAG = re.compile(rf"<(/?)({_NAMES})(?=[\s/>])([^<>]{{0,200}})>", re.IGNORECASE | re.ASCII)
_END = re.compile(
    r"</future-agent-notes\b|^[ \t]{0,12}<future-agent-notes\b", re.I | re.A | re.MULTILINE
)
_MARK = re.compile(
    r"^(?: {0,3}(?P<fence>`{3,}|~{3,})(?P<rest>[^\n]{0,200})"
    r"|[ \t]{0,12}<future-agent-notes(?=[\s>])[^<>\n]{0,200}>)",
    re.IGNORECASE | re.ASCII | re.MULTILINE,
)

Piece = tuple[str, str | None]  # element and the text in it; None where the element begins


def sections(text: str) -> Iterator[str]:
    r"""The inside of every section, in order; none from within a closed code block.

    >>> list(sections("<future-agent-notes>a</future-agent-notes> b"))
    ['a']
    >>> list(sections("```xml\n<future-agent-notes>a</future-agent-notes>\n```\n"))
    []
    """
    marks = list(_MARK.finditer(text))
    closing = _longest_closing(marks)
    number = found = passed = 0
    while number < len(marks) and found < MOST_SECTIONS:
        mark = marks[number]
        number += 1
        if mark.start() < passed:
            continue
        fence = mark["fence"]
        if fence is None:
            body = _until_end(text, mark.end())
            passed = mark.end() + len(body)
            found += 1
            yield body
        elif closing[number].get(fence[0], 0) >= len(fence):
            number = 1 + next(
                later for later in range(number, len(marks)) if _closes(marks[later], fence)
            )


def pieces(body: str) -> Iterator[Piece]:
    """The elements of a section and the text that stands in each, as they come.

    Elements we do not know are text. One that is never closed ends where the next one begins.

    >>> list(pieces("<gotcha>use <b>x</b></gotcha>"))
    [('', ''), ('gotcha', None), ('gotcha', 'use <b>x</b>'), ('gotchas', '')]
    """
    body = _without_comments(body)
    current, at = "", 0
    for tag in _TAG.finditer(body):
        yield current, body[at : tag.start()]
        at = tag.end()
        name = tag[2].lower()
        name = "root-cause" if name.startswith("root") else name
        if not tag[1]:
            yield name, None
        current = _PARENTS[name] if tag[1] or tag[3].endswith("/") else name
    yield current, body[at:]


def _until_end(text: str, start: int) -> str:
    stop = min(start + SECTION_SIZE, len(text))
    end = _END.search(text, start, stop)
    return text[start : end.start() if end else stop]


def _longest_closing(marks: list[re.Match[str]]) -> list[dict[str, int]]:
    """For each mark and what follows it: the longest fence of either kind that could close."""
    longest: list[dict[str, int]] = [{}]
    for mark in reversed(marks):
        known = longest[-1]
        fence = mark["fence"]
        if fence and not mark["rest"].strip():
            known = {**known, fence[0]: max(known.get(fence[0], 0), len(fence))}
        longest.append(known)
    return longest[::-1]


def _closes(mark: re.Match[str], fence: str) -> bool:
    other = mark["fence"] or ""
    return other.startswith(fence) and not mark["rest"].strip()


def _without_comments(body: str) -> str:
    kept, at = [], 0
    while (start := body.find("<!--", at)) >= 0 and (end := body.find("-->", start)) >= 0:
        kept.append(body[at:start])
        at = end + 3
    return "".join((*kept, body[at:]))
