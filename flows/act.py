"""Act: publish what a night found. The night calls `publish_findings`; the flow does it alone."""

from collections.abc import Callable
from typing import Any

from prefect import flow

from nightwatch_core.models.assignment import PublishResult
from nightwatch_core.models.proposal import OwnItem, Receipt
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.builder import add_publications
from tasks.fixes import plan_pulls
from tasks.futures import one_by_one
from tasks.issues import plan_issues, publish
from tasks.night import reopened_report
from tasks.notify import keep_report
from tasks.outcomes import read_outcomes
from tasks.parameters import takes_options
from tasks.runner import NightRunner


def publish_findings(
    report: RunReport,
    own: tuple[OwnItem, ...] | None,
    hear: Callable[[Receipt], object] = lambda _: None,
) -> PublishResult:
    """Issues first, then draft pull requests, which refer to their issues' numbers.

    `hear` is told of every receipt as it comes.
    """
    options, night = report.options, report.night
    issues = plan_issues(options, report, own)
    opened = one_by_one(publish, issues.proposals, options, night, hear=hear)
    pulls = plan_pulls(options, report, own, opened)
    drafted = one_by_one(publish, pulls.proposals, options, night, hear=hear)
    return PublishResult(receipts=(*opened, *drafted), skips=(*issues.skips, *pulls.skips))


@flow(name="act", flow_run_name="act-{night}", task_runner=NightRunner())
@takes_options
def act(night: str, **choices: Any) -> RunReport:
    """Publish what a kept night found, after a dry run for example.

    Args:
        night: Name of the night, as `nightwatch history` lists it.
    """
    report = reopened_report(night, choices, "publish", "drafts", "dry_run")
    acted = publish_findings(report, read_outcomes(report.options))
    return keep_report(add_publications(report, acted))
