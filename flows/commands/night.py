"""`nightwatch night`, and `python flows/nightly.py`: one night, by hand."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from flows.commands.options import with_option_flags
from flows.commands.running import complain, run_and_show
from flows.commands.standard_input import with_kept_input
from nightwatch_core.errors import NightWatchError
from nightwatch_core.intake.windows import lookback
from nightwatch_core.models.report import RunReport
from nightwatch_core.settings import night_options
from nightwatch_core.triage.needs import check_batch_mode
from tasks.wiring import with_default_ports

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every step as it runs.")]

Collect = Annotated[
    bool,
    typer.Option("--collect", help="Collect the newest batch, and analyse what it flagged."),
]


@with_option_flags
def night(verbose: Verbose = False, collect: Collect = False, **choices: Any) -> None:
    """Run one night: read errors, find causes, publish, learn, tell.

    Without any option it runs on the sample. Exit code: 0 complete, 3 degraded, 1 failed.
    """
    if collect:  # options are those of the night that submitted, unless they are given
        return run_and_show(_nightly, {**choices, "collect": True}, verbose)
    check_options(choices)
    return run_and_show(_nightly, with_kept_input(choices), verbose)


def check_options(choices: dict[str, Any]) -> None:
    """End at once where the options cannot work: Prefect need not start for that."""
    try:
        options = with_default_ports(night_options(choices))
        lookback(options.since)
        check_batch_mode(options)
    except NightWatchError as trouble:
        complain(trouble)


def run_as_script(command: Callable[..., None]) -> None:
    """Run one verb as a program of its own, and end the process."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(command)
    app(args=sys.argv[1:])
    sys.exit()


def _nightly() -> Callable[..., RunReport]:
    from flows.nightly import nightly

    return nightly
