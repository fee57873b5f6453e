"""What one night tells in the morning: the view that every rendering shows, and its headline."""

from collections.abc import Callable, Iterator
from itertools import starmap

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.error import ErrorGroup
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
from nightwatch_core.report.handover import handover_entry, in_detail
from nightwatch_core.report.headline import headline, in_short
from nightwatch_core.report.health import well_services
from nightwatch_core.report.health_text import health_section
from nightwatch_core.report.learned import outcome_entries, pattern_entry, suggestion_entry
from nightwatch_core.report.limits import FULL, LONG, NAME, TEXT, Limits
from nightwatch_core.report.publications import Publication, published_for
from nightwatch_core.report.scoreboard_text import drafts_line, reliability, sentences
from nightwatch_core.report.switched_off import switched_off
from nightwatch_core.report.tail_section import long_tail
from nightwatch_core.report.tally import fresh, known, opened, tally, without_cause
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import capped, plural

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
        in_short=in_short(report),
        source=source_of((group.app for group in _groups(report)), report.commit),
        warnings=_warnings(report, limits),
        banner=tuple(line(each, TEXT) for each in _banner(report, limits)),
        counts=tuple(_counts(report)),
        sections=tuple(each for each in made if each.blocks and each.kind not in limits.without),
    )


def record_of(report: RunReport) -> NightRecord:
    """The night's line in the run history."""
    return NightRecord(
        id=report.night.id,
        status=report.status,
        started=report.started,
        finished=report.finished,
        errors=report.errors,
        analysed=len(fresh(report)),
        known=len(report.analyses) - len(fresh(report)),
        issues=len(opened(report, "issue")),
        pulls=len(opened(report, "pull")),
        cost=report.usage.cost,
        traffic=report.traffic,
        night=report.night,
        read_whole=report.read_whole,
        well=well_services(report.health),
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
    ranked = [
        (n, one) for n, one in enumerate(report.analyses, 1) if in_detail(one, report, limits)
    ]
    items = tuple(
        finding(rank, Shown(each, report, twins[each.fingerprint]), limits)
        for rank, each in ranked[: limits.findings]
    )
    found = Findings(items=items, more=len(ranked) - len(items))
    return section("findings", "Analyses", (found,) if items else ())


def _unknown(report: RunReport, limits: Limits) -> Section:
    """Errors of which nobody knows the cause, a line each, where they are no findings."""
    lines = [one for one in without_cause(report) if not in_detail(one, report, limits)]
    entries = cut(Entries, map(handover_entry, lines[: limits.rows]), limits.rows, len(lines))
    return section("unknown", f"No cause is known: {plural(len(lines), 'error')}", entries)


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
    if board is None:
        return section("scoreboard", "")
    if not board.found.decided:
        known = board.drafts is not None and board.drafts.known
        alone = (Paragraphs(text=drafts_line(board.drafts)),) if known else ()
        return section("scoreboard", "Scoreboard", alone)
    words = [Paragraphs(text=each) for each in sentences(board)]
    return section("scoreboard", "Scoreboard", reliability(board), words)


_SECTIONS: tuple[Callable[[RunReport, Limits], Section], ...] = (
    _errors,
    _findings,
    _unknown,
    sections.failures,
    long_tail,
    _patterns,
    _suggestions,
    _outcomes,
    sections.elsewhere,
    _scoreboard,
    sections.dropped,
    sections.unreadable,
    sections.complaints,
    health_section,
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


def _counts(report: RunReport) -> Iterator[Fact]:
    if report.status == "failed" and not report.errors:
        return  # a nought would read like a quiet night
    night = tally(report)
    always = ((night.errors, "error group", ""), (report.occurrences, "occurrence", ""))
    unknown = len(without_cause(report))
    there = (
        (len(known(report)), "known", "known"),
        (night.cases, "analysed", "analysed"),
        (night.explained, "root cause", ""),
        (unknown, "cause unknown", "causes unknown"),
        (night.fixes, "fix", "fixes"),
        (night.issues, "issue", ""),
        (night.pulls, *night.draft),
        (len(report.failures), "failed", "failed"),
    )
    for count, one, many in (*always, *(each for each in there if each[0])):
        count_text, name = plural(count, one, many).split(" ", 1)
        yield Fact(name=name, text=count_text)


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
    off = switched_off(report.options)
    return (*report.banner, *off, *(report.advice if limits.advice else ()), *dry)
