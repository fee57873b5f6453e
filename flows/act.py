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
from tasks.night import reopened_report
from tasks.parameters import takes_options, with_short_form
from tasks.report import keep_report
from tasks.runner import one_by_one, stop_where_stopped
from tasks.workers import NightRunner


def publish_findings(
    report: RunReport,
    own: tuple[OwnItem, ...] | None,
    on_receipt: Callable[[Receipt], object] = lambda _: None,
    on_gate: Callable[[str, GateResult], object] = lambda _name, _gate: None,
) -> PublishResult:
    """Publish issues, then draft pull requests that refer to them, then answers to reviewers.

    Fixes are tested before, so that an issue can say why a fix is no draft. `on_receipt` gets
    every receipt, `on_gate` every test of a fix.
    """
    options, night = report.options, report.night
    report, compared = publish.with_overlapping_pulls(report, own)
    cache = publish.new_cache(options, night.fence)
    try:
        gates = publish.through_the_gate(report, own, cache, on_result=on_gate)
        tested = with_gates(report, gates)
        skips = publish.plan_pulls(options, tested, own, ()).skips
        issues = publish.plan_issues(options, tested, own, skips)
        opened = one_by_one(publish.publish, issues.proposals, options, night, on_result=on_receipt)
        # What reopening made due.
        gates = publish.through_the_gate(report, own, cache, opened, gates, on_gate)
        pulls = publish.plan_pulls(options, with_gates(report, gates), own, opened)
        drafted = one_by_one(publish.publish, pulls.proposals, options, night, on_result=on_receipt)
        made = (*opened, *drafted)
        answers = publish.plan_answers(options, with_gates(report, gates), own, made, pulls.skips)
        told = one_by_one(publish.publish, answers, options, night, on_result=on_receipt)
    finally:
        publish.close_sandbox(options)
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
    report = reopened_report(night, choices, "publish", "dry_run")
    acted = publish_findings(report, read_outcomes(report.options))
    report = keep_report(add_publications(report, acted))
    report_with_ci = keep_report(add_ci(report, publish.watch_ci(report, acted)))
    stop_where_stopped(acted.stopped)
    return report_with_ci
