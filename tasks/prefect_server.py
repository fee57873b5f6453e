"""Prefect's server keeps the record of a run and no more: when it goes away, a night goes on."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import httpx
from prefect import Flow
from prefect.exceptions import PrefectHTTPStatusError

from nightwatch_core.models.report import RunReport
from nightwatch_core.report import builder
from tasks.wiring import nights

GONE = (httpx.TransportError, PrefectHTTPStatusError)  # our adapters let neither through
ADVICE = "unset PREFECT_API_URL for the embedded server, or start the one it names"
T = TypeVar("T")


def gone_text(trouble: Exception) -> str:
    """What went wrong, for people."""
    return f"Prefect's server went away ({type(trouble).__name__}: {str(trouble)[:200]})"


class Ended(NamedTuple):
    """How a flow that was run by hand ended: its report, and why Prefect does not know of it."""

    report: RunReport | None
    gone: str = ""


def run_flow(run: Callable[..., RunReport], **parameters: Any) -> Ended:
    """Run a flow by hand; where the server went away, what was done all the same is its report."""
    before = next(nights().reports(), None)
    try:
        return Ended(run(**parameters))
    except GONE as trouble:
        kept, gone = next(nights().reports(), None), gone_text(trouble)
        if kept is None or kept == before:
            return Ended(None, f"{gone} before there was a report: {ADVICE}")
        report = builder.degrade(kept, f"{gone}: it does not know how this run ended")
        nights().keep(report)
        return Ended(report, gone)


def run_subflow(subflow: Flow[..., T], **parameters: Any) -> T:
    """Run a flow within another one; without a server its steps are done all the same.

    A subflow that had come to its end by then is done again: it has to be one that may be.
    """
    try:
        ended: T = subflow(**parameters)
    except GONE:
        ended = subflow.fn(**parameters)
    return ended
