"""What a night is counted by: the numbers that its headline and its first lines rest on."""

from collections import Counter
from collections.abc import Iterable

from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import RunReport, Status
from nightwatch_core.models.value import Value
from nightwatch_core.report.publications import NAMES, PATCH, PUBLISHED, name_of

DRAFT = (NAMES["pull"], "")


class Tally(Value):
    """A night in numbers; what is not called a case is counted in error groups."""

    status: Status
    rejects: int = 0  # records that could not be read
    errors: int = 0  # fetched
    analysed: int = 0
    cases: int = 0  # that were analysed
    explained: int = 0  # cases with a root cause
    guessed: int = 0  # cases with a cause of low confidence, or without a word on it
    unknown: int = 0  # cases analysed without finding a cause
    known: int = 0  # explained on an earlier night
    waiting: int = 0  # looked at on an earlier night, without finding a cause
    failed: int = 0  # cases
    starved: int = 0  # cases for which no budget was left
    by_rules: int = 0  # cases that the rules analysed in a model's place
    ignored: int = 0
    beyond: int = 0  # over tonight's limits
    ended: int = 0  # the night ended before their turn
    judged: int = 0  # errors that a batch had been asked about, and that were collected tonight
    submitted: int = 0  # errors that a batch was asked about tonight
    fixes: int = 0
    pulls: int = 0
    draft: tuple[str, str] = DRAFT  # what each of these is called, and several of them
    issues: int = 0
    reopened: int = 0
    comments: int = 0
    verified: int = 0  # merged fixes, by what production says of them tonight
    without_effect: int = 0
    regressed: int = 0

    @property
    def seen_before(self) -> int:
        """Groups that needed no analysis."""
        return self.known + self.waiting

    @property
    def left_out(self) -> int:
        """Groups that nobody looked at tonight."""
        return self.ignored + self.beyond + self.ended


def tally(report: RunReport) -> Tally:
    """Count what a night did."""
    analysed, drops = fresh(report), Counter(each.kind for each in report.dropped)
    reused = [each for each in report.analyses if each.ending.kind == "reused"]
    verdicts = Counter(fate.kind for each in report.followed for fate in each.fates)
    starved = sum(each.ending.kind == "budget gone" for each in report.failures)
    unknown = sum(not each.has_cause for each in analysed)
    return Tally(
        status=report.status,
        rejects=len(report.rejects),
        errors=report.errors,
        analysed=_groups(analysed),
        cases=len(analysed),
        explained=explained(report),
        guessed=len(analysed) - unknown - explained(report),
        unknown=unknown,
        known=_groups(each for each in reused if each.has_cause),
        waiting=_groups(each for each in reused if not each.has_cause),
        failed=len(report.failures) - starved,
        starved=starved,
        by_rules=sum(each.by_fallback for each in analysed),
        ignored=drops["ignored"],
        beyond=drops["limit"],
        ended=drops["ended"],
        judged=sum(each.first_sight is not None for each in report.long_tail.judged),
        submitted=sum(each.errors for each in report.long_tail.submitted if each.id),
        fixes=sum(each.has_fix for each in analysed),
        pulls=len(opened(report, "pull")),
        draft=(PATCH, "patches") if name_of("pull", report) == PATCH else DRAFT,
        issues=len(opened(report, "issue")),
        reopened=len(opened(report, "reopen")),
        comments=len(opened(report, "comment")),
        verified=verdicts["verified"],
        without_effect=verdicts["no effect"],
        regressed=verdicts["regressed"],
    )


def fresh(report: RunReport) -> tuple[Analysis, ...]:
    """What was analysed tonight."""
    return tuple(each for each in report.analyses if each.ending.kind != "reused")


def known(report: RunReport) -> tuple[Analysis, ...]:
    """What an earlier night had explained."""
    return tuple(a for a in report.analyses if a.ending.kind == "reused" and a.has_cause)


def without_cause(report: RunReport) -> tuple[Analysis, ...]:
    """Errors of which nobody knows the cause: analysed tonight, or waiting for their turn."""
    return tuple(each for each in report.analyses if not each.has_cause)


def opened(report: RunReport, kind: str) -> tuple[Receipt, ...]:
    """What was published of a kind."""
    return tuple(r for r in report.receipts if r.kind == kind and r.status in PUBLISHED)


def explained(report: RunReport) -> int:
    """Fresh analyses that name a root cause with more than low confidence."""
    return sum(
        a.has_cause and bool(a.root_cause.strip()) and a.confidence != "low" for a in fresh(report)
    )


def _groups(verdicts: Iterable[Analysis | Failure]) -> int:
    return sum(len(each.case.groups) for each in verdicts)
