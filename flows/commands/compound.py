"""`nightwatch compound` and `feedback`: keep what people say of an error or a task."""

import sys
from contextlib import suppress
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from flows.commands.memory import allowance_of_a_question, documents_with_learnings, for_words
from flows.commands.night import make_prefect_ready
from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.default_ports import RULES, is_sample
from nightwatch_core.learnings.compound import (
    PROMPT,
    QUESTION,
    DrawnNotes,
    captured_text,
    draw_by_model,
    draw_by_rule,
    drawn_text,
    last_published,
    related_text,
    similar,
)
from nightwatch_core.memory.lesson_text import lessons_in
from nightwatch_core.memory.note_reader import add_notes, as_task
from nightwatch_core.memory.occurrences import last_seen
from nightwatch_core.memory.outcomes import apply_outcomes
from nightwatch_core.models.conversation import Transcript
from nightwatch_core.models.knowledge import (
    Feedback,
    Lesson,
    Notes,
    OutcomeEvent,
    OutcomeUpdate,
    TaskFile,
)
from nightwatch_core.settings import Settings, settings
from nightwatch_core.text.escaping import clean, line
from nightwatch_core.text.templates import is_beginning, is_name
from tasks import wiring
from tasks.wiring import journals
from tasks.wiring.opening import OpenNight

Id = Annotated[
    str,
    typer.Argument(
        help="Fingerprint of a lesson (or its beginning), or id of a task; "
        "empty: the last item that the newest night published."
    ),
]
Yes = Annotated[
    bool, typer.Option("--yes", help="Write without asking; required without a terminal.")
]
Rules = Annotated[bool, typer.Option("--no-model", help="Use no model: rules write the notes.")]

_UNASKED = "nothing was written: without a terminal, confirm with --yes"


class Target(NamedTuple):
    """A lesson or a task file that notes are written for."""

    task: TaskFile  # the lesson as one, where it is a lesson
    lesson: Lesson | None


def compound(id: Id = "", yes: Yes = False, no_model: Rules = False) -> None:
    """Write notes for the next developer or agent about an error or a task.

    A model writes the notes from the night's transcript, or from
    the task's research, plan, implementation and ship sections. Without a
    model, rules take them from the lesson or those sections. Shows similar
    learnings and the notes, and asks before each step. Without a terminal, nothing
    is written unless --yes is given.
    """
    make_prefect_ready(settings().state, verbose=False)
    console = Console(highlight=False)

    def say(text: str) -> None:
        console.print(Text(f"{clean(text)}\n"), soft_wrap=True)

    opened = for_words(settings())
    target = _target(id.strip(), opened)
    say(f"{target.task.id}: {target.task.title}")
    related = similar(target.task, documents_with_learnings(opened.settings))
    if related:
        say(related_text(related))
    _agree(QUESTION if related else "Write notes from it?", yes)
    drawn = draw_notes(opened, target, no_model)
    say(drawn_text(drawn))
    _agree("Write this?", yes)
    file = _keep(target, drawn.notes, tuple(item.task_id for item in related), opened)
    say(captured_text(file, drawn.notes))


def _agree(question: str, yes: bool) -> None:
    """Ask; raises `StopTheNight` without a terminal, and ends well where the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise StopTheNight(_UNASKED)
    if not typer.confirm(question, default=True):
        typer.echo("Nothing was written.")
        raise typer.Exit


def _target(id: str, opened: OpenNight) -> Target:
    options, at = opened.options, opened.settings
    if not id:
        reports = wiring.nights(at).reports()
        id = last_published(tuple(r for r in reports if is_sample(r.options) == is_sample(options)))
    if not is_sample(options) and (task := wiring.task_store(at).read(id)):
        return Target(task, None)
    lesson = _lesson(id, opened)
    return Target(as_task(lesson), lesson)


def feedback(
    fingerprint: Annotated[str, typer.Argument(help="Fingerprint of the error, or its beginning.")],
    verdict: Annotated[Feedback, typer.Argument(help="Whether the finding helped.")],
) -> None:
    """Say whether a finding was useful or wrong; it counts on the scoreboard.

    The labels nightwatch:useful and nightwatch:wrong on its issue or draft say the same. A finding
    that is wrong is analysed again.
    """
    make_prefect_ready(settings().state, verbose=False)
    opened = for_words(settings())
    lesson, now = _lesson(fingerprint.strip(), opened), opened.reading.clock.now()
    said = OutcomeEvent(kind=verdict, on=now.date(), night=f"feedback {now.isoformat()}")
    news = OutcomeUpdate(fingerprint=lesson.fingerprint, outcomes=(said,))
    file = opened.publishing.knowledge.write(apply_outcomes(lesson, news))
    Console(soft_wrap=True).print(Text(f"{verdict}: {line(lesson.title, 200)} ({file})"))


def _lesson(id: str, opened: OpenNight) -> Lesson:
    lessons = lessons_in(opened.reading.knowledge)
    exact = [lesson for lesson in lessons if is_name(id, lesson.names)]
    matches = exact or [lesson for lesson in lessons if is_beginning(id, lesson.names, 1)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        several = ", ".join(lesson.fingerprint for lesson in matches[:5])
        raise StopTheNight(
            f"{line(id, 80)!r} matches {several}: give more characters of the fingerprint"
        )
    newest = sorted(lessons, key=last_seen, reverse=True)[:5]
    known = ", ".join(lesson.fingerprint for lesson in newest) or "none yet"
    raise StopTheNight(
        f"there is no lesson {line(id, 80)!r}; the newest: {known}. Find others with `nightwatch "
        "knowledge search`; tasks are files in the folder NIGHTWATCH_TASKS_DIR"
    )


def draw_notes(opened: OpenNight, target: Target, by_rule: bool) -> DrawnNotes:
    """Write notes for a target: by the connected model, or by rules."""
    ports, options = opened.reading, opened.options
    today = ports.clock.now().date()
    if by_rule or options.model == RULES:
        why = "you chose --no-model" if by_rule else "no language model is set up"
        return draw_by_rule(target.task, target.lesson, why, today)
    prompt, may = ports.agents.agent(PROMPT).prompt, allowance_of_a_question(options)
    at, lesson = opened.settings, target.lesson
    transcript = _newest_transcript(lesson, at) if lesson else None
    return draw_by_model(target.task, target.lesson, transcript, ports.model, prompt, may, today)


def _newest_transcript(lesson: Lesson, at: Settings) -> Transcript | None:
    kept = []
    for name in (lesson.fingerprint, *lesson.aliases):
        with suppress(StopTheNight):
            kept.append(journals.transcript(at, name, ""))
    return max(kept, key=lambda item: str(item.entries[0].at), default=None)


def _keep(target: Target, notes: Notes, related: tuple[str, ...], opened: OpenNight) -> str:
    """Append the notes and link what is related; return the file. Raises `GiveUp`."""
    if target.lesson is None:
        return wiring.task_store(opened.settings).append(target.task.id, notes, related)
    # Read again: a night may have written the lesson while a person was thinking.
    lesson = opened.reading.knowledge.read(target.lesson.file) or target.lesson
    return opened.publishing.knowledge.write(add_notes(lesson, notes, related))
