"""Triage in batches: submit questions about many errors, collect the answers, analyse the rest."""

from typing import Any

from prefect import flow

from flows.morning import until_morning
from nightwatch_core.models.assignment import FollowUpInput
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import RunReport
from nightwatch_core.report import builder
from nightwatch_core.report.builder import add_batch_triage
from tasks import triage as batches
from tasks.errors import fetch_errors, known_errors
from tasks.knowledge import read_outcomes
from tasks.night import open_night, run_name, tonights_options
from tasks.parameters import takes_options, with_short_form
from tasks.report import keep_and_show, keep_report, open_report, report_on_failure, tell_the_team
from tasks.runner import attempt, one_by_one
from tasks.wiring import one_night
from tasks.workers import NightRunner


@with_short_form
@flow(name="triage-submit", flow_run_name=run_name("triage-submit"), task_runner=NightRunner())
@takes_options
def submit(**choices: Any) -> RunReport:
    """Submit a batch with a question about every error; `collect` goes on from it."""
    with one_night():
        return submit_all(tonights_options({**choices, "batch_mode": True}))


@with_short_form
@flow(name="triage-collect", flow_run_name=run_name("triage-collect"), task_runner=NightRunner())
@takes_options
def collect(night: str = "", **choices: Any) -> RunReport | None:
    """Collect the newest batch, and analyse what it flagged; ends at once where there is none.

    Args:
        night: Night whose batch is meant, as `nightwatch batches` lists it; empty: the newest.
    """
    if batches.nothing_to_collect(night):
        return None
    with one_night():
        return collect_night(night, choices)


def submit_all(options: NightOptions) -> RunReport:
    """Submit every error that nobody ignores and no lesson covers; nothing is analysed."""
    with report_on_failure(options) as progress:
        batches.probe_batches(options)
        night = progress.begin(open_night(options))
        fetched = fetch_errors(options, night)
        known_groups = known_errors(options, night)
        selection = progress.select(batches.select_every(options, fetched, known_groups))
        report = builder.add_errors(open_report(options, night), fetched, selection)
        report = progress.update(keep_report(report))
        sent = batches.submit_batch(options, night, selection.kept)
        return keep_and_show(report.model_copy(update={"batch_triage": sent}))


def collect_night(name: str, choices: dict[str, Any]) -> RunReport:
    """Wait for a night's batch, then go on as a night over the errors that it flagged."""
    options = batches.collecting_options(name, choices)
    with report_on_failure(options) as progress:
        night = progress.begin(batches.open_collection(options, name))
        settled = batches.settle_batches(options, night)
        attempt("waiting", batches.patiently(options), options, settled.open, otherwise=None)
        read = one_by_one(batches.read_batch, settled.open, options)
        triage = batches.put_together(options, night, read, settled.unsure)
        report = add_batch_triage(open_report(options, night), triage)
        advice = (*report.advice, *batches.overruled(options, choices))
        report = progress.update(report.model_copy(update={"advice": advice}))
        if triage.running and not triage.judged:
            return keep_and_show(builder.degrade(report, *triage.running))
        outcomes = attempt("reading outcomes", read_outcomes, options, otherwise=None)
        fetched = fetch_errors(options, night)
        selection = progress.select(batches.select_flagged(options, fetched, triage))
        report = progress.update(builder.add_errors(report, fetched, selection))
        done = until_morning(report, progress, selection, FollowUpInput(), outcomes)
        done = done.model_copy(update={"batch_triage": triage})
        sent = tell_the_team(builder.degrade(done, *triage.running))
        batches.close_batches(sent)
        return sent
