"""The `nightwatch` command: its verbs, and how it fails."""

import typer

from flows.commands.agents import agents
from flows.commands.check import check
from flows.commands.compound import compound
from flows.commands.history import history, report
from flows.commands.ignore import ignore
from flows.commands.knowledge import knowledge
from flows.commands.learnings import learnings
from flows.commands.mcp import mcp
from flows.commands.night import night
from flows.commands.one import one
from flows.commands.promote import promote
from flows.commands.running import complain
from flows.commands.scoreboard import scoreboard
from flows.commands.transcript import transcript
from nightwatch_core.errors import NightWatchError

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Reads production errors at night: causes, issues and draft pull requests by morning.",
)
VERBS = (
    *(night, one, agents, report, history, transcript, check),
    *(scoreboard, compound, learnings, promote, mcp),
)
for verb in VERBS:
    app.command()(verb)
app.add_typer(knowledge, name="knowledge")
app.add_typer(ignore, name="ignore")


def main() -> None:
    """Run the command; what we raise on purpose is a message, not a traceback."""
    try:
        app()
    except NightWatchError as trouble:
        complain(trouble)
