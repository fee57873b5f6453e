"""View of a report, shared by all renderings."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap
from typing import NamedTuple

from nightwatch_core.models.analysis import Analysis, KeptBack
from nightwatch_core.models.answer import Learning
from nightwatch_core.models.code import Commit, Suspect
from nightwatch_core.models.errors import Case, ErrorGroup, Trace
from nightwatch_core.models.report import NightRecord, RunReport
from nightwatch_core.publish import finding_parts as parts
from nightwatch_core.publish.finding_parts import checked_lines, told_in_report
from nightwatch_core.publish.overlap import causes
from nightwatch_core.report import facts as plain
from nightwatch_core.report import sections
from nightwatch_core.report.blocks import (
    Command,
    Entries,
    ErrorTable,
    Excerpts,
    Fact,
    Facts,
    Finding,
    Findings,
    Paragraphs,
    Publications,
    ReportView,
    Section,
    Standing,
    Verbatim,
    bullets,
    cut,
    section,
)
from nightwatch_core.report.builder import fresh, known, opened, tally, without_cause
from nightwatch_core.report.excerpts import (
    CAUSE,
    FULL,
    LONG,
    MESSAGE,
    NAME,
    TEXT,
    TITLE,
    TRACE,
    Excerpt,
    Limits,
    diff_excerpt,
    evidence_excerpt,
)
from nightwatch_core.report.headline import headline, in_short
from nightwatch_core.report.health import health_section, well_services
from nightwatch_core.report.publications import (
    NO_CAUSE,
    Publication,
    capture_command,
    error_row,
    known_since,
    one_command,
    published_for,
)
from nightwatch_core.report.sections import (
    FOLD,
    batch_triage,
    handover_entry,
    handover_sections,
    in_detail,
    outcome_entries,
    pattern_entry,
    proof_section,
    short_gist,
    suggestion_entry,
    worth,
)
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.markers import Permalinks
from nightwatch_core.text.plain_text import capped, moment, plural, rebinned
from nightwatch_core.text.templates import is_beginning, is_name

# Facts of a finding: when and where it was seen, how it was found, what it cost.


def proved(analysis: Analysis) -> str:
    """Return how often findings of this confidence proved right; empty where unknown."""
    record = analysis.track_record
    if record is None:
        return ""
    lowered = f", lowered from {analysis.said}" if analysis.said else ""
    times = f"{record.right:g} of {record.decided:,} times"
    return f"proved right here {times} when said {record.said}{lowered}"


def seen(case: Case) -> str:
    """Return occurrences and users."""
    users = case.leader.users
    return plural(case.occurrences, "time") + (
        f", {plural(users, 'user')}" if users is not None else ""
    )


def facts(analysis: Analysis, commit: Commit | None) -> tuple[Fact, ...]:
    """Return the facts of an error besides its cause; `commit` belongs to its repository."""
    stands = analysis.standing is not None and analysis.standing.kind == "live"
    return plain.facts(
        "error",
        TITLE,
        of=analysis,
        case=analysis.case,
        leader=analysis.case.leader,
        commit=commit,
        seen=seen(analysis.case),
        base_branch=parts.standing(analysis).rstrip(".") if stands else "",
    )


def news(analysis: Analysis) -> str:
    """Return what a reused finding waits for, or why it was analysed again."""
    again = f"Looked at again: {analysis.news}" if analysis.news else ""
    return line(analysis.waiting or again, TEXT)


def kept_back(part: KeptBack) -> str:
    """Return quarantined text and the injected instruction it repeats."""
    return f"a {part.part}, which repeats an order from outside: {ascii(part.order)[1:-1]}"


def ending(analysis: Analysis) -> str:
    """That an analysis was cut short."""
    if analysis.ending.kind != "wrapped up":
        return ""
    return line(f"Wrapped up early: {analysis.ending.detail or 'a limit was reached'}", TEXT)


def hourly(case: Case) -> Sequence[int]:
    """Occurrences of all groups of a case, by hour."""
    hours = [group.hourly for group in case.groups if group.hourly]
    length = max(map(len, hours), default=0)
    return tuple(sum(hour[at] for hour in hours if at < len(hour)) for at in range(length))


def trace_text(trace: Trace | None) -> str:
    """Return the trace as it came, else its frames."""
    if trace is None:
        return ""
    frames = (f"{frame.place} {frame.function}".rstrip() for frame in trace.frames[:60])
    return block(trace.raw or "\n".join(frames), TRACE, code=True)


# One analysis as a finding of the report.


class Shown(NamedTuple):
    """An analysis as a report shows it, with the other errors of its cause."""

    analysis: Analysis
    report: RunReport
    twins: tuple[Analysis, ...] = ()

    @property
    def publications(self) -> tuple[Publication, ...]:
        """Return its publications."""
        return _published(self.report, self.analysis)

    @property
    def links(self) -> Permalinks:
        """Addresses of the code it was found in."""
        return Permalinks.of(self.report.commit, self.analysis.commit)


def finding(rank: int, shown: Shown, limits: Limits) -> Finding:
    """Return everything the morning reader wants to know about one analysis."""
    analysis, case, links = shown.analysis, shown.analysis.case, shown.links
    known = known_since(analysis)
    without = limits.without | (limits.without_if_known if known else frozenset())
    unknown = not analysis.has_cause
    return Finding(
        rank=rank,
        anchor=f"error-{rank}",
        title=line("" if unknown else analysis.title, TITLE) or line(case.title, TITLE),
        error=line(case.leader.error_class, NAME),
        where=line(case.leader.transaction, TITLE),
        seen=seen(case),
        confidence=analysis.confidence,
        unknown=unknown,
        gist=short_gist(analysis.handover) if analysis.handover else "",
        fold=FOLD if unknown else "",
        sureness=parts.sureness(analysis),
        doubt=line(parts.doubt(analysis), TEXT),
        proved=proved(analysis),
        hourly=rebinned(hourly(case)),
        known=known,
        news=news(analysis),
        team=line(": ".join(filter(None, case.triage_texts)), TEXT),
        regression=case.regressed,
        source=source_of((case.leader.app,), shown.report.commit, analysis.commit),
        address=links.address,
        commit=links.sha,
        publications=shown.publications,
        sections=tuple(
            item
            for item in (_handed_over if unknown else _sections)(shown, limits)
            if item.blocks and item.kind not in without
        ),
    )


def _sections(shown: Shown, limits: Limits) -> Iterator[Section]:
    analysis, case, many = shown.analysis, shown.analysis.case, limits.texts
    rows = facts(analysis, shown.report.commit)[: limits.facts]
    yield section("facts", "", Facts(items=rows))
    calm = analysis.standing is not None and analysis.standing.kind == "live"
    caveats = filter(None, (parts.misfit(analysis), "" if calm else parts.standing(analysis)))
    yield bullets("caveats", "Mind", caveats, many)
    if message := block(case.leader.message, MESSAGE):
        yield section("message", "", Verbatim(text=message))
    text = block(analysis.root_cause, CAUSE) or NO_CAUSE
    cause = Paragraphs(text=text, remark=ending(analysis))
    yield section("cause", "Root cause", cause)
    asked = filter(None, (parts.question(analysis),))
    yield bullets("question", "A question to the team", asked, 1)
    yield from _evidence(shown, limits)
    yield section("fix", "Proposed fix", cut(Excerpts, _fix(analysis, limits), limits.files))
    yield proof_section(analysis, shown.report.skips, limits)
    refused = (f"{item.path}: {item.reason}" for item in analysis.refused)
    yield bullets("refused", "Not proposed", refused, many)
    yield bullets("kept back", "Kept back", map(kept_back, analysis.kept_back), many)
    yield _suspects(analysis, limits)
    undecided = map(parts.explanation, parts.open_explanations(analysis))
    yield bullets("open", "Open explanations", undecided, many)
    yield bullets("next", "Next steps", analysis.next_steps, many)
    yield bullets("twins", "The same cause is behind", parts.twin_lines(shown.twins), many)
    yield bullets("also", "Also this error", _also(case), many)
    decided = (
        f"{explanation.standing}: {parts.explanation(explanation)}"
        for explanation in parts.decided_unless_checked(analysis)
    )
    yield bullets("considered", "Considered", decided, many).model_copy(update={"folded": True})
    yield bullets("learned", "Learned", map(_learning, analysis.learnings), many)
    files = ", ".join(line(change.path, TITLE) for change in parts.shown_changes(analysis))
    verdict = Fact(name="Fix", text=line(f"yes, in {files}", TEXT) if files else "no")
    gate = line(told_in_report(analysis), LONG)
    tried = (Fact(name="Tried", text=gate),) if gate else ()
    value = worth((analysis, *shown.twins))
    yield section("verdict", "", Facts(items=(verdict, *tried, *value)))
    yield from _end(shown, limits)


def _handed_over(shown: Shown, limits: Limits) -> Iterator[Section]:
    analysis, case, many = shown.analysis, shown.analysis.case, limits.texts
    yield bullets("caveats", "Mind", filter(None, (parts.misfit(analysis),)), many)
    yield from handover_sections(analysis, shown.links, limits)
    yield bullets("checked", "What was checked", checked_lines(analysis), many)
    rows = facts(analysis, shown.report.commit)[: limits.facts]
    yield section("facts", "The error", Facts(items=rows))
    if message := block(case.leader.message, MESSAGE):
        yield section("message", "", Verbatim(text=message))
    yield bullets("also", "Also this error", _also(case), many)
    yield from _end(shown, limits)


def _evidence(shown: Shown, limits: Limits) -> Iterator[Section]:
    """The first pieces, and the others folded; where nothing folds, the first alone."""
    links = shown.links
    found = [
        evidence_excerpt(
            evidence,
            limits.code_lines,
            links.line(evidence.path, evidence.line) if evidence.verified else "",
        )
        for evidence in parts.shown_evidence(shown.analysis)
    ]
    at_once = min(parts.FIRST, limits.evidence)
    if "evidence_more" in limits.without:
        yield section("evidence", "Evidence", cut(Excerpts, found, at_once))
        return
    yield section("evidence", "Evidence", cut(Excerpts, found[:at_once], at_once))
    more = cut(Excerpts, found[at_once:], limits.evidence)
    name = f"{len(found) - at_once:,} more"
    yield Section(kind="evidence_more", title=name, blocks=more, folded=True)


def _fix(analysis: Analysis, limits: Limits) -> Iterator[Excerpt]:
    for file in parts.shown_changes(analysis):
        yield diff_excerpt(file, parts.descriptions(analysis, file.path), limits.code_lines)


def _suspects(analysis: Analysis, limits: Limits) -> Section:
    texts = (
        _suspect(suspect, parts.suspect_reasons(analysis, suspect))
        for suspect in parts.shown_suspects(analysis)
    )
    shown = (*texts, parts.named_change(analysis))
    title = "Suspected change" if analysis.suspect_commit else "Suspects"
    return bullets("suspects", title, filter(None, shown), limits.suspects)


def _end(shown: Shown, limits: Limits) -> Iterator[Section]:
    analysis, case = shown.analysis, shown.analysis.case
    done = cut(Publications, shown.publications, len(shown.publications))
    yield section("done", "What was done", done)
    if capture := capture_command(analysis, shown.report):
        yield section("capture", "", Command(name="Capture what was learned", text=capture))
    because = tuple(line(item, LONG) for item in analysis.because[: limits.texts])
    rows = (*plain.facts("analysis", of=analysis)[: limits.how], *worth((analysis, *shown.twins)))
    yield Section(
        kind="how",
        title="How it was found",
        blocks=(Facts(items=rows, because=because),),
        folded=True,
    )
    if again := one_command(case.fingerprint):
        yield section("again", "", Command(name="Again", text=again))
    if trace := trace_text(case.trace):
        yield section("trace", "", Verbatim(name="Stack trace", text=trace))


def _also(case: Case) -> Iterator[str]:
    return (f"{line(other.title)} ({other.occurrences:,})" for other in case.others)


def source_of(apps: Iterable[str], commit: Commit | None, sha: str = "") -> str:
    """Say which applications failed, and in which repository.

    >>> source_of(("shop", ""), Commit(repository="acme/shop", sha="0123456789abcdef"))
    'shop · acme/shop at 0123456789'
    """
    named = list(dict.fromkeys(filter(None, (line(app, NAME) for app in apps))))
    shown = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    where = f"{commit.repository} at {(sha or commit.sha)[:10]}" if commit else ""
    return line(" · ".join(filter(None, (shown, where))), TITLE)


def _learning(learning: Learning) -> str:
    return f"{learning.fact} ({learning.path})" if learning.path else learning.fact


def _suspect(suspect: Suspect, reasons: tuple[str, ...]) -> str:
    pull = suspect.pull
    author = f" by {pull.author}" if pull.author else ""
    because = f": {'; '.join(reasons)}" if reasons else ""
    called = f"{pull.name} “{parts.change_title(pull)}”{author}"
    return f"{called}, merged {moment(pull.merged_at)}{because}"


DRY = "Dry run: nothing was changed outside the state folder and Prefect's home."
UNSAID = "The night ended without saying why: see the flow run's log."


def view(report: RunReport, limits: Limits = FULL) -> ReportView:
    """Return the night in reading order: clean, bounded text for every rendering."""
    made = (make(report, limits) for make in _SECTIONS)
    reasons = capped([line(item, LONG) for item in report.degraded], limits.lines)
    warnings = reasons if report.status == "complete" or reasons else (UNSAID,)
    return ReportView(
        night=line(report.night.id, NAME),
        status=report.status,
        standing=_standing(report),
        headline=headline(report),
        in_short=in_short(report),
        source=source_of((group.app for group in _groups(report)), report.commit),
        warnings=warnings,
        banner=tuple(line(item, TEXT) for item in _banner(report, limits)),
        counts=tuple(_counts(report)),
        sections=tuple(item for item in made if item.blocks and item.kind not in limits.without),
    )


def record_of(report: RunReport) -> NightRecord:
    """Return the night's line in the run history."""
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
    rows = tuple(error_row(rank, preview, _published(report, preview)) for rank, preview in shown)
    table = ErrorTable(items=rows, more=len(report.analyses) - len(rows))
    return section("errors", "", (table,) if rows else ())


def _findings(report: RunReport, limits: Limits) -> Section:
    twins = {
        item.fingerprint: tuple(other for other in cause if other is not item)
        for cause in causes(report.analyses)
        for item in cause
    }
    ranked = [
        (n, analysis)
        for n, analysis in enumerate(report.analyses, 1)
        if in_detail(analysis, report, limits)
    ]
    items = tuple(
        finding(rank, Shown(share, report, twins[share.fingerprint]), limits)
        for rank, share in ranked[: limits.findings]
    )
    found = Findings(items=items, more=len(ranked) - len(items))
    return section("findings", "Analyses", (found,) if items else ())


def _unknown(report: RunReport, limits: Limits) -> Section:
    lines = [
        analysis for analysis in without_cause(report) if not in_detail(analysis, report, limits)
    ]
    entries = cut(Entries, map(handover_entry, lines[: limits.rows]), limits.rows, len(lines))
    return section("unknown", f"Cause unknown: {plural(len(lines), 'error')}", entries)


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
    board = report.learned.scoreboard
    if board is None:
        return section("scoreboard", "")
    if not board.found.decided:
        known = board.drafts is not None and board.drafts.known
        alone = (Paragraphs(text=plain.drafts_line(board.drafts)),) if known else ()
        return section("scoreboard", "Scoreboard", alone)
    words = [Paragraphs(text=sentence) for sentence in plain.sentences(board)]
    return section("scoreboard", "Scoreboard", plain.reliability(board), words)


_SECTIONS: tuple[Callable[[RunReport, Limits], Section], ...] = (
    _errors,
    _findings,
    _unknown,
    sections.failures,
    batch_triage,
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
    yield from (analysis.case.leader for analysis in report.analyses)
    yield from (failure.case.leader for failure in report.failures)
    yield from (group.group for group in report.dropped)


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
    for count, item, many in (*always, *(stamp for stamp in there if stamp[0])):
        count_text, name = plural(count, item, many).split(" ", 1)
        yield Fact(name=name, text=count_text)


def _standing(report: RunReport) -> Standing:
    if report.status != "complete":
        return report.status
    return "good" if report.errors or report.rejects or report.failures else "calm"


def _banner(report: RunReport, limits: Limits) -> tuple[str, ...]:
    dry = (DRY,) if report.options.dry_run else ()
    return (*report.banner, *(report.advice if limits.advice else ()), *dry)


# Finding one error again in the reports of past nights.


def case_of(reports: Iterable[RunReport], fingerprint: str) -> Case | None:
    """Return the case of that name, from the newest report that has it.

    `fingerprint` is a full name, an alias, or a prefix (with or without "v1:") that fits one case
    only. None where nothing fits, or several do: `cases_like` names those.
    """
    cases = cases_like(reports, fingerprint)
    return cases[0] if len(cases) == 1 else None


def cases_like(reports: Iterable[RunReport], fingerprint: str) -> tuple[Case, ...]:
    """Cases whose name or alias is, or else begins with, `fingerprint`: the newest of each.

    `reports` come newest first; what was dropped or failed is found too. A full name ends the
    search at once.
    """
    near: dict[str, Case] = {}
    if not fingerprint.strip():
        return ()
    for case in (case for report in reports for case in _cases(report)):
        names = (case.fingerprint, *case.aliases)
        if is_name(fingerprint, names):
            return (case,)
        if begun := next((name for name in names if is_beginning(fingerprint, (name,))), None):
            near.setdefault(begun, case)
    return tuple(near.values())


def _cases(report: RunReport) -> Iterable[Case]:
    yield from (analysis.case for analysis in report.analyses)
    yield from (failure.case for failure in report.failures)
    yield from (Case(leader=group.group) for group in report.dropped)
