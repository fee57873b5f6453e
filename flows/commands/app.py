"""The `nightwatch` command: its verbs, and how it fails."""

import importlib.metadata
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from flows.commands.night import check_state, complain
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.options import REPLACED
from nightwatch_core.settings import settings
from nightwatch_core.text.plain_text import text_table
from tasks import wiring

VERBS = text_table("flows.commands", "verbs.toml")

STATELESS = ("try", "agents", "init")  # verbs that keep nothing and read nothing that was kept


def app(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """Make the command with these verbs; only their modules are imported."""
    command = typer.Typer(
        rich_markup_mode=None,
        no_args_is_help=True,
        help="Finds the causes of production errors at night; opens issues and draft "
        "pull requests.",
    )
    command.callback(invoke_without_command=True)(_options)
    for name in verbs:
        module, function = VERBS[name].split(":")
        verb = getattr(import_module(f"flows.commands.{module}"), function)
        if isinstance(verb, typer.Typer):
            command.add_typer(verb, name=name)
        else:
            command.command(name, cls=GroupedHelp)(verb)
    return command


class GroupedHelp(typer.core.TyperCommand):
    """A verb whose help has its options in the sections of nightwatch.toml.

    Rich panels would cut the names of options in a terminal of 80 columns.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a list of options below the name of each section."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                panel = getattr(parameter, "rich_help_panel", None) or "Options"
                panels.setdefault(panel, []).append(record)
        for panel, records in panels.items():
            with formatter.section(panel):
                formatter.write_dl(records)


def main() -> None:
    """Run the command; what we raise on purpose is a message, not a traceback."""
    _choose_config(sys.argv)
    named = [verb for verb in sys.argv[1:2] if verb in VERBS]
    try:
        if advice := REPLACED.get(" ".join(sys.argv[1:2])):
            raise StopTheNight(f"unknown command {sys.argv[1]!r}: {advice}")
        if not named or named[0] in STATELESS or "--help" in sys.argv:
            app(named or VERBS)()
        else:
            check_state()
            with wiring.shared_files(settings()):
                app(named)()
    except NightWatchError as trouble:
        complain(trouble)


def _choose_config(words: list[str]) -> None:
    """Take `--config FILE` out of the words, before or after the verb: settings are read early."""
    at = next((n for n, word in enumerate(words) if word.partition("=")[0] == "--config"), 0)
    last = at + (1 if "=" in words[at] else 2)
    if at and last <= len(words):
        file = Path(words[last - 1].removeprefix("--config="))
        os.environ["NIGHTWATCH_CONFIG"] = str(file.absolute())
        del words[at:last]


def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    config: Annotated[
        str, typer.Option(help="Settings file, before or after the command; else nightwatch.toml.")
    ] = "",
) -> None:
    """Options of the command itself."""
    if version:
        print(importlib.metadata.version("nightwatch"))
        raise typer.Exit


if __name__ == "__main__":
    main()
