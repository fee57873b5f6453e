"""Publish what a night found: a step of the night, and a flow of its own."""

from collections.abc import Callable
from typing import Any

from prefect import flow

from nightwatch_core.models.assignment import PublishResult
from nightwatch_core.models.proposals import DraftPull, GateResult, OwnItem, Receipt
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.builder import add_ci, add_publications, with_gates
from tasks import publish
from tasks.knowledge import read_outcomes
from tasks.night import reopened
from tasks.parameters import takes_options, with_short_form
from tasks.report import keep_report
from tasks.runner import one_by_one, stop_where_stopped
from tasks.wiring.opening import OpenNight
from tasks.workers import NightRunner


def publish_findings(
    night: OpenNight,
    report: RunReport,
    own: tuple[OwnItem, ...] | None,
    on_receipt: Callable[[Receipt], object] = lambda _: None,
    on_gate: Callable[[str, GateResult], object] = lambda _name, _gate: None,
) -> PublishResult:
    """Publish issues, then draft pull requests that refer to them, then answers to reviewers.

    Fixes are tested before, so that an issue can say why a fix is no draft. `on_receipt` gets
    every receipt, `on_gate` every test of a fix.
    """
    report, compared = publish.with_overlapping_pulls(night, report, own)
    cache = publish.new_cache(night, report.night.fence)
    try:
        gates = publish.through_the_gate(night, report, own, cache, on_result=on_gate)
        tested = with_gates(report, gates)
        skips = publish.plan_pulls(night, tested, own, ()).skips
        issues = publish.plan_issues(night, tested, own, skips)
        opened = one_by_one(publish.publish, issues.proposals, night, on_result=on_receipt)
        # What reopening made due.
        gates = publish.through_the_gate(night, report, own, cache, opened, gates, on_gate)
        pulls = publish.plan_pulls(night, with_gates(report, gates), own, opened)
        drafted = one_by_one(publish.publish, pulls.proposals, night, on_result=on_receipt)
        made = (*opened, *drafted)
        answers = publish.plan_answers(with_gates(report, gates), own, made, pulls.skips)
        told = one_by_one(publish.publish, answers, night, on_result=on_receipt)
    finally:
        publish.close_sandbox(night)
    return PublishResult(
        receipts=(*made, *told),
        skips=(*issues.skips, *pulls.skips),
        gates=gates,
        overlaps=compared.value,
        drafts=tuple(proposal for proposal in pulls.proposals if isinstance(proposal, DraftPull)),
        troubles=(compared.trouble,),
        stopped=cache.silent,
    )


@with_short_form
@flow(name="act", flow_run_name="act-{night}", task_runner=NightRunner())
@takes_options
def act(night: str, **choices: Any) -> RunReport:
    """Publish what a kept night found, after a dry run for example.

    Args:
        night: Name of the night, as `nightwatch history` lists it.
    """
    with reopened(night, choices, "publish", "dry_run") as (opened, report):
        return publish_kept(opened, report)


def publish_kept(opened: OpenNight, report: RunReport) -> RunReport:
    """Publish what a kept report found, and keep the report with the results."""
    acted = publish_findings(opened, report, read_outcomes(opened))
    report = keep_report(opened, add_publications(report, acted))
    watched = publish.watch_ci(opened, report, acted)
    report_with_ci = keep_report(opened, add_ci(report, watched))
    stop_where_stopped(acted.stopped)
    return report_with_ci
