"""`nightwatch learnings`: what was learned before that has to do with what you intend."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

Intent = Annotated[str, typer.Argument(help="What you are about to do, in a sentence.")]
Limit = Annotated[int, typer.Option(min=1, max=50, help="Documents to name at most.")]
Archive = Annotated[bool, typer.Option("--archive", help="Look at archived lessons, too.")]
Sample = Annotated[bool, typer.Option("--sample", help="Of what nights on the sample taught.")]


def learnings(
    intent: Intent, limit: Limit = 5, archive: Archive = False, sample: Sample = False
) -> None:
    """Find earlier learnings for an intent in lessons and task files; prints YAML."""
    from nightwatch_core.memory.notes.selection import as_yaml
    from tasks.notes import found_learnings

    found = found_learnings(intent, sample, limit, archive)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    typer.echo(as_yaml(found), nl=False)
