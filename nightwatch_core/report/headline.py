"""The night in one line, and what it counts."""

from collections import Counter
from collections.abc import Iterator

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.publications import PUBLISHED
from nightwatch_core.text.units import plural

NOTHING_CAME = "The night failed before any error had been read: nothing could be analysed."
CALM = "A calm night: no errors in the window."
NOTHING_READ = "No error could be read, but the answer is incomplete: the reasons are above."
UNREADABLE = "No error group was found, but some records could not be read."


def headline(report: RunReport) -> str:
    """The night in one line; never "0 errors" where the source gave no usable answer."""
    if report.status == "failed":
        read = plural(report.errors, "error group")
        return f"The night failed after {read} had been read." if report.errors else NOTHING_CAME
    if not (report.errors or report.analyses or report.failures):
        if report.status == "degraded":
            return NOTHING_READ
        return UNREADABLE if report.rejects else CALM
    analysed, unknown = fresh(report), without_cause(report)
    groups = sum(len(analysis.case.groups) for analysis in analysed)
    cases = f" in {plural(len(analysed), 'case')}" if groups > len(analysed) else ""
    results = f": {', '.join(_results(report))}" if analysed else ""
    read = f"{groups:,} of {plural(report.errors, 'error group')} analysed{cases}{results}"
    counts = (
        f"{len(unknown):,} without a known cause" if unknown else "",
        f"{len(known(report)):,} known",
        f"{len(report.failures):,} failed",
    )
    return " · ".join(filter(None, (read, *counts, *_verdicts(report))))


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


def _results(report: RunReport) -> Iterator[str]:
    fixes = sum(each.has_fix for each in fresh(report))
    yield f"{explained(report):,} with a root cause"
    for count, text in (
        (fixes, f"{plural(fixes, 'fix', 'fixes')} proposed"),
        (pulls := len(opened(report, "pull")), plural(pulls, "draft pull request")),
        (issues := len(opened(report, "issue")), plural(issues, "issue")),
        (reopened := len(opened(report, "reopen")), f"{plural(reopened, 'issue')} reopened"),
        (comments := len(opened(report, "comment")), plural(comments, "comment")),
    ):
        if count:
            yield text


def _verdicts(report: RunReport) -> Iterator[str]:
    """What production says of merged fixes tonight."""
    kinds = Counter(fate.kind for each in report.followed for fate in each.fates)
    for count, verb in (
        (kinds["verified"], "verified"),
        (kinds["no effect"], "without effect"),
        (kinds["regressed"], "regressed"),
    ):
        if count:
            yield f"{plural(count, 'fix', 'fixes')} {verb}"
