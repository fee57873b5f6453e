"""The night in reading order, shared by all renderings; and as Markdown."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import zip_longest
from typing import Literal

from jinja2 import Environment

from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.models.proposals import Receipt, Skip
from nightwatch_core.models.report import NightRecord, RunReport
from nightwatch_core.publish import blocks
from nightwatch_core.publish import finding as parts
from nightwatch_core.publish.expected_value import expected_value, names_of
from nightwatch_core.publish.finding import FindingView
from nightwatch_core.publish.issue_text import markdown_environment
from nightwatch_core.publish.overlap import causes
from nightwatch_core.report import facts, sections
from nightwatch_core.report.headline import PATCH, PUBLISHED, fresh, headline, opened
from nightwatch_core.report.health import health_section, well_services
from nightwatch_core.report.sections import one_command
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import capped, plural, rebinned
from nightwatch_core.text.templates import is_beginning, is_name

DRY = "Dry run: nothing was changed outside the state folder and Prefect's home."
UNSAID = "The night ended without a reason: see the log of the flow run."


def as_markdown(report: RunReport, limits: blocks.Limits = blocks.FULL) -> str:
    """Return the whole report as GitHub-flavoured Markdown, every foreign string escaped."""
    text = _templates().get_template("report.md.j2").render(report=view(report, limits))
    return text.rstrip("\n") + "\n"


@cache
def _templates() -> Environment:
    return markdown_environment("nightwatch_core.report")


def view(report: RunReport, limits: blocks.Limits = blocks.FULL) -> blocks.ReportView:
    """Return the night in reading order: clean, bounded text for every rendering."""
    made = (make(report, limits) for make in _SECTIONS)
    reasons = capped([line(item, blocks.LONG) for item in report.degraded], limits.lines)
    warnings = reasons if report.status == "complete" or reasons else (UNSAID,)
    groups: tuple[ErrorGroup, ...] = tuple(case.leader for case in report.cases)
    advice = report.advice if limits.advice else ()
    banner = (*report.banner, *advice, *((DRY,) if report.options.dry_run else ()))
    standing: blocks.Standing = "calm"
    if report.status != "complete":
        standing = report.status
    elif report.errors or report.rejects or report.failures:
        standing = "good"
    return blocks.ReportView(
        night=line(report.night.id, blocks.NAME),
        status=report.status,
        standing=standing,
        headline=headline(report),
        source=source_of((group.app for group in groups), report.commit),
        warnings=warnings,
        banner=tuple(line(item, blocks.TEXT) for item in banner),
        sections=tuple(item for item in made if item.blocks and item.kind not in limits.without),
    )


def source_of(apps: Iterable[str], commit: Commit | None) -> str:
    """Say which applications failed, and in which repository.

    >>> source_of(("shop", ""), Commit(repository="acme/shop", sha="0123456789abcdef"))
    'shop · acme/shop at 0123456789'
    """
    names = list(dict.fromkeys(filter(None, (line(app, blocks.NAME) for app in apps))))
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    where = f"{commit.repository} at {commit.sha[:10]}" if commit else ""
    return line(" · ".join(filter(None, (shown, where))), blocks.TITLE)


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


# What was published of an error, and what was not.

_NAMES = {
    "issue": "issue",
    "comment": "comment on issue",
    "reopen": "reopened issue",
    "pull": "draft pull request",
    "update": "correction of draft pull request",
}
_CHECKS: dict[str, Literal["published", "failed"]] = {"passed": "published", "failed": "failed"}
_STATUSES = {  # what a receipt's status adds to its name
    "done": "",
    "already there": " (already there)",
    "refused": " refused",
    "unknown": " unconfirmed",
    "held back": " held back (dry run)",
}


def _published(
    report: RunReport,
    receipts: Iterable[Receipt],
    fingerprints: Callable[[str], bool],
    skips: Iterable[Skip],
) -> Iterator[blocks.Publication]:
    """Receipts, the checks of drafts whose fingerprints are meant, and skips with reasons."""
    for receipt in receipts:
        number = f" #{receipt.number}" if receipt.number is not None else ""
        yield blocks.Publication(
            text=f"{_name_of(receipt.kind, report)}{number}{_STATUSES[receipt.status]}",
            address=line(receipt.url, blocks.LONG),
            note=line(receipt.reason or receipt.title, blocks.TEXT),
            state="published" if receipt.status in PUBLISHED else "failed",
        )
    for draft in report.ci:
        if fingerprints(draft.fingerprint):
            yield blocks.Publication(
                text=line(f"checks of #{draft.number}", blocks.NAME),
                note=line(draft.text, blocks.TEXT),
                state=_CHECKS.get(draft.state, "waits"),
            )
    for skip in skips:
        name, waits = _name_of(skip.kind, report), skip.cause == "limit"
        yield blocks.Publication(
            text=f"{name} postponed" if waits else f"no {name}",
            note=line(skip.reason, blocks.TEXT),
            state="waits" if waits else "skipped",
        )


def _name_of(kind: str, report: RunReport) -> str:
    if kind == "pull" and report.options.publish == "patches":
        return PATCH
    return _NAMES.get(kind, line(kind, 40))


def published_for(report: RunReport, analysis: Analysis) -> tuple[blocks.Publication, ...]:
    """Return the publications of an error, then skips with reasons."""
    ours = frozenset((analysis.fingerprint, *analysis.case.aliases))
    receipts = (receipt for receipt in report.receipts if ours & receipt.names)
    skips = (skip for skip in report.skips if skip.fingerprint in ours)
    return tuple(_published(report, receipts, ours.__contains__, skips))


def _elsewhere(report: RunReport, limits: blocks.Limits) -> blocks.Section:
    """Receipts and skips of errors without a finding: nothing published goes unsaid.

    What was not published for an error that is but a line stands in that line.
    """
    detailed = (item for item in report.analyses if _in_detail(item, report, limits))
    shown = frozenset[str]().union(*map(names_of, detailed))
    listed = frozenset[str]().union(*map(names_of, report.analyses))
    receipts = (receipt for receipt in report.receipts if shown.isdisjoint(receipt.names))
    skips = (s for s in report.skips if limits.standing and s.fingerprint not in listed)
    others = _published(report, receipts, lambda name: name not in shown, skips)
    publications = blocks.cut(blocks.Publications, others, limits.lines)
    return blocks.section("elsewhere", "Published for other errors", publications)


# The table of errors: an analysis in one line.


def _errors(report: RunReport, limits: blocks.Limits) -> blocks.Section:
    shown = enumerate(report.analyses[: limits.rows], 1)
    rows = (_row(rank, analysis, report) for rank, analysis in shown)
    total = len(report.analyses)
    return blocks.section("errors", "", blocks.cut(blocks.ErrorTable, rows, limits.rows, total))


def _row(rank: int, analysis: Analysis, report: RunReport) -> blocks.Row:
    publications, since = published_for(report, analysis), known_since(analysis)
    done = ""
    for states in (("published",), ("waits",), ("failed", "skipped")):
        texts = (item.text for item in publications if item.state in states)
        # of a known error it goes without saying that nothing was published
        done = done or ("" if since and "skipped" in states else ", ".join(texts))
    back = "regression" if analysis.case.regressed else ""
    done = line("; ".join(filter(None, (back, since, done))), blocks.TITLE)
    if analysis.handover is not None:
        cause = line(parts.short_handover(analysis.handover), blocks.TITLE)
    else:
        title, first = line(analysis.title, blocks.TITLE), first_sentence(analysis.root_cause)
        is_named = analysis.model != RULES and not analysis.by_fallback  # rules name the error
        cause = (title or first) if is_named else (first or title)
    return blocks.Row(
        rank=rank,
        anchor=f"error-{rank}",
        error=sections.error_line(analysis.case.leader, blocks.NAME),
        where=line(analysis.case.leader.transaction, blocks.NAME),
        count=analysis.case.occurrences,
        cause=cause or "No cause was found.",
        confidence=analysis.confidence,
        done=done.replace("draft pull request", "draft PR") or "–",
        known=bool(since),
        is_new=_is_new(analysis, report),
        unknown=not analysis.has_cause,
    )


def _is_new(analysis: Analysis, report: RunReport) -> bool:
    """Tell whether an error is analysed anew, came back, or was published about tonight."""
    done = any(item.state in ("published", "failed") for item in published_for(report, analysis))
    return done or analysis.ending.kind != "reused" or analysis.case.regressed


def known_since(analysis: Analysis) -> str:
    """Return since when a reused finding is known; empty for a fresh one."""
    if analysis.ending.kind != "reused":
        return ""
    return line(analysis.known_since, blocks.NAME) or "known"


def first_sentence(text: str) -> str:
    """Return the first sentence.

    >>> first_sentence("The rate is missing in rates.py. So the sum fails.")
    'The rate is missing in rates.py.'
    """
    flat = line(text, 2 * blocks.TEXT)
    match = re.match(r"(.{20,}?[.!?])\s", flat)
    return line(match.group(1) if match else flat, blocks.TITLE)


# One analysis as a finding of the report.


def _findings(report: RunReport, limits: blocks.Limits) -> blocks.Section:
    twins = {
        item.fingerprint: tuple(other for other in cause if other is not item)
        for cause in causes(report.analyses)
        for item in cause
    }
    ranked = [
        (rank, analysis)
        for rank, analysis in enumerate(report.analyses, 1)
        if _in_detail(analysis, report, limits)
    ]
    items = (
        _finding(rank, analysis, twins[analysis.fingerprint], report, limits)
        for rank, analysis in ranked[: limits.findings]
    )
    return blocks.section(
        "findings", "Analyses", blocks.cut(blocks.Findings, items, limits.findings, len(ranked))
    )


def _in_detail(analysis: Analysis, report: RunReport, limits: blocks.Limits) -> bool:
    """Tell whether an analysis is a finding; one without a cause may be but a line."""
    alone = limits.handovers == "alone" and len(report.analyses) == 1
    return analysis.has_cause or limits.handovers == "all" or alone


def _finding(
    rank: int,
    analysis: Analysis,
    twins: tuple[Analysis, ...],
    report: RunReport,
    limits: blocks.Limits,
) -> blocks.Finding:
    case, since = analysis.case, known_since(analysis)
    no_draft = parts.doubts_about((analysis.fingerprint,), report.skips)
    finding_view = FindingView(analysis, twins, report.commit, no_draft=no_draft)
    publications = published_for(report, analysis)
    without = limits.without | (limits.without_if_known if since else frozenset())
    unknown = not analysis.has_cause
    error = sections.error_line(case.leader)
    title = "" if unknown else line(analysis.title, blocks.TITLE)
    again = f"Analysed again: {analysis.news}" if analysis.news else ""
    hours = (group.hourly for group in case.groups)
    return blocks.Finding(
        rank=rank,
        anchor=f"error-{rank}",
        title=title or error,
        error=error if title else "",
        where=line(case.leader.transaction, blocks.TITLE),
        seen=_seen(case),
        confidence=analysis.confidence,
        unknown=unknown,
        gist=sections.gist(analysis) if unknown else "",
        fold="What is known" if unknown else "",
        sureness=parts.sureness(analysis),
        doubt=line(parts.doubt(analysis), blocks.TEXT),
        proved=_proved(analysis),
        hourly=rebinned([sum(hour) for hour in zip_longest(*hours, fillvalue=0)]),
        known=since,
        news=line(analysis.waiting or again, blocks.TEXT),
        team=line(": ".join(filter(None, case.triage_texts)), blocks.TEXT),
        regression=case.regressed,
        is_new=any(_is_new(item, report) for item in (analysis, *twins))
        and not any(twin in report.analyses[: rank - 1] for twin in twins),
        links=finding_view.links,
        publications=publications,
        sections=tuple(
            item
            for item in _sections(finding_view, publications, report, limits)
            if item.blocks and item.kind not in without
        ),
    )


def _sections(
    finding_view: FindingView,
    publications: tuple[blocks.Publication, ...],
    report: RunReport,
    limits: blocks.Limits,
) -> Iterator[blocks.Section]:
    analysis = finding_view.analysis
    worth: tuple[blocks.Fact, ...] = ()
    names = {skip.fingerprint for skip in report.skips if skip.cause == "rejected"}
    verdict = "rejected before" if analysis.fingerprint in names else "yes"
    if analysis.has_fix and verdict == "yes":
        value = f"{expected_value((analysis, *finding_view.twins))}"
        worth = (blocks.Fact(name="Expected value", text=value),)
    is_live = analysis.base_branch_status is not None and analysis.base_branch_status.kind == "live"
    rows = facts.facts(
        "error",
        blocks.TITLE,
        of=analysis,
        case=analysis.case,
        leader=analysis.case.leader,
        commit=report.commit,
        seen=_seen(analysis.case),
        base_branch=parts.base_branch(analysis).rstrip(".") if is_live else "",
    )
    own = blocks.Facts(items=rows[: limits.facts])
    if analysis.has_cause:
        yield blocks.section("facts", "", own)
        yield from parts.sections(finding_view, limits)
        files = ", ".join(
            line(change.path, blocks.TITLE) for change in parts.shown_changes(analysis)
        )
        text = line(f"{verdict}, in {files}", blocks.TEXT) if files else "no"
        fix = blocks.Fact(name="Fix", text=text)
        gate = " ".join(parts.proof_lines(analysis.gate)) if analysis.gate else ""
        tried = (blocks.Fact(name="Proof", text=line(gate, blocks.MESSAGE)),) if gate else ()
        yield blocks.section("verdict", "", blocks.Facts(items=(fix, *tried, *worth)))
    else:
        yield from parts.sections(finding_view, limits)
        yield blocks.section("facts", "The error", own)
    yield blocks.section(
        "done", "Actions", blocks.cut(blocks.Publications, publications, len(publications))
    )
    if capture := sections.capture_command(analysis, report):
        yield blocks.section(
            "capture", "", blocks.Command(name="Capture what was learned", text=capture)
        )
    because = tuple(line(item, blocks.LONG) for item in analysis.because[: limits.texts])
    how = blocks.Facts(items=(*facts.facts("analysis", of=analysis), *worth), because=because)
    yield blocks.section("how", "How it was found", how, folded=True)
    if again := one_command(analysis.fingerprint):
        yield blocks.section("again", "", blocks.Command(name="Analyse again", text=again))


def _seen(case: Case) -> str:
    users = case.leader.users
    counted = f", {plural(users, 'user')}" if users is not None else ""
    return plural(case.occurrences, "time") + counted


def _proved(analysis: Analysis) -> str:
    """Return how often findings of this confidence proved right; empty where unknown."""
    record = analysis.track_record
    if record is None:
        return ""
    lowered = f", lowered from {analysis.stated_confidence}" if analysis.stated_confidence else ""
    times = f"{record.right:g} of {record.decided:,} times"
    return f"{record.stated_confidence} findings proved right here {times}{lowered}"


def _unknown(report: RunReport, limits: blocks.Limits) -> blocks.Section:
    unknown = [
        item
        for item in report.analyses
        if not item.has_cause and not _in_detail(item, report, limits)
    ]
    looked = [item for item in unknown if item.ending.kind != "reused"]
    entries = (
        blocks.Entry(head=sections.error_in_list(item.case.leader), text=sections.gist(item))
        for item in looked[: limits.rows]
    )
    title = f"Cause unknown: {plural(len(unknown), 'error')}"
    again = plural(len(unknown) - len(looked), "error was", "errors were")
    text = f"{again} looked at on earlier nights, and nothing speaks for another finding."
    told = (blocks.Paragraphs(text=text),) if len(looked) < len(unknown) else ()
    listed = blocks.cut(blocks.Entries, entries, limits.rows, len(looked)) if looked else ()
    return blocks.section("unknown", title, listed, told)


_SECTIONS: tuple[Callable[[RunReport, blocks.Limits], blocks.Section], ...] = (
    sections.changes,
    _errors,
    _findings,
    _unknown,
    sections.failures,
    sections.batch_triage,
    sections.patterns,
    sections.suggestions,
    sections.outcomes,
    _elsewhere,
    sections.scoreboard,
    sections.dropped,
    sections.unreadable,
    sections.complaints,
    health_section,
    sections.run,
    sections.files,
    sections.end,
)


# Finding one error again in the reports of past nights.


def case_of(reports: Iterable[RunReport], fingerprint: str) -> Case | None:
    """Return the case of that name, from the newest report that has it.

    `fingerprint` is a full name, an alias, or a prefix (with or without "v1:") that fits one case
    only. None where nothing fits, or several do: `cases_like` names those.
    """
    cases = cases_like(reports, fingerprint)
    return cases[0] if len(cases) == 1 else None


def cases_like(reports: Iterable[RunReport], fingerprint: str) -> tuple[Case, ...]:
    """Return cases whose name or alias is, or else begins with, `fingerprint`: the newest of each.

    `reports` come newest first; what was dropped or failed is found too. A full name ends the
    search at once.
    """
    near: dict[str, Case] = {}
    if not fingerprint.strip():
        return ()
    for case in (case for report in reports for case in report.cases):
        names = (case.fingerprint, *case.aliases)
        if is_name(fingerprint, names):
            return (case,)
        if begun := next((name for name in names if is_beginning(fingerprint, (name,))), None):
            near.setdefault(begun, case)
    return tuple(near.values())
