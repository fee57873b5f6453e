"""Triage in batches: submit questions about many errors, collect the answers, analyse the rest."""

from typing import Any

from prefect import flow

from flows.morning import until_morning
from nightwatch_core.models.assignment import FollowUpInput
from nightwatch_core.models.report import RunReport
from nightwatch_core.report import builder
from nightwatch_core.report.builder import add_batch_triage
from nightwatch_core.settings import settings
from tasks import triage as batches
from tasks.errors import fetch_errors, known_errors
from tasks.knowledge import read_outcomes
from tasks.night import begin_night, open_night, run_name
from tasks.parameters import takes_options, with_short_form
from tasks.report import keep_and_show, keep_report, open_report, report_on_failure, tell_the_team
from tasks.runner import attempt, one_by_one
from tasks.wiring.opening import OpenNight
from tasks.wiring.services import kept_batches
from tasks.workers import NightRunner


@with_short_form
@flow(name="triage-submit", flow_run_name=run_name("triage-submit"), task_runner=NightRunner())
@takes_options
def submit(**choices: Any) -> RunReport:
    """Submit a batch with a question about every error; `collect` goes on from it."""
    with open_night({**choices, "batch_mode": True}) as night:
        return submit_all(night)


@with_short_form
@flow(name="triage-collect", flow_run_name=run_name("triage-collect"), task_runner=NightRunner())
@takes_options
def collect(night: str = "", **choices: Any) -> RunReport | None:
    """Collect the newest batch, and analyse what it flagged; ends at once where there is none.

    Args:
        night: Night whose batch is meant, as `nightwatch batches` lists it; empty: the newest.
    """
    if batches.nothing_to_collect(kept_batches(settings()), night):
        return None
    with open_night(choices, batches.options_collecting(night)) as opened:
        return collect_night(opened, night)


def submit_all(night: OpenNight) -> RunReport:
    """Submit every error that is not ignored and no lesson covers; nothing is analysed."""
    with report_on_failure(night) as progress:
        batches.probe_batches(night)
        progress.begin(begin_night(night))
        fetched = fetch_errors(night)
        known_groups = known_errors(night)
        selection = progress.select(batches.select_every(night, fetched, known_groups))
        report = builder.add_errors(open_report(night), fetched, selection)
        report = progress.update(keep_report(night, report))
        sent = batches.submit_batch(night, selection.kept)
        return keep_and_show(night, report.model_copy(update={"batch_triage": sent}))


def collect_night(night: OpenNight, name: str = "") -> RunReport:
    """Wait for a night's batch, then go on as a night over the errors that it flagged."""
    with report_on_failure(night) as progress:
        progress.begin(batches.begin_collection(night, name))
        settled = batches.settle_batches(night)
        attempt("waiting", batches.patiently(night), night, settled.open, otherwise=None)
        read = one_by_one(batches.read_batch, settled.open, night)
        triage = batches.put_together(night, read, settled.unsure)
        report = add_batch_triage(open_report(night), triage)
        advice = (*report.advice, *batches.overruled(night))
        report = progress.update(report.model_copy(update={"advice": advice}))
        if triage.running and not triage.judged:
            return keep_and_show(night, builder.degrade(report, *triage.running))
        outcomes = attempt("reading outcomes", read_outcomes, night, otherwise=None)
        fetched = fetch_errors(night)
        selection = progress.select(batches.select_flagged(night, fetched, triage))
        report = progress.update(builder.add_errors(report, fetched, selection))
        done = until_morning(night, report, progress, selection, FollowUpInput(), outcomes)
        done = done.model_copy(update={"batch_triage": triage})
        sent = tell_the_team(night, builder.degrade(done, *triage.running))
        batches.close_batches(night, sent)
        return sent
