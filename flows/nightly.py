"""The night: read errors, find out why they happen, publish, learn, tell."""

if __name__ == "__main__":  # before Prefect is imported, which reads its environment then
    from flows.commands.night import night, run_as_script

    run_as_script(night)

from typing import Any

from prefect import flow

from flows.act import publish_findings
from flows.causes import find_causes
from flows.learn import learn
from nightwatch_core.models.assignment import PublishResult
from nightwatch_core.models.report import LearningResult, RunReport
from nightwatch_core.report import builder
from tasks.errors import fetch_errors
from tasks.futures import attempt
from tasks.night import open_night, run_name, tonights_options
from tasks.notify import keep_report, open_report, tell_the_team
from tasks.outcomes import read_outcomes
from tasks.parameters import takes_options
from tasks.progress import report_on_failure
from tasks.records import prune_records
from tasks.runner import NightRunner
from tasks.selection import known_errors, select_groups


@flow(name="nightly", flow_run_name=run_name, task_runner=NightRunner())
@takes_options
def nightly(**choices: Any) -> RunReport:
    """Read the production errors of the window; have causes, issues and drafts by morning."""
    options = tonights_options(choices)
    with report_on_failure(options) as progress:
        outcomes = attempt("reading outcomes", read_outcomes, options, otherwise=None)
        night = progress.begin(open_night(options))
        fetched = fetch_errors(options, night)
        known = known_errors(options, night)
        selection = progress.select(select_groups(options, fetched, known))
        report = progress.update(
            builder.add_errors(open_report(options, night), fetched, selection)
        )

        earlier = builder.follow_up_input(fetched, outcomes.value)
        found = find_causes(options, night, selection, earlier, progress.hear_findings)
        report = progress.update(builder.add_findings(report, found, outcomes.value or ()))

        acted = attempt(
            "publishing",
            *(publish_findings, report, outcomes.value, progress.hear_receipt),
            otherwise=PublishResult(),
        )
        published = progress.published(acted.value)
        report = progress.update(builder.add_publications(report, published))
        report = progress.update(keep_report(report))

        learned = attempt("learning", learn, night=night.id, **choices, otherwise=LearningResult())
        report = progress.update(builder.add_learning(report, learned.value))

        attempt("pruning records", prune_records, otherwise=None)
        troubles = (outcomes.trouble, acted.trouble, learned.trouble)
        return tell_the_team(builder.degrade(report, *troubles))
