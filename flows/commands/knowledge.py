"""`nightwatch knowledge search`: what earlier nights taught."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

knowledge = typer.Typer(
    help="What earlier nights taught.", no_args_is_help=True, rich_markup_mode=None
)
Words = Annotated[list[str], typer.Argument(help="Words of a class, transaction, message, cause.")]
Sample = Annotated[bool, typer.Option("--sample", help="Search what the sample nights taught.")]


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
    from nightwatch_core.memory.word_search import search_lessons
    from tasks.readers import all_lessons, every_lesson

    console = Console()
    lessons = every_lesson(sample) if archive else all_lessons(sample)
    found = search_lessons(" ".join(words), lessons)[:limit]
    for lesson, match in found:
        console.print(
            Text(f"{match.score:.2f}  {lesson.error_class} in {lesson.transaction}", "bold")
        )
        console.print(Text(" ".join(lesson.root_cause.split())[:300]))
        console.print(
            Text(f"because {', '.join(match.because)} · {lesson.file}", "dim"), soft_wrap=True
        )
    if not found:
        console.print("No lesson matches these words.")
