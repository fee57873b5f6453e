"""`<future-agent-notes>` sections: read from any text, and rendered in the one layout.

Text in elements is escaped (`&` and `<`), so that nothing in it opens or closes an element.
"""

import html
import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterable
from datetime import date
from itertools import accumulate
from typing import TypeVar

from nightwatch_core.memory.notes.note_layout import (
    decision_text,
    gotcha_text,
    problem_text,
    section,
)
from nightwatch_core.memory.notes.note_sections import SECTION_SIZE, pieces, sections
from nightwatch_core.models.learning import Decision, Notes, Problem
from nightwatch_core.text import escaping

MOST_ITEMS = 50  # problems, decisions, gotchas, and symptoms of a problem
TEXT_SIZE = 4_000  # characters of one element

_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7}|#x[0-9a-f]{1,6});", re.IGNORECASE)
_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+")
_PROBLEM = ("what", "symptoms", "root-cause", "solution", "prevention")
_DECISION = ("choice", "alternatives", "rationale")
_KINDS = {
    **dict.fromkeys(("problem", *_PROBLEM), "problem"),
    **dict.fromkeys(("decision", *_DECISION), "decision"),
}

_FRAME = 400  # characters for what stands around the items

Kept = TypeVar("Kept")
Item = dict[str, str]  # element to its text, of one problem or decision


def notes_in(text: str) -> tuple[Notes, ...]:
    """Every section of a text that says something, in order; never raises.

    At most 20 sections of 64 KiB are read, and 50 items of each kind.

    >>> notes_in("<future-agent-notes><gotcha>a &lt; b</gotcha></future-agent-notes>")[0].gotchas
    ('a < b',)
    """
    found = (_notes(body) for body in sections(text.replace("\r\n", "\n").replace("\r", "\n")))
    return tuple(notes for notes in found if not notes.empty)


def rendered(notes: Notes) -> str:
    """One section in the seed's layout, without a line end after it; empty for empty notes.

    What was normalised is read back the same: `notes_in(rendered(n)) == (normalised(n),)`.

    >>> print(rendered(Notes(timestamp=date(2026, 1, 26), gotchas=("No `fs` on the edge",))))
    <future-agent-notes>
      <timestamp>2026-01-26</timestamp>
    <BLANKLINE>
      <gotchas>
        <gotcha>No `fs` on the edge</gotcha>
      </gotchas>
    </future-agent-notes>
    """
    kept = normalised(notes)
    return "" if kept.empty else section(kept)


def normalised(notes: Notes) -> Notes:
    """The notes as they are kept: clean text of bounded size, nothing empty, everything named.

    A problem or decision without a name is named by the first thing that is said about it. Where
    the section would be too long, the last items are left out.
    """
    problems = _some(map(_problem, notes.problems[:MOST_ITEMS]))
    decisions = _some(map(_decision, notes.decisions[:MOST_ITEMS]))
    gotchas = _some(map(_text, notes.gotchas[:MOST_ITEMS]))
    sizes = (
        *(len(problem_text(problem)) for problem in problems),
        *(len(decision_text(decision)) for decision in decisions),
        *(len(gotcha_text(gotcha)) for gotcha in gotchas),
    )
    room = bisect_right(tuple(accumulate(size + 1 for size in sizes)), SECTION_SIZE - _FRAME)
    first, second = len(problems), len(problems) + len(decisions)
    return Notes(
        timestamp=notes.timestamp,
        problems=problems[:room],
        decisions=decisions[: max(room - first, 0)],
        gotchas=gotchas[: max(room - second, 0)],
    )


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


def _problem(problem: Problem) -> Problem | None:
    symptoms = _some(_line(symptom) for symptom in problem.symptoms[:MOST_ITEMS])
    rest = tuple(map(_text, (problem.root_cause, problem.solution, problem.prevention)))
    what = next(filter(None, (_text(problem.what), *symptoms, *rest)), "")
    named = Problem(
        what=what, symptoms=symptoms, root_cause=rest[0], solution=rest[1], prevention=rest[2]
    )
    return named if what else None


def _decision(decision: Decision) -> Decision | None:
    rest = tuple(map(_text, (decision.alternatives, decision.rationale)))
    choice = next(filter(None, (_text(decision.choice), *reversed(rest))), "")
    named = Decision(choice=choice, alternatives=rest[0], rationale=rest[1])
    return named if choice else None


def _some(found: Iterable[Kept | None]) -> tuple[Kept, ...]:
    return tuple(value for value in found if value)


def _text(text: str) -> str:
    """Clean lines without the indentation they share; their first one says something.

    Twice, because a text that began with an empty line is dedented as a whole the first time, and
    without its first line from then on.
    """
    return _dedented(_dedented(text))


def _dedented(text: str) -> str:
    clean = escaping.clean(text[: 4 * TEXT_SIZE].replace("\r\n", "\n").replace("\r", "\n"))
    first, _, rest = clean.partition("\n")
    dedented = textwrap.dedent(rest) if first.strip() else textwrap.dedent(clean)
    lines = (f"{first}\n{dedented}" if first.strip() else dedented).split("\n")
    return _cut("\n".join(line.rstrip() for line in lines).strip())


def _line(text: str) -> str:
    return _cut(" ".join(escaping.clean(text[: 4 * TEXT_SIZE]).split()))


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_SIZE else text[: TEXT_SIZE - 1].rstrip() + escaping.MORE


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
