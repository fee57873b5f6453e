"""The `nightwatch` command: its verbs, and how it fails."""

import typer

from flows.commands.agents import agents
from flows.commands.check import check
from flows.commands.history import history, report
from flows.commands.knowledge import knowledge
from flows.commands.night import night
from flows.commands.one import one
from flows.commands.running import complain
from flows.commands.transcript import transcript
from nightwatch_core.errors import NightWatchError

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Reads production errors at night: causes, issues and draft pull requests by morning.",
)
for verb in (night, one, agents, report, history, transcript, check):
    app.command()(verb)
app.add_typer(knowledge, name="knowledge")


def main() -> None:
    """Run the command; what we raise on purpose is a message, not a traceback."""
    try:
        app()
    except NightWatchError as trouble:
        complain(trouble)
