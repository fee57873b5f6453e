"""`nightwatch knowledge search`: what earlier nights taught."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

knowledge = typer.Typer(help="What earlier nights taught.", no_args_is_help=True)
Words = Annotated[str, typer.Argument(help="An error class, a transaction, or words of them.")]
Sample = Annotated[bool, typer.Option("--sample", help="Search what the sample nights taught.")]


@knowledge.callback()
def _group() -> None:
    """What earlier nights taught."""


@knowledge.command()
def search(
    words: Words,
    limit: Annotated[int, typer.Option(help="Lessons to show.")] = 10,
    sample: Sample = False,
) -> None:
    """Find lessons by words."""
    from nightwatch_core.searching import search_lessons
    from tasks.readers import knowledge_reader

    reader = knowledge_reader(sample)
    found = search_lessons(words, reader.index().solutions)[:limit]
    table = Table("Score", "Error", "Cause", "Because", "Document", box=None)
    for entry, match in found:
        lesson = reader.read(entry.file)
        cause = " ".join(lesson.root_cause.split())[:160] if lesson else ""
        title = f"{entry.error_class} in {entry.transaction}"
        cells = (title, cause, "; ".join(match.because), entry.file)
        table.add_row(f"{match.score:.2f}", *map(Text, cells))
    Console().print(table if found else "No lesson matches these words.")
