"""Fixes: which become draft pull requests."""

from prefect import task

from nightwatch_core import publish as proposals
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import OwnItem, PublishPlan, Receipt
from nightwatch_core.models.report import RunReport
from tasks.code import bare_reader_of


@task(name="plan pull requests", task_run_name="plan pull requests")
def plan_pulls(
    options: NightOptions,
    report: RunReport,
    own: tuple[OwnItem, ...] | None,
    receipts: tuple[Receipt, ...],
    *,
    to_run: bool = False,
) -> PublishPlan:
    """Fixes that are new, allowed, applicable and parse; everything else with its reason.

    `to_run` asks for those that the gate is to run next.
    """
    base = report.base or report.commit
    if base is None or own is None:
        return PublishPlan()
    tree = bare_reader_of(options, base)
    return proposals.plan_pulls(
        *(report.analyses, own, receipts, options, base),
        *(tree.read_file, report.night.id, tree.paths()),
        search=tree.search,
        to_run=to_run,
    )
