"""`<future-agent-notes>` sections written in the one layout: two spaces a level, text escaped.

`&` and `<` are escaped, so that nothing in a text opens or closes an element.
"""

import textwrap
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import TypeVar

from nightwatch_core.memory.limits import LONGEST_ELEMENT, LONGEST_SECTION, MOST_ITEMS
from nightwatch_core.models.knowledge import Decision, Notes, Problem
from nightwatch_core.text import escaping

_FRAME = 400  # characters for what stands around the items

Kept = TypeVar("Kept")


def rendered(notes: Notes) -> str:
    """One section in the seed's layout, without a line end after it; empty for empty notes.

    What was normalised is read back the same: `notes_in(rendered(n)) == (normalised(n),)`.

    >>> from datetime import date
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
    return "" if kept.empty else _section(kept)


def normalised(notes: Notes) -> Notes:
    """The notes as they are kept: clean text of bounded size, nothing empty, everything named.

    A problem or decision without a name is named by the first thing that is said about it. Where
    the section would be too long, the last items are left out.
    """
    problems = _not_empty(map(_problem, notes.problems[:MOST_ITEMS]))
    decisions = _not_empty(map(_decision, notes.decisions[:MOST_ITEMS]))
    gotchas = _not_empty(map(_text, notes.gotchas[:MOST_ITEMS]))
    sizes = (
        *(len(problem_text(problem)) for problem in problems),
        *(len(decision_text(decision)) for decision in decisions),
        *(len(gotcha_text(gotcha)) for gotcha in gotchas),
    )
    room = bisect_right(tuple(accumulate(size + 1 for size in sizes)), LONGEST_SECTION - _FRAME)
    first, second = len(problems), len(problems) + len(decisions)
    return Notes(
        timestamp=notes.timestamp,
        problems=problems[:room],
        decisions=decisions[: max(room - first, 0)],
        gotchas=gotchas[: max(room - second, 0)],
    )


def _section(notes: Notes) -> str:
    """The section of notes that were normalised; no line end after it.

    >>> print(_section(Notes(decisions=(Decision(choice="Keep <T>"),))))
    <future-agent-notes>
      <decisions>
        <decision>
          <choice>Keep &lt;T></choice>
        </decision>
      </decisions>
    </future-agent-notes>
    """
    stamp = f"  <timestamp>{notes.timestamp}</timestamp>" if notes.timestamp else ""
    parts = (
        stamp,
        _group("problems", map(problem_text, notes.problems)),
        _group("decisions", map(decision_text, notes.decisions)),
        _group("gotchas", map(gotcha_text, notes.gotchas)),
    )
    inside = "\n\n".join(part for part in parts if part)
    return f"<future-agent-notes>\n{inside}\n</future-agent-notes>"


def problem_text(problem: Problem) -> str:
    """One `<problem>`; what is empty is left out.

    >>> print(problem_text(Problem(what="Slow", symptoms=("30s",))).strip())
    <problem>
          <what>Slow</what>
          <symptoms>
            - 30s
          </symptoms>
        </problem>
    """
    symptoms = "\n".join(f"        - {_escaped(symptom)}" for symptom in problem.symptoms)
    parts = (
        _element("what", problem.what, 6),
        f"      <symptoms>\n{symptoms}\n      </symptoms>" if symptoms else "",
        _element("root-cause", problem.root_cause, 6),
        _element("solution", problem.solution, 6),
        _element("prevention", problem.prevention, 6),
    )
    return _item("problem", parts)


def decision_text(decision: Decision) -> str:
    """One `<decision>`; what is empty is left out."""
    parts = (
        _element("choice", decision.choice, 6),
        _element("alternatives", decision.alternatives, 6),
        _element("rationale", decision.rationale, 6),
    )
    return _item("decision", parts)


def gotcha_text(gotcha: str) -> str:
    """One `<gotcha>`."""
    return _element("gotcha", gotcha, 4)


def _group(name: str, items: Iterable[str]) -> str:
    inside = "\n".join(items)
    return f"  <{name}>\n{inside}\n  </{name}>" if inside else ""


def _item(name: str, parts: Iterable[str]) -> str:
    inside = "\n".join(part for part in parts if part)
    return f"    <{name}>\n{inside}\n    </{name}>"


def _element(name: str, text: str, depth: int) -> str:
    """An element on one line; text of several lines stands indented between its tags."""
    pad = " " * depth
    if "\n" not in text:
        return f"{pad}<{name}>{_escaped(text)}</{name}>" if text else ""
    lines = "\n".join(f"{pad}  {line}".rstrip() for line in _escaped(text).split("\n"))
    return f"{pad}<{name}>\n{lines}\n{pad}</{name}>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _problem(problem: Problem) -> Problem | None:
    symptoms = _not_empty(_line(symptom) for symptom in problem.symptoms[:MOST_ITEMS])
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


def _not_empty(values: Iterable[Kept | None]) -> tuple[Kept, ...]:
    return tuple(value for value in values if value)


def _text(text: str) -> str:
    """Clean lines without the indentation they share; their first one says something.

    Twice, because a text that began with an empty line is dedented as a whole the first time, and
    without its first line from then on.
    """
    return _dedented(_dedented(text))


def _dedented(text: str) -> str:
    clean = escaping.clean(text[: 4 * LONGEST_ELEMENT].replace("\r\n", "\n").replace("\r", "\n"))
    first, _, rest = clean.partition("\n")
    dedented = textwrap.dedent(rest) if first.strip() else textwrap.dedent(clean)
    lines = (f"{first}\n{dedented}" if first.strip() else dedented).split("\n")
    return _cut("\n".join(line.rstrip() for line in lines).strip())


def _line(text: str) -> str:
    return _cut(" ".join(escaping.clean(text[: 4 * LONGEST_ELEMENT]).split()))


def _cut(text: str) -> str:
    return (
        text
        if len(text) <= LONGEST_ELEMENT
        else text[: LONGEST_ELEMENT - 1].rstrip() + escaping.MORE
    )
