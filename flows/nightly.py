"""The night: read errors, find out why they happen, publish, learn, tell."""

if __name__ == "__main__":  # as `nightwatch night`, which sets Prefect's environment first
    import runpy
    import sys

    sys.argv[:] = ["nightwatch", "night", *sys.argv[1:]]
    runpy.run_module("flows.commands.app", run_name="__main__")

from typing import Any

from prefect import flow

from flows.morning import until_morning
from flows.triage import collect_night, submit_all
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import RunReport
from nightwatch_core.report import builder
from tasks.errors import fetch_errors, known_errors, select_groups
from tasks.knowledge import read_outcomes
from tasks.night import open_night, run_name, tonights_options
from tasks.parameters import takes_options, with_short_form
from tasks.report import open_report, report_on_failure, tell_the_team
from tasks.runner import attempt
from tasks.wiring import one_night
from tasks.workers import NightRunner


@with_short_form
@flow(name="nightly", flow_run_name=run_name("nightly"), task_runner=NightRunner())
@takes_options
def nightly(collect: bool = False, **choices: Any) -> RunReport:
    """Read the production errors of the window; have causes, issues and drafts by morning.

    Args:
        collect: Collect the newest batch of first sights, and go on with what it flagged.
    """
    with one_night():
        if collect:
            return collect_night("", choices)
        options = tonights_options(choices)
        return submit_all(options) if options.batch_mode else whole_night(options, choices)


def whole_night(options: NightOptions, choices: dict[str, Any]) -> RunReport:
    """Read errors, find causes, publish, learn and tell the team."""
    with report_on_failure(options) as progress:
        outcomes = attempt("reading outcomes", read_outcomes, options, otherwise=None)
        night = progress.begin(open_night(options))
        fetched = fetch_errors(options, night)
        known_groups = known_errors(options, night)
        selection = progress.select(select_groups(options, fetched, known_groups))
        report = builder.add_errors(open_report(options, night), fetched, selection)
        report = progress.update(report)
        earlier = builder.follow_up_input(fetched, outcomes.value)
        done = until_morning(report, progress, selection, earlier, outcomes, **choices)
        return tell_the_team(done)
