"""One error again: what the Prefect UI, `prefect deployment run` or `nightwatch one` re-runs."""

if __name__ == "__main__":  # as `nightwatch one`, which sets Prefect's environment first
    import runpy
    import sys

    sys.argv[:] = ["nightwatch", "one", *sys.argv[1:]]
    runpy.run_module("flows.commands.app", run_name="__main__")

from functools import partial
from typing import Any

from prefect import flow

from flows.morning import until_morning
from nightwatch_core.models.assignment import FollowUpInput
from nightwatch_core.models.errors import Selection
from nightwatch_core.models.report import RunReport
from nightwatch_core.report import builder
from tasks.knowledge import read_outcomes
from tasks.night import begin_single, open_night, seek_error, single_options
from tasks.parameters import takes_options, with_short_form
from tasks.report import open_report, report_on_failure, tell_the_team
from tasks.runner import attempt
from tasks.wiring.opening import OpenNight
from tasks.workers import NightRunner


@with_short_form
@flow(name="one-error", flow_run_name="one-error-{error}{error_class}", task_runner=NightRunner())
@partial(takes_options, names=("errors", "repo", "publish"))
def one_error(
    error: str = "",
    error_class: str = "",
    transaction: str = "",
    record: str = "",
    others: dict[str, Any] | None = None,
    **choices: Any,
) -> RunReport:
    """Analyse one error afresh; publishes nothing unless `publish` says so.

    Args:
        error: Its fingerprint, or the beginning of it, as reports show it; that is enough.
        error_class: Or its class, as the source names it; add the transaction where needed.
        transaction: The transaction it happens in.
        record: Or one record of it, pasted: JSON or a log excerpt with a stack trace.
        publish: What to publish, as for a night; empty: nothing.
        others: Other options of a night by name; empty: as in the night that found the error.
    """
    given, chosen = {**choices, **(others or {})}, partial(single_options, error, record)
    with open_night(given, chosen, alone=False) as night:
        return error_again(night, error, error_class, transaction)


def error_again(
    night: OpenNight, error: str = "", error_class: str = "", transaction: str = ""
) -> RunReport:
    """Find one error, and go through the steps of a night for it; nothing is learned."""
    with report_on_failure(night) as progress:
        fetched = seek_error(night, error, error_class, transaction)
        progress.begin(begin_single(night, fetched))
        selection = progress.select(Selection(kept=fetched.groups))
        report = progress.update(builder.add_errors(open_report(night), fetched, selection))
        outcomes = attempt("reading outcomes", read_outcomes, night, otherwise=None)
        found = (report, progress, selection, FollowUpInput(), outcomes)
        return tell_the_team(night, until_morning(night, *found, learns=False))
