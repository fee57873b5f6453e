"""The `nightwatch` command: its verbs, and how it fails."""

import sys
from collections.abc import Iterable, Mapping
from importlib import import_module

import typer

from flows.commands.running import check_state, complain
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.designed import refused

VERBS: Mapping[str, str] = {
    "try": "try_file",
    "night": "night",
    "one": "one",
    "agents": "agents",
    "report": "history",
    "history": "history",
    "batches": "batches",
    "transcript": "transcript",
    "manifest": "manifest",
    "replay": "replay",
    "bundle": "bundle",
    "check": "check",
    "scoreboard": "scoreboard",
    "compound": "compound",
    "learnings": "learnings",
    "promote": "promote",
    "mcp": "mcp",
    "knowledge": "knowledge",
    "ignore": "ignore",
}
"""Every verb, and the module beside this one that holds it: under the verb's name, or its own."""

STATELESS = ("try", "agents")  # verbs that keep nothing and read nothing that was kept


def app(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """Make the command with these verbs; only their modules are imported."""
    command = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        help="Reads production errors at night: causes, issues and draft pull requests by morning.",
    )
    command.callback()(_no_option)
    for name in verbs:
        module = import_module(f"flows.commands.{VERBS[name]}")
        verb = getattr(module, name, None) or getattr(module, VERBS[name])
        if isinstance(verb, typer.Typer):
            command.add_typer(verb, name=name)
        else:
            command.command(name)(verb)
    return command


def main() -> None:
    """Run the command; what we raise on purpose is a message, not a traceback."""
    named = [verb for verb in sys.argv[1:2] if verb in VERBS]
    try:
        if why := refused("verb").get(" ".join(sys.argv[1:2])):
            raise StopTheNight(f"there is no verb {sys.argv[1]!r}: {why}")
        if named and named[0] not in STATELESS and "--help" not in sys.argv:
            check_state()
        app(named or VERBS)()
    except NightWatchError as trouble:
        complain(trouble)


def _no_option() -> None:
    """A command of verbs, even where only one of them is there."""
