"""What one night tells in the morning: the view that every rendering shows, and its headline."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import starmap

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import NightRecord, RunReport
from nightwatch_core.publish.twins import causes
from nightwatch_core.report import sections
from nightwatch_core.report.blocks import (
    Entries,
    ErrorTable,
    Fact,
    Findings,
    Paragraphs,
    ReportView,
    Section,
    Standing,
    cut,
    section,
)
from nightwatch_core.report.error_rows import error_row
from nightwatch_core.report.finding import Shown, finding, source_of
from nightwatch_core.report.learned import outcome_entries, pattern_entry, suggestion_entry
from nightwatch_core.report.limits import FULL, LONG, NAME, TEXT, Limits
from nightwatch_core.report.publications import PUBLISHED, Publication, published_for
from nightwatch_core.report.scoreboard_text import reliability, sentences
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import capped, plural

NOTHING_CAME = "The night failed before any error had been read: nothing could be analysed."
CALM = "A calm night: no errors in the window."
NOTHING_READ = "No error could be read, but the answer is incomplete: the reasons are above."
UNREADABLE = "No error group was found, but some records could not be read."
DRY = "Dry run: nothing was changed outside the state folder and Prefect's home."
UNSAID = "The night ended without saying why: see the flow run's log."


def view(report: RunReport, limits: Limits = FULL) -> ReportView:
    """The night in reading order: clean, bounded text for every rendering."""
    made = (make(report, limits) for make in _SECTIONS)
    return ReportView(
        night=line(report.night.id, NAME),
        status=report.status,
        standing=_standing(report),
        headline=headline(report),
        source=source_of((group.app for group in _groups(report)), report.commit),
        warnings=_warnings(report, limits),
        banner=tuple(line(each, TEXT) for each in _banner(report, limits)),
        counts=tuple(_counts(report)),
        sections=tuple(each for each in made if each.blocks and each.kind not in limits.without),
    )


def headline(report: RunReport) -> str:
    """The night in one line; never "0 errors" where the source gave no usable answer."""
    if report.status == "failed":
        read = plural(report.errors, "error group")
        return f"The night failed after {read} had been read." if report.errors else NOTHING_CAME
    if not (report.errors or report.analyses or report.failures):
        if report.status == "degraded":
            return NOTHING_READ
        return UNREADABLE if report.rejects else CALM
    fresh, known = _fresh(report), _known(report)
    groups = sum(len(analysis.case.groups) for analysis in fresh)
    cases = f" in {plural(len(fresh), 'case')}" if groups > len(fresh) else ""
    results = f": {', '.join(_results(report))}" if fresh else ""
    analysed = f"{groups:,} of {plural(report.errors, 'error group')} analysed{cases}{results}"
    counts = (f"{len(known):,} known", f"{len(report.failures):,} failed")
    return " · ".join((analysed, *counts, *_verdicts(report)))


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


def _errors(report: RunReport, limits: Limits) -> Section:
    shown = enumerate(report.analyses[: limits.rows], 1)
    rows = tuple(error_row(rank, each, _published(report, each)) for rank, each in shown)
    table = ErrorTable(items=rows, more=len(report.analyses) - len(rows))
    return section("errors", "", (table,) if rows else ())


def _findings(report: RunReport, limits: Limits) -> Section:
    twins = {
        one.fingerprint: tuple(other for other in cause if other is not one)
        for cause in causes(report.analyses)
        for one in cause
    }
    items = tuple(
        finding(rank, Shown(each, report, twins[each.fingerprint]), limits)
        for rank, each in enumerate(report.analyses[: limits.findings], 1)
    )
    found = Findings(items=items, more=len(report.analyses) - len(items))
    return section("findings", "Analyses", (found,) if items else ())


def _patterns(report: RunReport, limits: Limits) -> Section:
    entries = map(pattern_entry, report.learned.patterns)
    return section("patterns", "Patterns", cut(Entries, entries, limits.common))


def _suggestions(report: RunReport, limits: Limits) -> Section:
    entries = starmap(suggestion_entry, enumerate(report.learned.suggestions, 1))
    title = "Ignore rules you might add"
    return section("suggestions", title, cut(Entries, entries, limits.common))


def _outcomes(report: RunReport, limits: Limits) -> Section:
    title = "What became of earlier proposals"
    return section("outcomes", title, cut(Entries, outcome_entries(report), limits.lines))


def _scoreboard(report: RunReport, limits: Limits) -> Section:
    """How right earlier analyses proved; nothing before anything is decided."""
    board = report.learned.scoreboard
    if board is None or not board.found.decided:
        return section("scoreboard", "")
    words = [Paragraphs(text=each) for each in sentences(board)]
    return section("scoreboard", "Scoreboard", reliability(board), words)


_SECTIONS: tuple[Callable[[RunReport, Limits], Section], ...] = (
    _errors,
    _findings,
    sections.failures,
    _patterns,
    _suggestions,
    _outcomes,
    sections.elsewhere,
    _scoreboard,
    sections.dropped,
    sections.unreadable,
    sections.complaints,
    sections.run,
    sections.files,
    sections.end,
)


def _groups(report: RunReport) -> Iterator[ErrorGroup]:
    """The leaders of everything that was there tonight, the analysed ones first."""
    yield from (each.case.leader for each in report.analyses)
    yield from (each.case.leader for each in report.failures)
    yield from (each.group for each in report.dropped)


def _published(report: RunReport, analysis: Analysis) -> tuple[Publication, ...]:
    return published_for(report, (analysis.case.fingerprint, *analysis.case.aliases))


def _fresh(report: RunReport) -> tuple[Analysis, ...]:
    return tuple(each for each in report.analyses if each.ending.kind != "reused")


def _known(report: RunReport) -> tuple[Analysis, ...]:
    return tuple(each for each in report.analyses if each.ending.kind == "reused")


def _new(report: RunReport, kind: str) -> tuple[Receipt, ...]:
    return tuple(r for r in report.receipts if r.kind == kind and r.status in PUBLISHED)


def _explained(report: RunReport) -> int:
    """Fresh analyses that name a root cause with more than low confidence."""
    return sum(bool(a.root_cause.strip()) and a.confidence != "low" for a in _fresh(report))


def _results(report: RunReport) -> Iterator[str]:
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


def _counts(report: RunReport) -> Iterator[Fact]:
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


def _warnings(report: RunReport, limits: Limits) -> tuple[str, ...]:
    """Why the night is not complete; never empty where it is not."""
    reasons = capped([line(each, LONG) for each in report.degraded], limits.lines)
    return reasons if report.status == "complete" or reasons else (UNSAID,)


def _banner(report: RunReport, limits: Limits) -> tuple[str, ...]:
    dry = (DRY,) if report.options.dry_run else ()
    return (*report.banner, *(report.advice if limits.advice else ()), *dry)
