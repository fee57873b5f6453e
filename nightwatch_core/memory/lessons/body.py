"""The part of a lesson's document that people read: escaped or fenced; only notes are read back."""

from collections.abc import Callable, Iterable
from itertools import islice

from nightwatch_core.memory import limits
from nightwatch_core.memory.lessons.related_patterns import related_patterns
from nightwatch_core.memory.notes.note_layout import rendered
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.knowledge import Lesson, Notes
from nightwatch_core.models.outcome import OutcomeEvent
from nightwatch_core.text.escaping import clean, code_span, fenced, markdown

_NOT_KNOWN = "Not known: it was looked at, and nothing was proved."


def body(lesson: Lesson) -> str:
    """Write the sections of a lesson that have something to say."""
    return "\n\n".join(part for write in SECTIONS if (part := write(lesson)))


def short_body(lesson: Lesson) -> str:
    """Write what is shown of a lesson whose body would be too long."""
    return "\n\n".join(part for part in (_heading(lesson), _standing(lesson)) if part)


def notes_text(notes: tuple[Notes, ...]) -> str:
    """Write the `<future-agent-notes>` sections of a body, as many of the newest as fit."""
    room, kept = limits.LONGEST_NOTES_SHOWN, []
    for one in reversed(notes[-limits.MOST_SECTIONS :]):
        text = rendered(one)
        room -= len(text)
        if room < 0:
            break
        kept.append(text)
    return "\n\n".join(text for text in reversed(kept) if text)


def summary(lesson: Lesson) -> str:
    """Give the first 500 characters of the document's body, for the next analyst.

    >>> from datetime import date
    >>> print(summary(Lesson(fingerprint="v1:a", error_class="KeyError", root_cause="No default.",
    ...                      first_detected=date(2030, 5, 1))))
    # KeyError
    <BLANKLINE>
    ## Root Cause
    <BLANKLINE>
    No default.
    """
    return body(lesson)[: limits.LONGEST_SUMMARY]


def _heading(lesson: Lesson) -> str:
    return f"# {markdown(lesson.title or lesson.error_class, limits.LONGEST_TITLE)}"


def _standing(lesson: Lesson) -> str:
    """Why the lesson is not to be relied upon, where it is not."""
    gone = f"Superseded by {code_span(lesson.superseded_by)}." if lesson.superseded_by else ""
    stale = f"Stale: {markdown(lesson.stale, 300)}." if lesson.stale else ""
    return " ".join(f"**{reason}**" for reason in (gone, stale) if reason)


def _root_cause(lesson: Lesson) -> str:
    return f"## Root Cause\n\n{_paragraphs(lesson.root_cause) or _NOT_KNOWN}"


def _evidence(lesson: Lesson) -> str:
    lines = (
        f"- {code_span(f'{cited.path}:{cited.line}')}\n\n{_indented(fenced(cited.quote))}"
        if cited.quote
        else f"- {code_span(f'{cited.path}:{cited.line}')}"
        for cited in lesson.evidence
    )
    return _section("Evidence", lines)


def _proposed_fix(lesson: Lesson) -> str:
    room, parts = limits.LONGEST_FIX_SHOWN, []
    for edit in lesson.edits[: limits.MOST_EDITS_SHOWN]:
        parts.append(fenced(_as_diff(edit), "diff", max(room, 0)))
        room -= len(edit.old) + len(edit.new)
    return "## Proposed Fix\n\n" + "\n\n".join(parts) if parts else ""


def _as_diff(edit: Edit) -> str:
    head = (f"--- {edit.path}", f"+++ {edit.path}")
    rows = (
        (f"-{row}" for row in edit.old.splitlines()),
        (f"+{row}" for row in edit.new.splitlines()),
    )
    return "\n".join((*head, *rows[0], *rows[1]))


def _fix_owed(lesson: Lesson) -> str:
    why = markdown(lesson.fix_owed, limits.LONGEST_WORDS)
    return f"## Fix Owed\n\nWhat was proposed could not be made: {why}." if why else ""


def _question(lesson: Lesson) -> str:
    return f"## Question\n\n{_paragraphs(lesson.question)}" if lesson.question else ""


def _next_steps(lesson: Lesson) -> str:
    return _section(
        "Next Steps", (f"- {markdown(step, limits.LONGEST_WORDS)}" for step in lesson.next_steps)
    )


def _file_changes(lesson: Lesson) -> str:
    return _section(
        "File Changes",
        (
            f"- {code_span(edit.path)}: {edit.action}"
            + (f" — {markdown(edit.description, limits.LONGEST_WORDS)}" if edit.description else "")
            for edit in lesson.edits[: limits.MOST_EDITS_SHOWN]
        ),
    )


def _learnings(lesson: Lesson) -> str:
    return _section(
        "Learnings", (f"- {markdown(fact, limits.LONGEST_WORDS)}" for fact in lesson.learnings)
    )


def _outcome(lesson: Lesson) -> str:
    return _section("Outcome", map(_fate, lesson.fates[-limits.MOST_ROWS :]))


def _fate(fate: OutcomeEvent) -> str:
    number = f" {code_span(f'#{fate.number}')}" if fate.number is not None else ""
    because = f": {markdown(fate.because, limits.LONGEST_WORDS)}" if fate.because else ""
    words = (markdown(quote, limits.LONGEST_WORDS) for quote in fate.words if quote.strip())
    quoted = "".join(f"\n  - “{text}”" for text in words)
    return f"- {fate.on.isoformat()}:{number} {fate.kind}{because}{quoted}"


def _history(lesson: Lesson) -> str:
    rows = (
        f"- {seen.date.isoformat()}: {seen.occurrences} times, {markdown(seen.verdict)}"
        f" ({markdown(seen.night)})"
        for seen in lesson.nights
    )
    return _section("History", rows)


SECTIONS: tuple[Callable[[Lesson], str], ...] = (
    _heading,
    _standing,
    _root_cause,
    _evidence,
    _proposed_fix,
    _fix_owed,
    _question,
    _next_steps,
    _file_changes,
    _learnings,
    related_patterns,
    _outcome,
    _history,
)


def _section(title: str, rows: Iterable[str]) -> str:
    listed = "\n".join(islice(rows, limits.MOST_ROWS))
    return f"## {title}\n\n{listed}" if listed else ""


def _item(text: str) -> str:
    return f"- {markdown(text, limits.LONGEST_WORDS)}"


def _paragraphs(text: str) -> str:
    """Prose with its paragraphs, each escaped."""
    parts = (markdown(part, 4_000) for part in clean(text[:20_000]).split("\n\n"))
    return "\n\n".join(part for part in parts if part)


def _indented(text: str) -> str:
    return "\n".join(f"  {row}" if row else "" for row in text.splitlines())
