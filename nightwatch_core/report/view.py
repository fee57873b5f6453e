"""The night in reading order, shared by all renderings; and as Markdown."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import zip_longest
from typing import Literal

from jinja2 import Environment

from nightwatch_core.analysis.budget import tier_of
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Handover, TierRecord, Usage
from nightwatch_core.models.errors import Case
from nightwatch_core.models.proposals import Receipt, Skip
from nightwatch_core.models.report import NightRecord, RunReport
from nightwatch_core.publish import blocks
from nightwatch_core.publish import finding as parts
from nightwatch_core.publish.expected_value import accepted_in, expected_value, names_of
from nightwatch_core.publish.finding import FindingView
from nightwatch_core.publish.issue_text import markdown_environment
from nightwatch_core.publish.overlap import causes
from nightwatch_core.report import facts, sections
from nightwatch_core.report.headline import (
    PATCH,
    PUBLISHED,
    achieved,
    fixes_that,
    fresh,
    groups_in,
    merged_fixes,
    opened,
)
from nightwatch_core.report.health import health_section, well_services
from nightwatch_core.report.sections import one_command
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import capped, moment, plural, rebinned, release_called
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
    above = (sections.changes(report, limits), *_findings(report, limits))
    made = (*above, *(make(report, limits) for make in _SECTIONS))
    reasons = capped([line(item, blocks.LONG) for item in report.degraded], limits.lines)
    warnings = reasons if report.status == "complete" or reasons else (UNSAID,)
    advice = report.advice if limits.advice else ()
    banner = (*report.banner, *advice, *((DRY,) if report.options.dry_run else ()))
    code = report.commit
    standing: blocks.Standing = "calm"
    if report.status != "complete":
        standing = report.status
    elif report.errors or report.rejects or report.failures:
        standing = "good"
    return blocks.ReportView(
        title=title_of(report),
        status=report.status,
        standing=standing,
        headline=achieved(report),
        source=line(f"{code.repository} at {code.sha[:10]}", blocks.TITLE) if code else "",
        warnings=warnings,
        banner=tuple(line(item, blocks.TEXT) for item in banner),
        sections=tuple(item for item in made if item.blocks and item.kind not in limits.without),
    )


def title_of(report: RunReport) -> str:
    """Return the applications whose errors were read, and the night."""
    return " · ".join(filter(None, (app_of(report), line(report.night.id, blocks.NAME))))


def app_of(report: RunReport) -> str:
    """Name the applications whose errors were read."""
    return apps_of(case.leader.app for case in report.cases) or report.application


def apps_of(names: Iterable[str]) -> str:
    """Name applications, the first three of many.

    >>> apps_of(("shop", "", "shop", "a", "b", "c"))
    'shop, a, b and 1 more'
    """
    apps = list(dict.fromkeys(filter(None, (line(name, blocks.NAME) for name in names))))
    more = f" and {len(apps) - 3} more" if len(apps) > 3 else ""
    return ", ".join(apps[:3]) + more


def record_of(report: RunReport) -> NightRecord:
    """Return the night's line in the run history."""
    return NightRecord(
        id=report.night.id,
        status=report.status,
        started=report.started,
        finished=report.finished,
        errors=report.errors,
        app=app_of(report),
        analysed=groups_in(fresh(report)),
        known=groups_in(report.analyses) - groups_in(fresh(report)),
        issues=len(opened(report, "issue")),
        pulls=len(opened(report, "pull")),
        merged=len(merged_fixes(report)),
        verified=len(fixes_that(report, "verified")),
        cost=report.usage.cost,
        forecast=report.forecast.cost if report.forecast else None,
        tiers=tuple(_paid(report)),
        traffic=report.traffic,
        night=report.night,
        read_whole=report.read_whole,
        well=well_services(report.health),
    )


def _paid(report: RunReport) -> Iterator[TierRecord]:
    for analysis in fresh(report):
        usage = analysis.usage + (analysis.gate.usage if analysis.gate else Usage())
        if usage.calls and usage.cost is not None:
            tier, cost = tier_of(analysis.case), usage.cost
            yield TierRecord(
                tier=tier, model=report.options.analysts, errors=1, cost=cost, squares=cost**2
            )


# What was published of an error, and what was not.

_CHECKS: dict[str, Literal["published", "failed"]] = {"passed": "published", "failed": "failed"}


def _published(
    report: RunReport,
    receipts: Iterable[Receipt],
    fingerprints: Callable[[str], bool],
    skips: Iterable[Skip],
) -> Iterator[blocks.Publication]:
    """Receipts, the checks of drafts whose fingerprints are meant, and skips with reasons."""
    for receipt in receipts:
        number = f" {receipt.name}" if receipt.name else ""
        is_on_pull = (receipt.kind, receipt.on) == ("comment", "pull")
        kind = "comment on pull" if is_on_pull else receipt.kind
        status = sections.WORDS["statuses"][receipt.status]
        yield blocks.Publication(
            text=f"{_name_of(kind, report)}{number}{status}",
            address=line(receipt.url, blocks.LONG),
            note=line(receipt.reason or receipt.title, blocks.TEXT),
            state="published" if receipt.status in PUBLISHED else "failed",
        )
    for draft in report.ci:
        if fingerprints(draft.fingerprint):
            yield blocks.Publication(
                text=line(f"checks of {draft.name}", blocks.NAME),
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
    return sections.WORDS["published"].get(kind, line(kind, 40))


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
    shown = frozenset[str]().union(*map(names_of, _detailed(report, limits)))
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
    publications = published_for(report, analysis)
    since = line(known_since(analysis), blocks.NAME)
    done = ""
    for states in (("published",), ("waits",), ("failed", "skipped")):
        texts = (item.text for item in publications if item.state in states)
        # of a known error it goes without saying that nothing was published
        done = done or ("" if since and "skipped" in states else ", ".join(texts))
    back = "regression" if analysis.case.regressed else ""
    accepted = "accepted" if accepted_in(names_of(analysis), report.outcomes) else ""
    done = line("; ".join(filter(None, (back, accepted, since, done))), blocks.TITLE)
    if analysis.handover is not None:
        cause = line(parts.short_handover(analysis.handover), blocks.TITLE)
    else:
        title, first = line(analysis.title, blocks.TITLE), first_sentence(analysis.root_cause)
        is_named = analysis.model != RULES and not analysis.by_fallback  # rules name the error
        cause = (title or first) if is_named else (first or title)
    return blocks.Row(
        rank=rank,
        anchor=anchor_of(analysis),
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
    return (
        analysis.ending.kind != "reused"
        or analysis.case.regressed
        or any(item.state in ("published", "failed") for item in published_for(report, analysis))
    )


def anchor_of(analysis: Analysis) -> str:
    """Return the name of a finding's place on the page, the same every night: `v1-aef9…`."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", line(analysis.fingerprint, blocks.NAME))


def known_since(analysis: Analysis) -> str:
    """Return since when a reused finding is known; empty for a fresh one."""
    if analysis.ending.kind != "reused":
        return ""
    waits = "" if analysis.has_cause else analysis.waiting  # which says since when, too
    return line(waits or analysis.known_since, blocks.TEXT) or "known"


def first_sentence(text: str) -> str:
    """Return the first sentence.

    >>> first_sentence("The rate is missing in rates.py. So the sum fails.")
    'The rate is missing in rates.py.'
    """
    flat = line(text, 2 * blocks.TEXT)
    match = re.match(r"(.{20,}?[.!?])\s", flat)
    return line(match.group(1) if match else flat, blocks.TITLE)


# One analysis as a finding of the report.


def _first_of(report: RunReport) -> Analysis | None:
    """Return the error with news that a reader begins with: what awaits a person, else a cause."""
    made = [receipt for receipt in report.receipts if receipt.status in PUBLISHED]

    def is_last(analysis: Analysis) -> tuple[bool, ...]:
        kinds = {receipt.kind for receipt in made if analysis.fingerprint in receipt.names}
        return ("pull" not in kinds, "issue" not in kinds, not analysis.has_cause)

    return min((one for one in report.analyses if _is_new(one, report)), key=is_last, default=None)


def _findings(report: RunReport, limits: blocks.Limits) -> Iterator[blocks.Section]:
    """The error to begin with above the table of all, the other findings below it."""
    twins = {
        item.fingerprint: tuple(other for other in cause if other is not item)
        for cause in causes(report.analyses)
        for item in cause
    }
    detailed = set(map(id, _detailed(report, limits)))
    ranked = [item for item in enumerate(report.analyses, 1) if id(item[1]) in detailed]

    def findings(some: list[tuple[int, Analysis]], most: int) -> tuple[blocks.Findings, ...]:
        made = (_finding(n, of, twins[of.fingerprint], report, limits) for n, of in some[:most])
        return blocks.cut(blocks.Findings, made, most, len(some))

    first = _first_of(report)
    above = [(rank, analysis) for rank, analysis in ranked if analysis is first]
    below = [(rank, analysis) for rank, analysis in ranked if analysis is not first]
    yield blocks.section("first", "Start here", findings(above, 1))
    yield _errors(report, limits)
    yield blocks.section("findings", "Other analyses", findings(below, limits.findings - 1))


def _detailed(report: RunReport, limits: blocks.Limits) -> list[Analysis]:
    """Return the analyses that are findings; one without a cause or news may be but a line."""
    first = _first_of(report) if limits.handovers == "alone" else None
    only = limits.handovers == "alone" and len(report.analyses) == 1
    return [
        one
        for one in report.analyses
        if (
            one.has_cause or limits.handovers == "all" or one is first
            if limits.known or _is_new(one, report)
            else only
        )
    ]


def _finding(
    rank: int,
    analysis: Analysis,
    twins: tuple[Analysis, ...],
    report: RunReport,
    limits: blocks.Limits,
) -> blocks.Finding:
    case, since = analysis.case, known_since(analysis)
    finding_view = FindingView(analysis, twins, report.commit)  # actions say why there is no draft
    publications = published_for(report, analysis)
    without = limits.without | (limits.without_if_known if since else frozenset())
    unknown = not analysis.has_cause
    error = sections.error_line(case.leader)
    title = "" if unknown else line(analysis.title, blocks.TITLE)
    again = f"Analysed again: {analysis.news}" if analysis.news else ""
    hours = (group.hourly for group in case.groups)
    glance, earlier = _glance(analysis, publications), report.analyses[: rank - 1]
    is_new = any(_is_new(item, report) for item in (analysis, *twins))
    is_new = is_new and not any(twin in earlier for twin in twins)
    facts_above = frozenset(fact.text for fact in glance)
    made = (
        _without_facts(item, facts_above)
        for item in _sections(finding_view, publications, report, limits)
        if item.kind not in without
    )
    return blocks.Finding(
        rank=rank,
        anchor=anchor_of(analysis),
        title=title or error,
        error=error if title else "",
        where=line(case.leader.transaction, blocks.TITLE),
        seen=_seen(case),
        glance=glance,
        confidence=analysis.confidence,
        unknown=unknown,
        gist=sections.gist(analysis, without=_BESIDE) if unknown else "",
        fold="What is known" if unknown or (since and not is_new) else "",
        sureness=parts.sureness(analysis),
        doubt=line(parts.doubt(analysis), blocks.TEXT),
        proved=_proved(analysis),
        hourly=rebinned([sum(hour) for hour in zip_longest(*hours, fillvalue=0)]),
        known=since,
        news=line(("" if unknown else analysis.waiting) or again, blocks.TEXT),
        team=line(": ".join(filter(None, case.triage_texts)), blocks.TEXT),
        regression=case.regressed,
        is_new=is_new,
        links=finding_view.links,
        publications=publications,
        sections=tuple(item for item in made if item.blocks),
    )


def _glance(
    analysis: Analysis, publications: tuple[blocks.Publication, ...]
) -> tuple[blocks.Fact, ...]:
    """Since when it happens, whose change it is, and what to do first."""
    case, given = analysis.case, analysis.failing or analysis.handover or Handover()
    known = analysis.news or known_since(analysis)  # from before the window that tonight reads
    oldest = next(iter(case.leader.releases), case.leader.release)
    release = case.leader.release if known else oldest
    first = f"first seen {moment(case.first_seen)}" if case.first_seen and not known else ""
    drafts = (item.text for item in publications if item.state == "published")
    draft = next((text for text in drafts if "draft pull request #" in text), "")
    question = parts.question(analysis)
    steps = (
        f"Review {draft}" if draft else "",
        f"Decide: {question}" if question else "",
        *(analysis.next_steps or given.look_at)[:1],
    )
    since = ", ".join(filter(None, (release and release_called(release), first)))
    rows = (
        ("Tonight" if known else "Since", since),
        ("Suspected change", next(parts.suspected(analysis), "")),
        ("Line last written by", given.last_change),
        ("Do first" if analysis.has_cause else "Look first", next(filter(None, steps), "")),
    )
    facts = (blocks.Fact(name=name, text=line(text, blocks.LONG)) for name, text in rows)
    return tuple(fact for fact in facts if fact.text)


def _without_facts(section: blocks.Section, shown: frozenset[str]) -> blocks.Section:
    """A section without the lines that stand above it; evidence and fix are folded."""
    kept: list[blocks.Block] = []
    for block in section.blocks:
        if isinstance(block, blocks.Bullets | blocks.Facts):
            items = tuple(item for item in block.items if getattr(item, "text", item) not in shown)
            block = block.model_copy(update={"items": items})
            if not (items or (block.more if isinstance(block, blocks.Bullets) else block.because)):
                continue
        kept.append(block)
    is_folded = section.folded or section.kind in _FOLDED
    return section.model_copy(update={"blocks": tuple(kept), "folded": is_folded})


_BESIDE = ("value", "last_change", "look_at")  # the gist of a finding
_FOLDED = ("evidence", "fix")  # what is read once the cause is believed


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
        worth = (blocks.Fact(name="Worth of the fix", text=value),)
    is_live = analysis.base_branch_status is not None and analysis.base_branch_status.kind == "live"
    rows = facts.facts(
        "error",
        blocks.TITLE,
        of=analysis,
        case=analysis.case,
        leader=analysis.case.leader,
        commit=report.commit,
        base_branch=parts.base_branch(analysis).rstrip(".") if is_live else "",
    )
    own = blocks.Facts(items=rows[: limits.facts])
    yield from parts.sections(finding_view, limits)
    yield blocks.section("facts", "The error", own, folded=True)
    if analysis.has_cause:
        paths = (line(item.path, blocks.TITLE) for item in parts.shown_changes(analysis))
        files = ", ".join(paths)
        text = line(f"{verdict}, in {files}", blocks.TEXT) if files else "no"
        fix = blocks.Fact(name="Fix", text=text)
        gate = " ".join(parts.proof_lines(analysis.gate)) if analysis.gate else ""
        tried = (blocks.Fact(name="Proof", text=line(gate, blocks.MESSAGE)),) if gate else ()
        yield blocks.section("verdict", "", blocks.Facts(items=(fix, *tried, *worth)))
    done = blocks.cut(blocks.Publications, publications, len(publications))
    yield blocks.section("done", "Actions", done)
    if text := sections.capture_command(analysis, report):
        capture = blocks.Command(name=sections.CAPTURE, text=text)
        yield blocks.section("capture", "", capture)
    because = tuple(line(item, blocks.LONG) for item in analysis.because[: limits.texts])
    how = blocks.Facts(items=(*facts.facts("analysis", of=analysis), *worth), because=because)
    yield blocks.section("how", "How it was found", how, folded=True)
    if again := one_command(report, analysis.fingerprint):
        yield blocks.section("again", "", blocks.Command(name="Analyse again", text=again))
    if said := one_command(report, analysis.fingerprint, "feedback"):
        helped = blocks.Command(name="Say whether it helped", text=f"{said} {sections.VERDICT}")
        yield blocks.section("feedback", "", helped)


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
    detailed = set(map(id, _detailed(report, limits)))
    anew = (item for item in fresh(report) if not item.has_cause)
    looked = [item for item in anew if id(item) not in detailed]
    entries = (
        blocks.Entry(
            head=sections.error_in_list(item.case.leader, item.case.occurrences),
            text=sections.gist(item, without=("unknown",)),
        )
        for item in looked
    )
    title = f"Cause unknown: {plural(len(looked), 'case')}"
    return blocks.section("unknown", title, blocks.cut(blocks.Entries, entries, limits.rows))


_SECTIONS: tuple[Callable[[RunReport, blocks.Limits], blocks.Section], ...] = (
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
