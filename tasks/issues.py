"""Plans issues, and publishes any proposal."""

from prefect import task

from nightwatch_core import publish as proposals
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import OwnItem, Proposal, PublishPlan, Receipt, Skip
from nightwatch_core.models.report import Night, RunReport
from tasks.policies import PATIENTLY
from tasks.wiring import publishing


@task(name="plan issues", task_run_name="plan issues")
def plan_issues(
    options: NightOptions,
    report: RunReport,
    own: tuple[OwnItem, ...] | None,
    drafts: tuple[Skip, ...] = (),
) -> PublishPlan:
    """Issues to open, to comment on, to reopen; everything else with its reason.

    `drafts` are the drafts that will not be made: an issue says why.

    Raises `GiveUp` where it is not known what is published already: better nothing than twice.
    """
    if own is None:
        raise GiveUp("nothing was published: what is published already could not be read")
    night = report.night.id
    return proposals.plan_issues(report.analyses, own, options, report.commit, night, drafts)


@task(name="publish", task_run_name="publish · {proposal.kind}", **PATIENTLY)
def publish(proposal: Proposal, options: NightOptions, night: Night) -> Receipt:
    """Publish once, however often this runs: the ledger behind the outbox remembers."""
    return publishing(options).outbox(night).publish(proposal)
