"""`nightwatch compound`: keep what was learned of an error or a task for future agents."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from flows.commands.running import make_prefect_ready
from nightwatch_core.errors import StopTheNight

Id = Annotated[
    str,
    typer.Argument(
        help="A lesson's fingerprint, or its beginning, or a task's id; "
        "empty: what the newest night published last."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Write without asking; needed off a terminal.")]
Rules = Annotated[bool, typer.Option("--no-model", help="Ask no model: draw the notes by rule.")]
Sample = Annotated[bool, typer.Option("--sample", help="Of nights on the sample.")]

_UNASKED = (
    "nothing was written: this is no terminal, so nobody can be asked; add --yes to write the notes"
)


def compound(
    id: Id = "", yes: Yes = False, no_model: Rules = False, sample: Sample = False
) -> None:
    """Write <future-agent-notes> about an error or a task, drawn from the night's transcript.

    Shows similar learnings first, then what it would write, and asks before each step. Without a
    terminal it shows what is similar and ends with 1, unless --yes is given: no model is asked and
    nothing is written that nobody has agreed to.
    """
    from nightwatch_core.intake.default_ports import is_sample
    from nightwatch_core.learnings.compound_text import (
        QUESTION,
        captured_text,
        drawn_text,
        related_text,
    )
    from nightwatch_core.settings import settings
    from tasks import notes

    make_prefect_ready(settings().state, verbose=False)
    console = Console(highlight=False)
    options, target = notes.meant(id, sample)
    _say(console, f"{target.task.id}: {target.task.title}")
    similar = notes.similar_to(target, options)
    if similar:
        _say(console, related_text(similar))
    _agree(QUESTION if similar else "Draw notes from it?", yes)
    drawn = notes.drawn(target, options, no_model)
    _say(console, drawn_text(drawn))
    _agree("Write this?", yes)
    related = tuple(one.task_id for one in similar)
    file = notes.keep_notes(target, drawn.notes, related, options)
    _say(console, captured_text(file, drawn.notes, " --sample" if is_sample(options) else ""))


def _agree(question: str, yes: bool) -> None:
    """Ask; raises `StopTheNight` without a terminal, and ends well where the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise StopTheNight(_UNASKED)
    if not typer.confirm(question, default=True):
        typer.echo("Nothing was written.")
        raise typer.Exit


def _say(console: Console, text: str) -> None:
    from nightwatch_core.text.escaping import clean

    console.print(Text(f"{clean(text)}\n"), soft_wrap=True)
