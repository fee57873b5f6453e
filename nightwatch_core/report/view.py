"""What one night tells in the morning: the view that every rendering shows, and its headline."""

from collections.abc import Iterable
from itertools import chain

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import NightRecord, RunReport
from nightwatch_core.report import memory
from nightwatch_core.report.accounting import in_a_line
from nightwatch_core.report.cards import card, published, row
from nightwatch_core.report.hints import PUBLISHED, capture, command
from nightwatch_core.report.sections import (
    code_cache,
    dropped,
    facts,
    failures,
    files,
    rejects,
    warnings,
)
from nightwatch_core.report.values import FULL, Done, Fact, Limits, ReportView, Standing
from nightwatch_core.text.escaping import line
from nightwatch_core.text.words import Some, first, plural, spending

NOTHING_CAME = "The night failed before any error had been read: nothing could be analysed."
CALM = "A calm night: no errors in the window."
NOTHING_READ = "No error could be read, but the answer is incomplete: the reasons are above."
UNREADABLE = "No error group was found, but some records could not be read."
DRY = "Dry run: nothing was changed outside the state folder and Prefect's home."


def view(report: RunReport, limits: Limits = FULL) -> ReportView:
    """The night in reading order: clean, bounded text for every rendering."""
    ranked = [
        (rank, analysis, _published(report, analysis))
        for rank, analysis in enumerate(report.analyses, 1)
    ]
    rows = tuple(row(*each) for each in ranked[: limits.rows])
    cards = tuple(card(*each, report.receipts) for each in ranked[: limits.cards])
    return ReportView(
        night=line(report.night.id, 120),
        status=report.status,
        standing=_standing(report),
        headline=headline(report),
        warnings=warnings(report, limits),
        banner=tuple(line(each, 300) for each in _banner(report)),
        counts=tuple(_counts(report)),
        rows=Some(items=rows, more=len(ranked) - len(rows)),
        cards=Some(items=cards, more=len(ranked) - len(cards)),
        failures=failures(report, limits),
        dropped=dropped(report, limits),
        dropped_groups=len(report.dropped),
        elsewhere=first(_elsewhere(report), limits.lines),
        followed=memory.followed(report, limits),
        outcomes=memory.outcomes(report, limits),
        patterns=memory.patterns(report, limits),
        suggestions=memory.suggestions(report, limits),
        rejects=rejects(report, limits),
        rejected=len(report.rejects),
        complaints=first([line(each, 300) for each in report.complaints], limits.lines),
        scored=memory.scored(report),
        learned=memory.learned(report),
        listings=memory.listings(report, limits),
        capture=_capture(report),
        spent=(in_a_line(report.accounts) if report.usage.calls else "") or spending(report.usage),
        code_cache=code_cache(report),
        facts=tuple(facts(report)),
        files=files(report),
        again=_again(report),
    )


def headline(report: RunReport) -> str:
    """The night in one line; never "0 errors" where the source gave no usable answer."""
    if report.status == "failed":
        found = plural(report.errors, "error group")
        return f"The night failed after {found} had been read." if report.errors else NOTHING_CAME
    if not (report.errors or report.analyses or report.failures):
        if report.status == "degraded":
            return NOTHING_READ
        return UNREADABLE if report.rejects else CALM
    fresh, known = _fresh(report), _known(report)
    groups = sum(len(analysis.case.groups) for analysis in fresh)
    cases = f" in {plural(len(fresh), 'case')}" if groups > len(fresh) else ""
    findings = f": {', '.join(_findings(report))}" if fresh else ""
    analysed = f"{groups:,} of {plural(report.errors, 'error group')} analysed{cases}{findings}"
    told = (f"{len(known):,} known", f"{len(report.failures):,} failed", *memory.verdicts(report))
    return " · ".join((analysed, *told))


def record_of(report: RunReport) -> NightRecord:
    """The night's line in the run history."""
    return NightRecord(
        id=report.night.id,
        status=report.status,
        started=report.started,
        finished=report.finished,
        errors=report.errors,
        analysed=len(_fresh(report)),
        issues=len(_new(report, "issue")),
        pulls=len(_new(report, "pull")),
        cost=report.usage.cost,
        traffic=report.traffic,
        night=report.night,
        read_whole=report.read_whole,
    )


def _fresh(report: RunReport) -> tuple[Analysis, ...]:
    return tuple(each for each in report.analyses if each.ending.kind != "reused")


def _known(report: RunReport) -> tuple[Analysis, ...]:
    return tuple(each for each in report.analyses if each.ending.kind == "reused")


def _new(report: RunReport, kind: str) -> tuple[Receipt, ...]:
    return tuple(r for r in report.receipts if r.kind == kind and r.status in PUBLISHED)


def _explained(report: RunReport) -> int:
    """Fresh analyses that name a root cause with more than low confidence."""
    return sum(bool(a.root_cause.strip()) and a.confidence != "low" for a in _fresh(report))


def _findings(report: RunReport) -> Iterable[str]:
    fixes = sum(each.has_fix for each in _fresh(report))
    yield f"{_explained(report):,} with a root cause"
    for count, text in (
        (fixes, f"{plural(fixes, 'fix', 'fixes')} proposed"),
        (pulls := len(_new(report, "pull")), plural(pulls, "draft pull request")),
        (issues := len(_new(report, "issue")), plural(issues, "issue")),
        (reopened := len(_new(report, "reopen")), f"{plural(reopened, 'issue')} reopened"),
        (comments := len(_new(report, "comment")), plural(comments, "comment")),
    ):
        if count:
            yield text


def _counts(report: RunReport) -> Iterable[Fact]:
    if report.status == "failed" and not report.errors:
        return  # a nought would read like a quiet night
    fresh = _fresh(report)
    for count, one, many in (
        (report.errors, "error group", "error groups"),
        (report.occurrences, "occurrence", "occurrences"),
        (len(fresh), "analysed", "analysed"),
        (_explained(report), "root cause", "root causes"),
        (sum(each.has_fix for each in fresh), "fix", "fixes"),
        (len(_new(report, "issue")), "issue", "issues"),
        (len(_new(report, "pull")), "draft pull request", "draft pull requests"),
        (len(_known(report)), "known", "known"),
        (len(report.failures), "failed", "failed"),
    ):
        yield Fact(name=one if count == 1 else many, text=f"{count:,}")


def _standing(report: RunReport) -> Standing:
    if report.status != "complete":
        return report.status
    return "good" if report.errors or report.rejects or report.failures else "calm"


def _banner(report: RunReport) -> tuple[str, ...]:
    return (*report.banner, DRY) if report.options.dry_run else report.banner


def _published(report: RunReport, analysis: Analysis) -> tuple[Done, ...]:
    names = (analysis.case.fingerprint, *analysis.case.aliases)
    return published(names, report.receipts, report.skips)


def _elsewhere(report: RunReport) -> tuple[Done, ...]:
    """Receipts and skips of errors without a card: nothing published goes unsaid."""
    cases = (analysis.case for analysis in report.analyses)
    carded = set(chain.from_iterable((case.fingerprint, *case.aliases) for case in cases))
    told = {each.fingerprint for each in report.receipts}
    told |= {each.fingerprint for each in report.skips}
    return published(told - carded, report.receipts, report.skips)


def _capture(report: RunReport) -> str:
    found = [*filter(None, (capture(each, report.receipts) for each in report.analyses))]
    more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
    return f"{found[0]}{more}" if found else ""


def _again(report: RunReport) -> str:
    names = chain(
        (each.fingerprint for each in report.analyses),
        (each.case.fingerprint for each in report.failures),
        (each.group.fingerprint for each in report.dropped),
    )
    return next(filter(None, map(command, names)), "")
