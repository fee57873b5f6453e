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
from nightwatch_core.models.report import RunReport
from nightwatch_core.report import builder
from tasks.errors import fetch_errors, known_errors, select_groups
from tasks.knowledge import read_outcomes
from tasks.night import begin_night, open_night, run_name
from tasks.parameters import takes_options, with_short_form
from tasks.report import open_report, report_on_failure, tell_the_team
from tasks.runner import attempt
from tasks.triage import options_collecting
from tasks.wiring.opening import OpenNight
from tasks.workers import NightRunner


@with_short_form
@flow(name="nightly", flow_run_name=run_name("nightly"), task_runner=NightRunner())
@takes_options
def nightly(collect: bool = False, **choices: Any) -> RunReport:
    """Read the production errors of the window; have causes, issues and drafts by morning.

    Args:
        collect: Collect the newest batch of first sights, and go on with what it flagged.
    """
    if collect:
        with open_night(choices, options_collecting()) as night:
            return collect_night(night)
    with open_night(choices) as night:
        return submit_all(night) if night.options.batch_mode else whole_night(night)


def whole_night(night: OpenNight) -> RunReport:
    """Read errors, find causes, publish, learn and tell the team."""
    with report_on_failure(night) as progress:
        outcomes = attempt("reading outcomes", read_outcomes, night, otherwise=None)
        progress.begin(begin_night(night))
        fetched = fetch_errors(night)
        known_groups = known_errors(night)
        selection = progress.select(select_groups(night, fetched, known_groups))
        report = progress.update(builder.add_errors(open_report(night), fetched, selection))
        earlier = builder.follow_up_input(fetched, outcomes.value)
        done = until_morning(night, report, progress, selection, earlier, outcomes)
        return tell_the_team(night, done)
