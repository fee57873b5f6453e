"""`<future-agent-notes>` sections read from any text.

People edit these sections by hand and strangers' text stands around them. So reading is tolerant,
every pattern is bounded, and the time taken grows with the length of the text, not faster.
"""

import html
import re
from collections.abc import Iterator
from datetime import date

from nightwatch_core.memory.limits import LONGEST_SECTION, MOST_SECTIONS
from nightwatch_core.memory.notes.note_layout import normalised
from nightwatch_core.models.knowledge import Decision, Notes, Problem

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

_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7}|#x[0-9a-f]{1,6});", re.IGNORECASE)
_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+")
_PROBLEM = ("what", "symptoms", "root-cause", "solution", "prevention")
_DECISION = ("choice", "alternatives", "rationale")
_KINDS = {
    **dict.fromkeys(("problem", *_PROBLEM), "problem"),
    **dict.fromkeys(("decision", *_DECISION), "decision"),
}

Piece = tuple[str, str | None]  # element and the text in it; None where the element begins

Item = dict[str, str]  # element to its text, of one problem or decision


def notes_in(text: str) -> tuple[Notes, ...]:
    """Every section of a text that says something, in order; never raises.

    At most 20 sections of 64 KiB are read, and 50 items of each kind.

    >>> notes_in("<future-agent-notes><gotcha>a &lt; b</gotcha></future-agent-notes>")[0].gotchas
    ('a < b',)
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return tuple(notes for body in sections(text) if not (notes := _notes(body)).empty)


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


def _notes(body: str) -> Notes:
    """What one section says; only what is in an element counts, or stands alone in an item."""
    items: dict[str, list[Item]] = {"problem": [{}], "decision": [{}]}
    gotchas: list[str] = []
    timestamp = ""
    for name, text in pieces(body):
        if name in _KINDS:
            _add(items[_KINDS[name]], name, text)
        elif text and name == "gotcha":
            gotchas.append(_unescaped(text))
        elif text and name == "gotchas":
            gotchas += _listed(_unescaped(text))
        elif text and name == "timestamp":
            timestamp = text.strip()
    return normalised(
        Notes(
            timestamp=_date(timestamp),
            problems=tuple(map(_problem_of, items["problem"])),
            decisions=tuple(map(_decision_of, items["decision"])),
            gotchas=tuple(gotchas),
        )
    )


def _add(items: list[Item], name: str, text: str | None) -> None:
    """Begin an item, or add text to the last one; its name said a second time begins another."""
    begins = name in ("problem", "decision") or (name in ("what", "choice") and name in items[-1])
    if text is None:
        if begins and items[-1]:
            items.append({})
    elif text.strip():
        before = items[-1].get(name)
        items[-1][name] = f"{before}\n{_unescaped(text)}" if before else _unescaped(text)


def _problem_of(item: Item) -> Problem:
    alone = item.get("problem", "") if len(item) == 1 else ""
    return Problem(
        what=item.get("what", alone),
        symptoms=_listed(item.get("symptoms", "")),
        root_cause=item.get("root-cause", ""),
        solution=item.get("solution", ""),
        prevention=item.get("prevention", ""),
    )


def _decision_of(item: Item) -> Decision:
    alone = item.get("decision", "") if len(item) == 1 else ""
    return Decision(
        choice=item.get("choice", alone),
        alternatives=item.get("alternatives", ""),
        rationale=item.get("rationale", ""),
    )


def _listed(text: str) -> tuple[str, ...]:
    """Items of a list, their later lines joined; without any bullet every line is an item."""
    lines = [stripped for line in text.split("\n") if (stripped := line.strip())]
    if not any(map(_BULLET.match, lines)):
        return tuple(lines)
    items: list[str] = []
    for line in lines:
        bullet = _BULLET.match(line)
        if bullet or not items:
            items.append(line[bullet.end() :] if bullet else line)
        else:
            items[-1] += f" {line}"
    return tuple(items)


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _until_end(text: str, start: int) -> str:
    stop = min(start + LONGEST_SECTION, len(text))
    end = _END.search(text, start, stop)
    return text[start : end.start() if end else stop]


def _longest_closing(marks: list[re.Match[str]]) -> list[dict[str, int]]:
    """For each mark and what follows it: the longest fence of either kind that could close."""
    longest: list[dict[str, int]] = [{}]
    for mark in reversed(marks):
        so_far = longest[-1]
        fence = mark["fence"]
        if fence and not mark["rest"].strip():
            so_far = {**so_far, fence[0]: max(so_far.get(fence[0], 0), len(fence))}
        longest.append(so_far)
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
