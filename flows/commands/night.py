"""`nightwatch night`, and `python flows/nightly.py`: one night, by hand."""

import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from rich.console import Console

from flows.commands.options import with_option_flags
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.report import EXIT_CODES, RunReport

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every step as it runs.")]


@with_option_flags
def night(verbose: Verbose = False, **choices: Any) -> None:
    """Run one night: read errors, find causes, publish, learn, tell.

    Without any option it runs on the sample. Exit code: 0 complete, 3 degraded, 1 failed.
    """
    from flows.nightly import nightly

    run_and_show(lambda: nightly(**choices), verbose)


def run_and_show(run: Callable[[], RunReport], verbose: bool) -> None:
    """Run a flow with Prefect made ready, print its report, and exit as its status says."""
    from nightwatch_core.report.terminal import NightReport
    from nightwatch_core.settings import settings
    from tasks.running import prefect_ready

    try:
        with prefect_ready(settings().state, "INFO" if verbose else "WARNING"):
            report = run()
    except NightWatchError as trouble:
        Console(stderr=True).print(str(trouble), style="bold red", markup=False, highlight=False)
        raise SystemExit(EXIT_CODES["failed"]) from None
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an ASCII terminal must not end the night
    Console().print(NightReport(report))
    raise SystemExit(EXIT_CODES[report.status])


def main() -> None:
    """Run the night's command line."""
    app = typer.Typer(add_completion=False)
    app.command()(night)
    app(args=sys.argv[1:])
