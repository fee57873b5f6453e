"""A lesson's notes: drawn from it by rule, added to its document, searched as a task's."""

import html
import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import accumulate
from typing import TypeVar

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.limits import (
    LONGEST_ELEMENT,
    LONGEST_SECTION,
    MOST_ITEMS,
    MOST_RELATED,
    MOST_SECTIONS,
)
from nightwatch_core.models.knowledge import (
    FAILED,
    Decision,
    Lesson,
    Notes,
    OutcomeEvent,
    Problem,
    TaskFile,
)
from nightwatch_core.text import escaping
from nightwatch_core.text.escaping import line

# Links between documents: what one names as related, and what lies in a task's own directory.

LINKED = 0.5  # share of its relevance that a document passes on to those it is linked with
_LINK = re.compile(r"\[[^\[\]]{0,300}\]\(([^()\s]{1,300})\)")  # [text](file)
_WIKI_LINK = re.compile(r"\[\[([^\[\]|]{1,300})(?:\|[^\[\]]{0,300})?\]\]")  # [[file|text]]

Passed = Mapping[str, tuple[float, str]]  # id to the relevance it was passed, and by whom


def passed_on(
    relevant: Mapping[str, float], documents: Mapping[str, TaskFile], about: Iterable[TaskFile] = ()
) -> Passed:
    """Return the score documents inherit from linked ones, the highest of them.

    `relevant` maps ids to a relevance of their own; links are followed once. What the documents
    names that the search is `about` gets the full share. A task's directory is linked with the
    task, both ways: `auth` and `auth/research`.
    """
    names = _names(documents)
    passed: dict[str, tuple[float, str]] = {}
    subjects = [(file.id, 1.0, file) for file in about]
    own = [(id, relevant[id], documents[id]) for id in sorted(relevant)]
    for id, relevance, document in (*subjects, *own):
        share = LINKED * relevance
        for target in linked_with(document, names):
            if target != id and share > passed.get(target, (0.0, ""))[0]:
                passed[target] = (share, id)
    return passed


def linked_with(document: TaskFile, names: Mapping[str, Sequence[str]]) -> list[str]:
    """The ids of the documents that one names, and of those in its directory or that it lies in."""
    own = _directory(document.id)
    named = [id for task in document.related_tasks for id in _meant(task, names)]
    inside = [id for id in names.get(f"{document.id}/", ()) if id != document.id]
    beside = [*names.get(own, ()), *names.get(f"{own}/", ())] if own else []
    return list(dict.fromkeys((*named, *inside, *beside)))


def plain_name(link: str) -> str:
    """Return a link as people write one, without what is around the name.

    >>> plain_name("[Search](../tasks/task-a.md#notes)"), plain_name("[[task-b|B]]")
    ('../tasks/task-a.md', 'task-b')
    >>> plain_name("v1:0a1b")
    'v1:0a1b'
    """
    written = _WIKI_LINK.search(link) or _LINK.search(link)
    target = written[1] if written else link
    return target.strip().strip("`'\"<>").partition("#")[0].strip()


def _meant(link: str, names: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The ids a link may mean: as it stands, else by the last parts of its path."""
    name = plain_name(link)
    steps = [step for step in name.removesuffix(".md").split("/") if step not in ("", ".", "..")]
    tails = ("/".join(steps[-count:]) for count in (2, 1) if len(steps) >= count)
    for item in (link, name, *tails):
        if ids := names.get(item) or names.get(f"{item}/"):
            return ids
    return ()


def _names(documents: Mapping[str, TaskFile]) -> Mapping[str, list[str]]:
    """Every name of a document to its id; `auth/` names all documents of that directory."""
    names: dict[str, list[str]] = {}
    for id, document in documents.items():
        for name in {id, document.file} - {""}:
            names.setdefault(name, []).append(id)
        if own := _directory(id):
            names.setdefault(f"{own}/", []).append(id)
    return names


def _directory(id: str) -> str:
    return id.rpartition("/")[0]


# `<future-agent-notes>` sections written in the one layout: two spaces a level, text escaped.
#
# `&` and `<` are escaped, so that nothing in a text opens or closes an element.

_FRAME = 400  # characters for what stands around the items

Kept = TypeVar("Kept")


def rendered(notes: Notes) -> str:
    """Return one section in the seed's layout, without a line end after it; empty for empty notes.

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
    """Return one `<problem>`; what is empty is left out.

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
    """Return one `<decision>`; what is empty is left out."""
    parts = (
        _element("choice", decision.choice, 6),
        _element("alternatives", decision.alternatives, 6),
        _element("rationale", decision.rationale, 6),
    )
    return _item("decision", parts)


def gotcha_text(gotcha: str) -> str:
    """Return one `<gotcha>`."""
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


_BAD_ENDS = ("closed unmerged", "not planned", "no effect", "regressed")


def draw_notes(lesson: Lesson, on: date) -> Notes:
    """Draw the notes of a lesson by rule; where its fix was verified, with the figures that say so.

    >>> fate = OutcomeEvent(kind="verified", number=7, on=date(2030, 5, 9),
    ...                     because="40 a day, now 0")
    >>> lesson = Lesson(fingerprint="v1:a", error_class="KeyError", root_cause="No default.",
    ...                 title="No total", first_detected=date(2030, 5, 1), fates=(fate,))
    >>> draw_notes(lesson, date(2030, 5, 9)).problems[0].solution
    'Pull request #7, verified: 40 a day, now 0'
    """
    own = lesson_notes(lesson)
    problem = own.problems[0]
    if fate := _proof(lesson):
        tried = "; ".join(edit.description for edit in lesson.edits if edit.description)
        pull = f"Pull request #{fate.number}" if fate.number else "Its fix"
        figures = f"{pull}, verified" + (f": {fate.because}" if fate.because else "")
        update = {
            "solution": f"{tried} ({figures})" if tried else figures,
            "prevention": "; ".join(lesson.next_steps) or problem.prevention,
        }
        problem = problem.model_copy(update=update)
    return normalised(own.model_copy(update={"timestamp": on, "problems": (problem,)}))


def add_notes(lesson: Lesson, notes: Notes, related: tuple[str, ...] = ()) -> Lesson:
    """Add notes at the end of a lesson and links to what is related.

    The very same notes are not added twice. Raises `GiveUp` where there is nothing to note, or the
    lesson has 20 sections already.
    """
    kept = normalised(notes)
    if kept.empty:
        raise GiveUp("there is nothing to note: no problem, decision or gotcha")
    if kept not in lesson.notes and len(lesson.notes) >= MOST_SECTIONS:
        raise GiveUp(f"{lesson.file or 'the lesson'} has {MOST_SECTIONS} sections of notes already")
    notes_now = lesson.notes if kept in lesson.notes else (*lesson.notes, kept)
    own = lesson.names | {lesson.file}
    linked = dict.fromkeys((*lesson.related, *(item for item in related if item not in own)))
    return lesson.model_copy(update={"notes": notes_now, "related": tuple(linked)[-MOST_RELATED:]})


def _proof(lesson: Lesson) -> OutcomeEvent | None:
    """That the very fix the lesson holds was verified, and nothing spoke against it since."""
    ends = [fate for fate in lesson.fates if fate.kind in ("verified", *FAILED)]
    if not ends or ends[-1].kind != "verified":
        return None
    fixes = {item.fix for item in lesson.proposed if item.number == ends[-1].number and item.fix}
    is_another = bool(fixes) and fix_digest(lesson.edits) not in fixes
    return None if is_another else ends[-1]


def as_task(lesson: Lesson) -> TaskFile:
    """Show a lesson as a task file, so that both are searched alike.

    Where its notes tell of no problem, one is made of its own root cause and learnings; of one
    that knows no cause there is nothing but what people noted.
    """
    has_problems = any(notes.problems for notes in lesson.notes)
    own = () if has_problems or not lesson.has_cause else (lesson_notes(lesson),)
    notes = (*own, *lesson.notes)
    return TaskFile(
        id=lesson.fingerprint,
        file=lesson.file,
        title=lesson.title or f"{lesson.error_class} in {lesson.transaction}",
        related_tasks=lesson.related,
        notes=tuple(note for note in notes if not note.empty),
        promoted=lesson.promoted,
    )


def lesson_notes(lesson: Lesson) -> Notes:
    """Write what a lesson says by itself as notes; a fix that came to nothing is said to have."""
    seen = [night.date for night in lesson.nights] or [lesson.first_detected]
    tried = [edit.description for edit in lesson.edits if edit.description]
    solution = "; ".join(tried or lesson.next_steps)
    if solution and lesson.outcome in _BAD_ENDS:
        solution = f"Proposed, then {lesson.outcome}{_reviewers_words(lesson)}: {solution}"
    elif solution and not tried:
        solution = f"None yet; next: {solution}"
    problem = Problem(
        what=lesson.title or f"{lesson.error_class} in {lesson.transaction}",
        symptoms=(f"{lesson.error_class}: {lesson.message}",) if lesson.message else (),
        root_cause=lesson.root_cause,
        solution=solution,
    )
    return Notes(timestamp=max(seen), problems=(problem,), gotchas=lesson.learnings)


def _reviewers_words(lesson: Lesson) -> str:
    last = next((fate for fate in reversed(lesson.fates) if fate.kind == lesson.outcome), None)
    words = line(" / ".join(last.words[:3]), 500) if last else ""
    return f" (“{words}”)" if words else ""


# `<future-agent-notes>` sections read from any text.
#
# People edit these sections by hand and strangers' text stands around them. So reading is tolerant,
# every pattern is bounded, and the time taken grows with the length of the text, not faster.

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
    """Return every section of a text that says something, in order; never raises.

    At most 20 sections of 64 KiB are read, and 50 items of each kind.

    >>> notes_in("<future-agent-notes><gotcha>a &lt; b</gotcha></future-agent-notes>")[0].gotchas
    ('a < b',)
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return tuple(notes for body in sections(text) if not (notes := _notes(body)).empty)


def sections(text: str) -> Iterator[str]:
    r"""Yield the inside of every section, in order; none from within a closed code block.

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
            start = mark.end()
            stop = min(start + LONGEST_SECTION, len(text))
            end = _END.search(text, start, stop)
            body = text[start : end.start() if end else stop]
            passed = mark.end() + len(body)
            found += 1
            yield body
        elif closing[number].get(fence[0], 0) >= len(fence):
            number = 1 + next(
                later for later in range(number, len(marks)) if _closes(marks[later], fence)
            )


def pieces(body: str) -> Iterator[Piece]:
    """Yield the elements of a section and the text that stands in each, as they come.

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
    for row in lines:
        bullet = _BULLET.match(row)
        if bullet or not items:
            items.append(row[bullet.end() :] if bullet else row)
        else:
            items[-1] += f" {row}"
    return tuple(items)


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


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
