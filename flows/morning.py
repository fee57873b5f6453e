"""From selected errors to the morning: causes, issues and drafts, lessons, the report."""

from typing import Any

from flows.act import publish_findings
from flows.causes import find_causes
from flows.learn import learn
from nightwatch_core.models.assignment import CiResult, FollowUpInput, PublishResult
from nightwatch_core.models.errors import Selection
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import LearningResult, RunReport
from nightwatch_core.report import builder
from nightwatch_core.report.builder import add_ci, add_publications
from tasks.code import prune_records
from tasks.publish import watch_ci
from tasks.report import Progress, keep_report
from tasks.runner import Attempt, attempt, attempt_and_go_on, run_subflow, stop_where_stopped


def until_morning(
    report: RunReport,
    progress: Progress,
    selection: Selection,
    earlier: FollowUpInput,
    outcomes: Attempt[tuple[OwnItem, ...] | None],
    **choices: Any,
) -> RunReport:
    """Find causes, publish, keep the report, learn; telling the team is left to the caller.

    A key that is refused on the way stops the night when what was found is published and learned.
    """
    options, night = report.options, report.night
    found = find_causes(options, night, selection, earlier, progress.hear_findings)
    report = progress.update(builder.add_findings(report, found, outcomes.value or ()))

    acted = attempt_and_go_on(
        "publishing",
        *(publish_findings, report, outcomes.value),
        *(progress.hear_receipt, progress.hear_gate),
        otherwise=PublishResult(),
    )
    published = progress.published(acted.value)
    report = progress.update(add_publications(report, published))
    report = progress.update(keep_report(report))

    learned = attempt(
        "learning", run_subflow, learn, night=night.id, **choices, otherwise=LearningResult()
    )
    report = progress.update(builder.add_learning(report, learned.value))

    ci = attempt_and_go_on("waiting for checks", watch_ci, report, published, otherwise=CiResult())
    report = progress.update(add_ci(report, ci.value))

    attempt("pruning records", prune_records, otherwise=None)
    stop_where_stopped(found.stopped, acted.stop, published.stopped, ci.stop)
    return builder.degrade(report, outcomes.trouble, acted.trouble, learned.trouble, ci.trouble)
