"""Run a flow by hand: Prefect made ready, the report shown, the exit code as its status says."""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from flows.commands.sign_of_life import sign_of_life
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.report import EXIT_CODES, RunReport, Status
from nightwatch_core.report.terminal import NightReport
from nightwatch_core.settings import settings
from tasks.wiring.recording import bundle_of

Sample = Annotated[bool, typer.Option("--sample", help="Of nights on the sample.")]
OfNight = Annotated[str, typer.Option("--night", help="Of this night; empty: the newest one.")]
_NO_PREFECT = ("ephemeral", "Failed to reach API")  # in the message of Prefect's RuntimeError
CLIENT_RETRIES = "3"  # of a request, after 2, 4 and 8 s: a server that went away is soon known
STARTUP_SECONDS = "120"  # Prefect's 20 is too short for a busy machine's first start


def run_and_show(
    find_flow: Callable[[], Callable[..., RunReport]],
    parameters: Mapping[str, object],
    verbose: bool,
) -> None:
    """Find the flow, which imports Prefect, run it, print its report, exit as its status says."""
    try:
        check_state(for_a_night=True)
        make_prefect_ready(settings().state, verbose)
        with _sign_of_life(verbose):
            report, gone = _run(find_flow(), parameters)
    except NightWatchError as trouble:
        complain(trouble)
    except RuntimeError as trouble:
        if not any(sign in str(trouble) for sign in _NO_PREFECT):
            raise
        advice = "unset PREFECT_API_URL for the embedded server, or start the one it names"
        complain(StopTheNight(f"Prefect's server cannot be reached ({trouble}): {advice}"))
    if report:
        _show_with_bundle(report)
    if gone:
        _end_without_server(gone, "failed" if report is None else report.status)
    raise SystemExit(EXIT_CODES[report.status if report else "failed"])


def _show_with_bundle(report: RunReport) -> None:
    show(report)
    if bundle := bundle_of(report.night.id):
        Console(soft_wrap=True).print(
            Text(f"To run this night again: nightwatch replay {bundle}", "dim")
        )


def _run(
    flow: Callable[..., RunReport], parameters: Mapping[str, object]
) -> tuple[RunReport | None, str]:
    from tasks.prefect_server import run_flow

    return run_flow(flow, **parameters)


def _end_without_server(gone: str, status: Status) -> NoReturn:
    """End at once: what Prefect still has to tell its server, it would try for ten minutes."""
    print_trouble(gone)
    sys.stdout.flush()
    os._exit(EXIT_CODES[status])


def check_state(*, for_a_night: bool = False) -> None:
    """Raise `StopTheNight` where the state folder cannot be used, before anything starts."""
    from tasks.wiring.local import check_room_for_a_night, check_state_folder

    (check_room_for_a_night if for_a_night else check_state_folder)(settings().state)


def make_prefect_ready(state: Path, verbose: bool) -> None:
    """Set what Prefect reads when it is imported; what the user has set wins.

    Results go below the state folder, the embedded server gets time to start, our loggers are
    heard, and nothing is sent to anybody about usage.
    """
    said = {
        "PREFECT_RESULTS_LOCAL_STORAGE_PATH": str(state / "results"),
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": STARTUP_SECONDS,
        "PREFECT_LOGGING_EXTRA_LOGGERS": "nightwatch_core,tasks",
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "INFO" if verbose else "CRITICAL",
        "PREFECT_INTERNAL_LOGGING_LEVEL": "ERROR" if verbose else "CRITICAL",
        "PREFECT_CLIENT_MAX_RETRIES": CLIENT_RETRIES,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    for name, value in said.items():
        os.environ.setdefault(name, value)
    home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect").expanduser()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        writable = os.access(home, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        raise StopTheNight(f"Prefect cannot write to its home {home}: set PREFECT_HOME")


def complain(trouble: NightWatchError) -> NoReturn:
    """Say what went wrong, and where the report is if there is one; ends the process with 1."""
    print_trouble(str(trouble), *getattr(trouble, "__notes__", ()))
    raise SystemExit(EXIT_CODES["failed"]) from None


def print_trouble(*lines: str) -> None:
    """Print lines in red to the error stream."""
    console = Console(stderr=True)
    for line in lines:
        console.print(line, style="bold red", markup=False, highlight=False, soft_wrap=True)


def show(report: RunReport) -> None:
    """Print a report; an ASCII terminal gets question marks, not an error."""
    make_plain()
    Console().print(NightReport(report))


def plain_console() -> Console:
    """Make a console that folds no line; an ASCII terminal gets question marks, not an error."""
    make_plain()
    return Console(soft_wrap=True, highlight=False)


def make_plain() -> None:
    """Have what an ASCII terminal cannot show written as question marks, not raised."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _sign_of_life(verbose: bool) -> AbstractContextManager[object]:
    if verbose:
        return nullcontext()
    text = "Looking into the errors (Prefect takes some 15 s to start) …"
    return sign_of_life(Console(stderr=True), text)
