"""`nightwatch learnings`: what was learned before that has to do with what you intend."""

from typing import Annotated

import typer

from flows.commands.running import Sample, plain_console
from nightwatch_core.intake.default_ports import SAMPLE
from nightwatch_core.memory.lessons.all_lessons import archived_lessons, lessons_in
from nightwatch_core.memory.notes.learnings_text import as_yaml
from nightwatch_core.memory.notes.lesson_notes import as_task
from nightwatch_core.memory.notes.researcher import LIMIT, relevant_learnings
from nightwatch_core.models.knowledge import FoundLearning, TaskFile
from nightwatch_core.models.options import NightOptions
from tasks.wiring import knowledge_of, task_store

Intent = Annotated[str, typer.Argument(help="What you are about to do, in a sentence.")]
Limit = Annotated[int, typer.Option(min=1, max=50, help="Documents to name at most.")]
Archive = Annotated[bool, typer.Option("--archive", help="Look at archived lessons, too.")]


def learnings(
    intent: Intent, limit: Limit = 5, archive: Archive = False, sample: Sample = False
) -> None:
    """Find earlier learnings for an intent in lessons and task files; prints YAML."""
    results = search_learnings(intent, sample, limit, archive)
    plain_console()
    typer.echo(as_yaml(results), nl=False)


def search_learnings(
    intent: str, sample: bool, limit: int = LIMIT, archive: bool = False
) -> tuple[FoundLearning, ...]:
    """Return what lessons and task files say of an intent; `archive`: archived lessons, too.

    Raises `GiveUp` where the intent says nothing.
    """
    return relevant_learnings(intent, documents_with_learnings(sample, archive), limit)


def documents_with_learnings(sample: bool, archive: bool = False) -> tuple[TaskFile, ...]:
    """Every task file, and every lesson that was not superseded; the sample has no task files."""
    knowledge = knowledge_of(NightOptions(source=SAMPLE if sample else "file"))
    old = archived_lessons(knowledge) if archive else ()
    lessons = (one for one in (*lessons_in(knowledge), *old) if not one.superseded_by)
    tasks = () if sample else task_store().tasks()
    return (*tasks, *map(as_task, lessons))
