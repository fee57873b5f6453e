"""The night in one line: what a healthy night achieved first, what it lacks after it.

Error groups are what was read; a case is groups that are analysed together; root causes, fixes and
drafts are counted by cause, which several cases may share. Every count names its unit.
"""

from collections import Counter
from collections.abc import Iterable
from typing import get_args

from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.knowledge import MERGED, OutcomeKind
from nightwatch_core.models.proposals import Receipt
from nightwatch_core.models.report import ChangeKind, RunReport
from nightwatch_core.publish.overlap import causes
from nightwatch_core.text.plain_text import plural

NOTHING_CAME = "The night failed before it read any errors: nothing was analysed."
CALM = "A calm night: no errors in the window."
NOTHING_READ = "No errors were read and the data is incomplete: see the reasons above."
UNREADABLE = "No errors were found, but some records could not be read."
PUBLISHED = ("done", "already there")  # the second: by this night, before it was taken up again
PATCH = "patch"  # what a draft is called where it has no branch
MOST_COUNTS = 3  # shown of errors that rose or are gone
COLLECT = "Run with --collect to retrieve results."


def fresh(report: RunReport) -> tuple[Analysis, ...]:
    """Return tonight's analyses."""
    return tuple(analysis for analysis in report.analyses if analysis.ending.kind != "reused")


def opened(report: RunReport, kind: str) -> tuple[Receipt, ...]:
    """Return the publications of a kind."""
    return tuple(r for r in report.receipts if r.kind == kind and r.status in PUBLISHED)


def headline(report: RunReport) -> str:
    """Return the night in one line where nothing else is shown: with what changed since."""
    changed = []
    for kind in get_args(ChangeKind):
        some = [change for change in report.changes if change.kind == kind]
        counts = [f"{change.before:,} → {change.now:,}" for change in some[:MOST_COUNTS]]
        shown = f" ({', '.join(counts)})" if kind in ("rising", "gone") else ""
        changed += [f"{len(some):,} {kind}{shown}"] if some else []
    since = f" · since the night before: {', '.join(changed)}" if changed else ""
    return f"{achieved(report)}{since}"


def achieved(report: RunReport) -> str:
    """Return what the night did in one line; never "0 errors" without a usable answer."""
    new, reused = fresh(report), [a for a in report.analyses if a.ending.kind == "reused"]
    analysed = groups_in(new)
    if report.status == "failed":
        if not report.errors:
            return NOTHING_CAME
        some = f", {analysed:,} of them analysed" if analysed else ""
        return f"The night failed after reading {plural(report.errors, 'error group')}{some}."
    if batch := _of_batch(report):
        return batch
    if not (report.errors or report.analyses or report.failures):
        if report.status == "degraded":
            return NOTHING_READ
        return UNREADABLE if report.rejects else CALM
    dropped = Counter(group.kind for group in report.dropped)
    explained = groups_in(item for item in reused if item.has_cause)
    waiting = groups_in(item for item in reused if not item.has_cause)
    missed = new or report.failures or dropped["limit"] or dropped["ended"]
    if reused and not missed:  # nothing is missing: the memory did its work
        unknown = f", {waiting:,} without a cause" if waiting else ""
        known = plural(explained + waiting, "known error group")
        first, explained, waiting = f"{known}{unknown}: nothing new to analyse", 0, 0
    else:
        first = _analysed(report, new, analysed)
    starved = sum(failure.ending.kind == "budget gone" for failure in report.failures)
    unknown_causes = sum(not item.has_cause for item in new)
    judged = sum(item.first_sight is not None for item in report.batch_triage.judged)
    groups, cases = ("group", ""), ("case", "")
    counted = (
        (unknown_causes if unknown_causes < len(new) else 0, cases, "without a known cause"),
        (explained, groups, "known"),
        (waiting, groups, "analysed before, cause unknown"),
        (sum(item.by_fallback for item in new), cases, "analysed by rules instead of the model"),
        (len(report.failures) - starved, cases, "failed"),
        (starved, cases, "over the night's budget"),
        (dropped["ignored"], groups, "ignored"),
        (dropped["limit"], groups, "over the night's limits"),
        (dropped["ended"], groups, "not reached before the end"),
        (judged, groups, "triaged in a batch"),
        (_submitted(report), groups, "submitted in a batch"),
    )
    outcomes = (
        (len(fixes_that(report, "verified")), "verified"),
        (len(fixes_that(report, "no effect")), "without effect"),
        (len(fixes_that(report, "regressed")), "regressed"),
    )
    fixes = (f"{plural(count, 'fix', 'fixes')} {text}" for count, text in outcomes if count)
    rest = (f"{plural(count, *unit)} {text}" for count, unit, text in counted if count)
    return " · ".join((", ".join((first, *_published(report))), *rest, *fixes))


def fixes_that(report: RunReport, *kinds: OutcomeKind) -> frozenset[int]:
    """Return the numbers of our pull requests of which this night noticed one of these outcomes.

    Several errors, or one outcome that says more of another, may speak of the same pull request.
    """
    events = (event for update in report.followed for event in update.outcomes)
    return frozenset(event.number for event in events if event.number and event.kind in kinds)


def merged_fixes(report: RunReport) -> frozenset[int]:
    """Return the numbers of our pull requests that this night saw merged for the first time."""
    return fixes_that(report, *MERGED)


def _analysed(report: RunReport, new: tuple[Analysis, ...], analysed: int) -> str:
    """Return how many groups were analysed, and what was found."""
    groups = plural(max(report.errors, analysed), "error group")
    if not new:
        return f"None of {groups} was analysed"
    whole = analysed >= report.errors
    which = ("All " * (analysed > 1) if whole else f"{analysed:,} of ") + groups
    cases = f" in {plural(len(new), 'case')}" if analysed > len(new) else ""
    away = {skip.fingerprint for skip in report.skips if skip.cause in ("refused", "rejected")}
    found = [[one for one in cause if one.has_cause] for cause in causes(new)]
    sure = [list(filter(_is_sure, cause)) for cause in found if any(map(_is_sure, cause))]
    guessed = sum(bool(cause) for cause in found) - len(sure)
    fixes = sum(any(_proposes(one, away) for one in cause) for cause in causes(new))
    explained = sum(map(len, sure))
    shared = f" of {explained:,} cases" if explained > len(sure) else ""
    said = (
        f"{plural(len(sure), 'root cause')}{shared}" if sure else "",
        plural(guessed, "low-confidence cause") if guessed else "",
        f"{plural(fixes, 'fix', 'fixes')} proposed" if fixes else "",
    )
    return f"{which} analysed{cases}: {', '.join(filter(None, said)) or 'no cause found'}"


def _is_sure(analysis: Analysis) -> bool:
    return bool(analysis.root_cause.strip()) and analysis.confidence != "low"


def _proposes(analysis: Analysis, away: set[str]) -> bool:
    return analysis.has_fix and analysis.fingerprint not in away


def _published(report: RunReport) -> list[str]:
    is_patch = report.options.publish == "patches"
    names = (
        ("pull", (PATCH, "patches") if is_patch else ("draft pull request", ""), ""),
        ("issue", ("issue", ""), ""),
        ("reopen", ("issue", ""), " reopened"),
        ("comment", ("comment", ""), ""),
        ("answer", ("review answered", "reviews answered"), ""),
    )
    return [
        f"{plural(count, *name)}{verb}"
        for kind, name, verb in names
        if (count := len(opened(report, kind)))
    ]


def groups_in(verdicts: Iterable[Analysis | Failure]) -> int:
    """Count the error groups of analyses, as reports and the history do."""
    return sum(len(verdict.case.groups) for verdict in verdicts)


def _submitted(report: RunReport) -> int:
    return sum(batch.errors for batch in report.batch_triage.submitted if batch.id)


def _of_batch(report: RunReport) -> str:
    """The headline of a night that only submits, waits or collects; empty otherwise."""
    triage = report.batch_triage
    if report.options.batch_mode:
        if triage.submitted:
            errors = plural(sum(batch.errors for batch in triage.submitted), "error")
            cost = f" ({triage.cost})" if triage.cost else ""
            if _submitted(report):
                return f"Batch submitted: {errors}{cost}. {COLLECT}"
            return f"Dry run: a batch of {errors}{cost} was held back."
        if triage.awaited:
            errors = plural(triage.awaited, "error")
            return f"Batch already submitted: {errors} wait for results. {COLLECT}"
        return "No batch was submitted: there were no errors to triage."
    if triage.running and not (triage.judged or report.errors):
        return "The batch is still running: there are no results to collect yet."
    if triage.judged and not (triage.flagged or report.analyses or report.failures):
        errors = plural(len(triage.judged), "error")
        return f"{errors} triaged: none needs an analysis."
    return ""
