"""`nightwatch one`, and `python flows/one_error.py`: one error again."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from flows.commands.night import Verbose
from flows.commands.options import with_option_flags
from flows.commands.running import complain, run_and_show
from flows.commands.standard_input import with_kept_input
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.report import RunReport
from tasks.wiring import keep_pasted_record

Error = Annotated[str, typer.Argument(help="Fingerprint of the error, or its beginning.")]
ErrorClass = Annotated[str, typer.Option(help="Or its class.")]
Transaction = Annotated[str, typer.Option(help="The transaction it happens in.")]
Record = Annotated[str, typer.Option(help="Or one pasted record; '-' reads it from the input.")]


@with_option_flags
def one(
    error: Error = "",
    error_class: ErrorClass = "",
    transaction: Transaction = "",
    record: Record = "",
    verbose: Verbose = False,
    **choices: Any,
) -> None:
    """Analyse one error afresh; nothing is published unless --publish says so."""
    if not (error or error_class or transaction or record):
        raise typer.BadParameter("name the error: a fingerprint, --error-class or --record")
    text = sys.stdin.read() if record == "-" else record
    choices = _with_record(text, choices) if text else with_kept_input(choices)
    sought = {"error": error, "error_class": error_class, "transaction": transaction}
    run_and_show(_one_error, {**sought, **choices}, verbose)


def _with_record(text: str, choices: dict[str, Any]) -> dict[str, Any]:
    """A pasted record as a file: Prefect keeps parameters, and would keep what it holds."""
    try:
        return {**choices, "source": "file", "errors": keep_pasted_record(text)}
    except NightWatchError as trouble:
        complain(trouble)


def _one_error() -> Callable[..., RunReport]:
    from flows.one_error import one_error

    return one_error
