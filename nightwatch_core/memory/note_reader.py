"""`<future-agent-notes>` sections: read, written, drawn from a lesson by rule, and searched."""

import html
import re
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date
from functools import cache
from itertools import islice

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory import limits
from nightwatch_core.models import knowledge
from nightwatch_core.text import escaping
from nightwatch_core.text.escaping import line

_PROBLEM = ("what", "symptoms", "root_cause", "solution", "prevention")
_DECISION = ("choice", "alternatives", "rationale")
_NAME = ""  # the text right in a problem or decision, which names it where no field does
_NAMES = "|".join(("timestamp|problems?|decisions?|gotchas?|root-cause", *_PROBLEM, *_DECISION))
_TAG = re.compile(rf"<(/?)({_NAMES})(?:\s[^<>]{{0,200}})?>", re.IGNORECASE | re.ASCII)
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
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
_BAD_ENDS = ("closed unmerged", "not planned", "no effect", "regressed")


# Writing: two spaces a level; `&` and `<` are escaped, so that no text opens or closes an element.


def rendered(notes: knowledge.Notes) -> str:
    """Return one section, without a line end after it; empty for empty notes.

    What was normalised is read back the same: `notes_in(rendered(n)) == (normalised(n),)`.
    """
    kept = normalised(notes)
    return "" if kept.empty else _template().render(notes=kept)


def normalised(notes: knowledge.Notes) -> knowledge.Notes:
    """Return clean notes of bounded size, without empty items, each item named.

    A problem or decision without a name is named by the first thing that is said about it. Where
    the section would be too long, the last items are left out.
    """
    most = limits.MOST_ITEMS
    kept = knowledge.Notes(
        timestamp=notes.timestamp,
        problems=tuple(filter(None, map(_problem, notes.problems[:most]))),
        decisions=tuple(filter(None, map(_decision, notes.decisions[:most]))),
        gotchas=tuple(filter(None, map(_text, notes.gotchas[:most]))),
    )
    while len(_template().render(notes=kept)) > limits.LONGEST_SECTION:
        last = next(name for name in ("gotchas", "decisions", "problems") if getattr(kept, name))
        kept = kept.model_copy(update={last: getattr(kept, last)[:-1]})
    return kept


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("nightwatch_core.memory"),
        autoescape=False,  # noqa: S701 - every text passes `escaped`
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["escaped"] = lambda text: text.replace("&", "&amp;").replace("<", "&lt;")
    environment.filters["indented"] = lambda text, depth: "\n".join(
        f"{' ' * depth}{row}".rstrip() for row in text.split("\n")
    )
    return environment.get_template("notes.xml.j2")


def _problem(problem: knowledge.Problem) -> knowledge.Problem | None:
    symptoms = tuple(filter(None, map(_one_line, problem.symptoms[: limits.MOST_ITEMS])))
    rest = tuple(map(_text, (problem.root_cause, problem.solution, problem.prevention)))
    what = next(filter(None, (_text(problem.what), *symptoms, *rest)), "")
    named = knowledge.Problem(
        what=what, symptoms=symptoms, root_cause=rest[0], solution=rest[1], prevention=rest[2]
    )
    return named if what else None


def _decision(decision: knowledge.Decision) -> knowledge.Decision | None:
    rest = tuple(map(_text, (decision.alternatives, decision.rationale)))
    choice = next(filter(None, (_text(decision.choice), *reversed(rest))), "")
    named = knowledge.Decision(choice=choice, alternatives=rest[0], rationale=rest[1])
    return named if choice else None


def _text(text: str) -> str:
    """Clean lines without the indentation they share."""
    text = text[: 4 * limits.LONGEST_ELEMENT].replace("\r\n", "\n").replace("\r", "\n")
    clean = escaping.clean(text)
    first, _, rest = clean.strip().partition("\n")
    lines = f"{first}\n{textwrap.dedent(rest)}".split("\n")
    return _cut("\n".join(row.rstrip() for row in lines).strip())


def _one_line(text: str) -> str:
    return _cut(" ".join(escaping.clean(text[: 4 * limits.LONGEST_ELEMENT]).split()))


def _cut(text: str) -> str:
    is_short = len(text) <= limits.LONGEST_ELEMENT
    return text if is_short else text[: limits.LONGEST_ELEMENT - 1].rstrip() + escaping.MORE


# Reading: people edit sections by hand and strangers' text surrounds them. So reading is tolerant,
# every pattern is bounded, and the time grows with the length of the text, not faster.


def notes_in(text: str) -> tuple[knowledge.Notes, ...]:
    """Return every section of a text that is not empty, in order; never raises.

    At most 20 sections of 64 KiB are read, and 50 items of each kind.
    """
    bodies = _sections(text.replace("\r\n", "\n").replace("\r", "\n"))
    every = map(_notes, islice(bodies, limits.MOST_SECTIONS))
    return tuple(notes for notes in every if not notes.empty)


def _sections(text: str) -> Iterator[str]:
    fence, passed = "", 0
    for mark in _MARK.finditer(text):
        if mark.start() < passed:
            continue
        if fence:
            is_end = (mark["fence"] or "").startswith(fence) and not mark["rest"].strip()
            fence = "" if is_end else fence
        elif mark["fence"]:
            fence = "" if "`" in mark["rest"] else mark["fence"]
        else:
            stop = min(mark.end() + limits.LONGEST_SECTION, len(text))
            end = _END.search(text, mark.end(), stop)
            passed = end.start() if end else stop
            yield text[mark.end() : passed]


def _notes(body: str) -> knowledge.Notes:
    """Read the elements of a section, whatever they stand in.

    The text of an element ends with the next tag. A problem or decision begins with its tag, or
    with a field that the last one has already; text right in it is its name.
    """
    problems: list[dict[str, str]] = [{}]
    decisions: list[dict[str, str]] = [{}]
    gotchas: list[str] = []
    timestamp = None
    for name, text in _elements(body):
        if name in _PROBLEM:
            _add(problems, name, text)
        elif name in _DECISION:
            _add(decisions, name, text)
        elif name == "problem":
            problems.append({_NAME: text})
        elif name == "decision":
            decisions.append({_NAME: text})
        elif name == "gotcha":
            gotchas.append(text)
        elif name == "gotchas":
            gotchas += _listed(text)
        elif name == "timestamp":
            with suppress(ValueError):
                timestamp = date.fromisoformat(text[:10])
    read = (
        {"what": item.pop(_NAME, ""), **item, "symptoms": _listed(item.get("symptoms", ""))}
        for item in problems
    )
    choices = ({"choice": item.pop(_NAME, ""), **item} for item in decisions)
    return normalised(
        knowledge.Notes(
            timestamp=timestamp,
            problems=tuple(map(knowledge.Problem.model_validate, read)),
            decisions=tuple(map(knowledge.Decision.model_validate, choices)),
            gotchas=tuple(gotchas),
        )
    )


def _elements(body: str) -> Iterator[tuple[str, str]]:
    _, *parts = _TAG.split(_COMMENT.sub("", body))
    for closing, name, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if not closing:
            unescaped = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
            yield name.lower().replace("-", "_"), unescaped.strip("\n").rstrip()


def _add(items: list[dict[str, str]], name: str, text: str) -> None:
    if name in items[-1]:
        items.append({})
    items[-1][name] = text


def _listed(text: str) -> tuple[str, ...]:
    """Items of a list, their later lines joined; without any bullet every line is an item."""
    lines = [stripped for row in text.split("\n") if (stripped := row.strip())]
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


# Notes of lessons.


def draw_notes(lesson: knowledge.Lesson, on: date) -> knowledge.Notes:
    """Draw the notes of a lesson by rule; a verified fix is told with its figures."""
    own = lesson_notes(lesson)
    problem = own.problems[0]
    if event := _verified_fix(lesson):
        tried = "; ".join(edit.description for edit in lesson.edits if edit.description)
        pull = f"Pull request {event.sign}{event.number}" if event.number else "Its fix"
        figures = f"{pull}, verified" + (f": {event.because}" if event.because else "")
        update = {
            "solution": f"{tried} ({figures})" if tried else figures,
            "prevention": "; ".join(lesson.next_steps) or problem.prevention,
        }
        problem = problem.model_copy(update=update)
    return normalised(own.model_copy(update={"timestamp": on, "problems": (problem,)}))


def _verified_fix(lesson: knowledge.Lesson) -> knowledge.OutcomeEvent | None:
    """The event that verified the lesson's present fix, unless a later one speaks against it."""
    ends = [event for event in lesson.outcomes if event.kind in ("verified", *knowledge.FAILED)]
    if not ends or ends[-1].kind != "verified":
        return None
    fixes = {item.fix for item in lesson.proposed if item.number == ends[-1].number and item.fix}
    return ends[-1] if not fixes or fix_digest(lesson.edits) in fixes else None


def add_notes(
    lesson: knowledge.Lesson, notes: knowledge.Notes, related: Iterable[str] = ()
) -> knowledge.Lesson:
    """Add notes at the end of a lesson, and links to related documents.

    The very same notes are not added twice. Raises `GiveUp` where there is nothing to note, or the
    lesson has 20 sections already.
    """
    kept = normalised(notes)
    if kept.empty:
        raise GiveUp("there is nothing to note: no problem, decision or gotcha")
    every = tuple(dict.fromkeys((*lesson.notes, kept)))
    if len(every) > max(limits.MOST_SECTIONS, len(lesson.notes)):
        raise GiveUp(
            f"{lesson.file or 'the lesson'} has {limits.MOST_SECTIONS} sections of notes already"
        )
    own = lesson.names | {lesson.file}
    linked = dict.fromkeys((*lesson.related, *(item for item in related if item not in own)))
    update = {"notes": every, "related": tuple(linked)[-limits.MOST_RELATED :]}
    return lesson.model_copy(update=update)


def as_task(lesson: knowledge.Lesson) -> knowledge.TaskFile:
    """Show a lesson as a task file, so that both are searched alike.

    Where its notes tell of no problem, its own root cause and learnings stand in for them.
    """
    has_problems = any(notes.problems for notes in lesson.notes)
    own = () if has_problems or not lesson.has_cause else (lesson_notes(lesson),)
    return knowledge.TaskFile(
        id=lesson.fingerprint,
        file=lesson.file,
        title=lesson.title or f"{lesson.error_class} in {lesson.transaction}",
        related_tasks=lesson.related,
        notes=tuple(note for note in (*own, *lesson.notes) if not note.empty),
        promoted=lesson.promoted,
    )


def lesson_notes(lesson: knowledge.Lesson) -> knowledge.Notes:
    """Write a lesson's own fields as notes; the solution says so where a fix failed."""
    seen = [night.date for night in lesson.nights] or [lesson.first_detected]
    tried = [edit.description for edit in lesson.edits if edit.description]
    solution = "; ".join(tried or lesson.next_steps)
    if solution and lesson.outcome in _BAD_ENDS:
        same = (event for event in reversed(lesson.outcomes) if event.kind == lesson.outcome)
        last = next(same, None)
        comments = line(" / ".join(last.words[:3]), 500) if last else ""
        quoted = f" (“{comments}”)" if comments else ""
        solution = f"Proposed, then {lesson.outcome}{quoted}: {solution}"
    elif solution and not tried:
        solution = f"None yet; next: {solution}"
    problem = knowledge.Problem(
        what=lesson.title or f"{lesson.error_class} in {lesson.transaction}",
        symptoms=(f"{lesson.error_class}: {lesson.message}",) if lesson.message else (),
        root_cause=lesson.root_cause,
        solution=solution,
    )
    return knowledge.Notes(timestamp=max(seen), problems=(problem,), gotchas=lesson.learnings)
