"""`nightwatch knowledge search`: what earlier nights taught."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from flows.commands.running import Sample
from nightwatch_core.intake.default_ports import SAMPLE
from nightwatch_core.memory.lessons.all_lessons import archived_lessons, lessons_in
from nightwatch_core.memory.recall.word_search import search_lessons
from nightwatch_core.models.options import NightOptions
from tasks.wiring import knowledge_of

knowledge = typer.Typer(
    help="What earlier nights taught.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
Words = Annotated[list[str], typer.Argument(help="Words of a class, transaction, message, cause.")]


@knowledge.callback()
def _group() -> None:
    """What earlier nights taught."""


@knowledge.command()
def search(
    words: Words,
    limit: Annotated[int, typer.Option(min=1, help="Lessons to show.")] = 10,
    sample: Sample = False,
    archive: Annotated[bool, typer.Option("--archive", help="Archived lessons, too.")] = False,
) -> None:
    """Find lessons by words."""
    console = Console()
    folder = knowledge_of(NightOptions(source=SAMPLE if sample else "file"))
    old = archived_lessons(folder) if archive else ()
    matches = search_lessons(" ".join(words), (*lessons_in(folder), *old))[:limit]
    for lesson, match in matches:
        console.print(
            Text(f"{match.score:.2f}  {lesson.error_class} in {lesson.transaction}", "bold")
        )
        console.print(Text(" ".join(lesson.root_cause.split())[:300]))
        console.print(
            Text(f"because {', '.join(match.because)} · {lesson.file}", "dim"), soft_wrap=True
        )
    if not matches:
        console.print("No lesson matches these words.")
