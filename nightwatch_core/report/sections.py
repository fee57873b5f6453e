"""The sections of a report that are not findings: what was dropped, failed, rejected, and how."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Handover
from nightwatch_core.models.assignment import BatchTriage, SubmittedBatch
from nightwatch_core.models.batch import Severity
from nightwatch_core.models.errors import DroppedGroup, RejectedRecord
from nightwatch_core.models.knowledge import (
    Backtest,
    FixWatch,
    IgnoreSuggestion,
    OccurrenceCount,
    OutcomeEvent,
    OutcomeKind,
    OutcomeUpdate,
    Pattern,
)
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OwnItem, Skip
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish import finding_parts as parts
from nightwatch_core.publish.expected_value import expected_value
from nightwatch_core.publish.finding_parts import (
    checked_lines,
    correction_quotes,
    crash_quotes,
    failure_quotes,
    missing_draft,
    proof_lines,
    sentence,
)
from nightwatch_core.report.blocks import (
    Bullets,
    Command,
    DroppedError,
    DropReason,
    DropReasons,
    Entries,
    Entry,
    Excerpts,
    Fact,
    Facts,
    Paragraphs,
    Paths,
    Publications,
    Section,
    SightTable,
    Verbatim,
    bullets,
    cut,
    section,
)
from nightwatch_core.report.excerpts import (
    CODE_LINE,
    COMMITS,
    LONG,
    MESSAGE,
    NAME,
    TEXT,
    TITLE,
    CodeLine,
    Excerpt,
    Limits,
)
from nightwatch_core.report.facts import accounts_facts, accounts_line, facts
from nightwatch_core.report.health import left_sentence
from nightwatch_core.report.publications import (
    SightRow,
    capture_command,
    one_command,
    published_elsewhere,
    sight_rows,
)
from nightwatch_core.text.escaping import block, line, shown
from nightwatch_core.text.markers import Permalinks
from nightwatch_core.text.plain_text import moment, money, plural, spending

# What the memory has to say in the morning: patterns, ignore rules, outcomes, lessons.

VERDICTS: tuple[OutcomeKind, ...] = ("regressed", "no effect", "verified")
ORDER: tuple[OutcomeKind, ...] = (  # what asks for somebody first
    *VERDICTS,
    *("closed unmerged", "not planned", "reopened"),
    *("edited before merge", "merged", "closed"),
)
_OF_ISSUES: tuple[OutcomeKind, ...] = ("closed", "not planned", "reopened")
_NAMES = {"pull": "pull request", "issue": "issue"}


def pattern_entry(pattern: Pattern) -> Entry:
    """Return the entry of a pattern with its reasons."""
    because = f"because {'; '.join(pattern.because[:5])}" if pattern.because else ""
    since = f" since {min(pattern.nights)}" if len(pattern.nights) > 1 else ""
    nights = f"seen on {plural(len(pattern.nights), 'night')}{since}" if pattern.nights else ""
    return Entry(
        head=line(pattern.title, TITLE),
        text=line(pattern.description, LONG),
        small=line(pattern.suggestion, TEXT),
        more=tuple(filter(None, (line(because, LONG), nights))),
    )


def suggestion_entry(number: int, suggestion: IgnoreSuggestion) -> Entry:
    """An ignore rule a person might add, numbered as `nightwatch ignore accept` counts them."""
    field = "" if suggestion.field == "any" else f" in {suggestion.field.replace('_', ' ')}"
    ends = f"holds until {suggestion.expires}" if suggestion.expires else "never expires"
    rate = suggestion.unless_rate_above
    wire = f", and not above {rate:,g} a day" if rate is not None else ", whatever the rate"
    accept = f"accept: nightwatch ignore accept {number}"
    small = (line(suggestion.evidence, TEXT), f"{ends}{wire}", accept)
    return Entry(
        head=line(f"{number}. {suggestion.match}: {suggestion.pattern}", TITLE) + field,
        text=line(suggestion.reason, LONG),
        small=backtest_sentence(suggestion.backtest),
        more=tuple(filter(None, small)),
    )


def backtest_sentence(test: Backtest) -> str:
    """Return the sentence on what a rule would have hidden.

    >>> backtest_sentence(Backtest(nights=14, groups=3, occurrences=412, fixed_later=1, users=12))
    'over 14 nights it would have hidden 3 error groups (412 times), 1 of them fixed later; \
at most 12 users a night'
    """
    if not test.nights:
        return "not back-tested: there is no earlier night to test it on"
    groups = f"{plural(test.groups, 'error group')} ({plural(test.occurrences, 'time')})"
    fixed = f"{test.fixed_later:,} of them" if test.fixed_later else "none of them"
    users = f"at most {plural(test.users, 'user')} a night" if test.users is not None else ""
    return (
        f"over {plural(test.nights, 'night')} it would have hidden {groups}, {fixed} fixed later; "
        f"{users or 'users not known'}"
    )


def outcome_entries(report: RunReport) -> list[Entry]:
    """Return outcomes of earlier proposals, production verdicts first.

    Our other issues and pull requests follow as they stand, decided ones first.
    """
    addresses: dict[tuple[str, int], str] = {
        (item.kind, item.number): item.url for item in report.outcomes
    }
    news = [(update, fate) for update in report.followed for fate in update.fates]
    news.sort(key=lambda pair: ORDER.index(pair[1].kind))
    waiting = [(update, update.watch) for update in report.followed if not update.fates]
    measured = [(item, watch) for item, watch in waiting if watch and not watch.verdict]
    shown = {(_item(fate), fate.number) for _, fate in news}
    shown |= {("pull", watch.number) for _, watch in measured}
    left = [item for item in report.outcomes if (item.kind, item.number) not in shown]
    left.sort(key=lambda item: (item.state == "open", -item.number))
    return [
        *(
            _fate_entry(item, fate, addresses.get((_item(fate), fate.number or 0), ""))
            for item, fate in news
        ),
        *(_measured_entry(item, watch) for item, watch in measured),
        *map(_item_entry, left),
    ]


def learned_sentence(report: RunReport) -> str:
    """Return the sentence on what was learned."""
    learned = report.learned
    failure = f"Learning is incomplete: {line(learned.failure, LONG)}" if learned.failure else ""
    shelved = (f"{name[:1].upper()}{name[1:]}." for name, _ in _shelved(report))
    return " ".join(filter(None, (_kept(report), *shelved, failure)))


def shelved_paths(report: RunReport, limits: Limits) -> list[Paths]:
    """Return the lessons that went stale or to the archive tonight, by file."""
    return [
        Paths(
            name=name,
            items=tuple(line(file, TITLE) for file in files[: limits.lines]),
            more=max(0, len(files) - limits.lines),
        )
        for name, files in _shelved(report)
    ]


def watch_figures(watch: FixWatch) -> str:
    """Return the occurrences before and since the fix.

    >>> from datetime import UTC, datetime
    >>> before, after = OccurrenceCount(occurrences=12, hours=48), OccurrenceCount(hours=120)
    >>> watch_figures(FixWatch(number=1, merged_at=datetime.now(UTC), before=before, after=after))
    '12 in 48 h before, 0 in 120 h after'
    """
    return f"{_counted(watch.before)} before, {_counted(watch.after)} after"


def _counted(count: OccurrenceCount) -> str:
    return f"{count.occurrences:,} in {count.hours:,.0f} h"


def _fate_entry(update: OutcomeUpdate, fate: OutcomeEvent, address: str) -> Entry:
    number = f" #{fate.number}" if fate.number is not None else ""
    counted = watch_figures(update.watch) if update.watch and fate.kind in VERDICTS else ""
    because = line(fate.because or counted, TEXT)
    words = tuple(line(f"“{word}”", TEXT) for word in fate.words[:3] if word.strip())
    return Entry(
        head=f"{fate.kind}: {_NAMES[_item(fate)]}{number}",
        text=line(update.title or update.fingerprint, TITLE),
        small=because or line(" / ".join(words), TEXT),
        more=words if because else (),
        address=line(address, LONG),
    )


def _measured_entry(update: OutcomeUpdate, watch: FixWatch) -> Entry:
    waiting = "merged, not yet in production as far as we can tell"
    return Entry(
        head=f"being measured: pull request #{watch.number}",
        text=line(update.title or update.fingerprint, TITLE),
        small=watch_figures(watch) if watch.deployed_at else waiting,
    )


def _item_entry(item: OwnItem) -> Entry:
    why = f" ({item.state_reason.replace('_', ' ')})" if item.state_reason else ""
    why += f", its checks {item.checks}" if item.checks and item.state == "open" else ""
    return Entry(
        head=line(f"{_NAMES[item.kind]} #{item.number} {item.state}{why}", NAME),
        text=line(item.title, TITLE),
        small=line(" / ".join(item.words[:3]), TEXT),
        address=line(item.url, LONG),
    )


def _item(fate: OutcomeEvent) -> str:
    return "issue" if fate.kind in _OF_ISSUES else "pull"


def _kept(report: RunReport) -> str:
    if report.options.dry_run:
        return ""
    learned = report.learned
    counts = ((learned.new, "new"), (learned.refreshed, "refreshed"), (learned.reused, "reused"))
    counted = ", ".join(f"{count:,} {what}" for count, what in counts if count)
    told = [f"Lessons: {counted}."] if counted else []
    if learned.unknown:
        errors = plural(learned.unknown, "error")
        have = "has" if learned.unknown == 1 else "have"
        told.append(
            f"{errors} {have} no known cause; NightWatch analyses them again on later nights."
        )
    if told:
        return " ".join(told)
    return f"{plural(len(learned.lessons), 'lesson')} kept." if learned.lessons else ""


def _shelved(report: RunReport) -> Iterator[tuple[str, tuple[str, ...]]]:
    stale, archived = report.learned.stale, report.learned.archived
    if stale:
        fit = "no longer fits" if len(stale) == 1 else "no longer fit"
        yield f"{plural(len(stale), 'lesson')} {fit} the code", stale
    if archived:
        yield f"{plural(len(archived), 'lesson')} moved to the archive", archived


# What running a fix showed, and what was checked where there is none, as sections of a finding.

_QUOTES = 4 * MESSAGE  # characters of what a run printed
_DOUBTS = ("weak", "worth", "refused", "no fix")  # for which a fix is no draft, whatever the night


def proof_section(analysis: Analysis, skips: tuple[Skip, ...], limits: Limits) -> Section:
    """Make the one section: what proves the fix, or why there is no draft and what was checked."""
    ours = [
        skip for skip in skips if skip.kind == "pull" and skip.fingerprint == analysis.fingerprint
    ]
    why = next((our.reason for our in ours if our.cause in _DOUBTS), "")
    name = missing_draft(analysis, why)
    lines = checked_lines(analysis) if name else proof_lines(analysis.gate) * bool(analysis.gate)
    told = (*((sentence(f"Why no draft: {why}"),) if why else ()), *lines)
    gate = analysis.gate
    quotes = (*crash_quotes(gate), *failure_quotes(gate), *correction_quotes(gate))
    runs = (Verbatim(name=line(q.name), text=block(q.output, _QUOTES, code=True)) for q in quotes)
    listed = cut(Bullets, (line(item, LONG) for item in told), 2 * limits.texts)
    return section("proof", name or "Proof", listed, runs)


def worth(members: tuple[Analysis, ...]) -> Iterator[Fact]:
    """Return the expected value of the fix."""
    if members[0].has_fix:
        yield Fact(name="Expected value", text=f"{expected_value(members)}")


# An error whose cause is not known, as a report shows it: a line, and what is known in a fold.

FOLD = "What is known"
STEPS = 8  # all that a handover holds, in the shortest rendering too


def in_detail(analysis: Analysis, report: RunReport, limits: Limits) -> bool:
    """Tell whether an analysis is a finding; one without a cause may be but a line."""
    alone = limits.handovers == "alone" and len(report.analyses) == 1
    return analysis.has_cause or limits.handovers == "all" or alone


def handover_entry(analysis: Analysis) -> Entry:
    """Return the error in one line."""
    count = f"{analysis.case.occurrences:,}"
    return Entry(head=f"{line(analysis.case.title, TITLE)} ({count})", text=gist(analysis))


def gist(analysis: Analysis) -> str:
    """Return location, failing line, author and next step in one line.

    >>> from nightwatch_core.models.errors import Case, ErrorGroup
    >>> of = Case(leader=ErrorGroup(fingerprint="v1:0", source="file", error_class="E"))
    >>> known = Handover(path="a.py", line=3, value="'EUR'", look_at=("Who calls it?",))
    >>> gist(Analysis(case=of, title="", root_cause="", confidence="low", handover=known))
    "failed in a.py:3; 'EUR'; next: Who calls it?"
    """
    given = analysis.handover or Handover()
    texts = (
        failed_in(given),
        line(given.value, NAME),
        f"last written by {line(given.last_change, NAME)}" if given.last_change.strip() else "",
        f"next: {line(next(iter(given.look_at), ''), TEXT)}" if given.look_at else "",
    )
    said = line(analysis.case.leader.message, TEXT)
    only = f"nothing is known but what it says: {said}" if said else "nothing is known"
    return line("; ".join(filter(None, texts)), LONG) or only


def short_gist(given: Handover) -> str:
    """Return the unknown cause and its location in one line.

    >>> known = Handover(path="a.py", line=3, lines=("f(x.y)",), first_line=3)
    >>> short_gist(known), short_gist(known.model_copy(update={"unknown": "why a.py:3 fails"}))
    ('Failed in a.py:3 `f(x.y)`', 'Cause unknown: why a.py:3 fails: `f(x.y)`')
    """
    what, where = line(parts.short_handover(given), TEXT), failed_in(given)
    if not given.unknown.strip():
        return f"{where[:1].upper()}{where[1:]}"
    place = line(parts.place_of(given), TITLE)
    if place and place in what:
        row = where.removeprefix(f"failed in {place}").strip()
        return f"{what.rstrip('.')}: {row}" if row else what
    return " ".join(filter(None, (what, f"{where[:1].upper()}{where[1:]}")))


def failed_in(given: Handover) -> str:
    """Return the failing location with its line; empty where unknown."""
    row, place = line(parts.failing_row(given), NAME), line(parts.place_of(given), TITLE)
    code = f" `{row}`" if row and "`" not in row else ""
    return f"failed in {place}{code}" if place else ""


def handover_sections(analysis: Analysis, links: Permalinks, limits: Limits) -> Iterator[Section]:
    """Return the triage notes: known facts and next steps."""
    given, many = analysis.handover or Handover(), limits.texts
    said = analysis.case.leader.message if "message" in limits.without else ""
    given_facts = (("Message", said), *parts.handover_facts(given))
    known = tuple(
        Fact(name=n, text=line(text, TEXT)) for n, text in given_facts if line(text, TEXT)
    )
    yield section("handover", "", *((Facts(items=known),) if known else ()))
    yield section("lines", "The failing line", cut(Excerpts, _lines(given, links), 1))
    yield bullets("look", "To look at next", given.look_at, STEPS)
    claims = () if given.unknown or not analysis.root_cause.strip() else (analysis.root_cause,)
    undecided = map(parts.explanation, parts.open_explanations(analysis))
    yield bullets("unproved", "Said, and not proved", (*claims, *undecided), many)


def _lines(given: Handover, links: Permalinks) -> Iterator[Excerpt]:
    if not given.lines:
        return
    rows = tuple(
        CodeLine(text=shown(text)[:CODE_LINE], number=number)
        for number, text in enumerate(given.lines, given.first_line or 1)
    )
    yield Excerpt(
        place=line(parts.place_of(given), TITLE),
        address=links.line(given.path, given.line) if given.line else "",
        lines=rows,
    )


_FILES = ("report.html", "report.md", "report.json")


def failures(report: RunReport, limits: Limits) -> Section:
    """Analyses that did not come about, with how to try again."""
    entries = (
        Entry(
            head=line(failure.case.title, TITLE),
            text=line(failure.reason, LONG),
            small=one_command(failure.case.fingerprint),
        )
        for failure in report.failures
    )
    return section("failures", "Failed analyses", cut(Entries, entries, limits.lines))


def elsewhere(report: RunReport, limits: Limits) -> Section:
    """Return publications and skips of errors without a finding."""
    findings = (analysis for analysis in report.analyses if in_detail(analysis, report, limits))
    publications = cut(Publications, published_elsewhere(report, findings), limits.lines)
    return section("elsewhere", "Published for other errors", publications)


def dropped(report: RunReport, limits: Limits) -> Section:
    """Groups that were not analysed, by reason, the most frequent reason first."""
    by_reason: dict[str, list[DroppedGroup]] = {}
    for group in report.dropped:
        by_reason.setdefault(line(group.reason, TITLE) or "no reason given", []).append(group)
    ordered = sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    reasons = [_reason(reason, item, limits) for reason, item in ordered]
    title = f"Not analysed: {plural(len(report.dropped), 'error group')}"
    return section("dropped", title, cut(DropReasons, reasons, limits.reasons))


def unreadable(report: RunReport, limits: Limits) -> Section:
    """Records that could not be read."""
    entries = [
        Entry(head=_of_reject(reject), text=line(reject.reason, TEXT), small=line(reject.text))
        for reject in report.rejects[: limits.lines]
    ]
    total = sum(reject.count for reject in report.rejects)
    paths = report_files(report)[-1:] if entries and limits.paths else ()
    where = [Command(name="All of them are in", text=path) for path in paths]
    title = f"{plural(total, 'record')} could not be read"
    return section(
        "unreadable", title, cut(Entries, entries, limits.lines, len(report.rejects)), where
    )


def _of_reject(reject: RejectedRecord) -> str:
    place = line(reject.place, TITLE)
    return place if reject.count == 1 else f"{place} and {reject.count - 1:,} more like it"


def complaints(report: RunReport, limits: Limits) -> Section:
    """Return complaints about ignore rules, agent files and lessons."""
    texts = (
        line(complaint, TEXT) for complaint in (*report.complaints, *report.batch_triage.complaints)
    )
    return section("complaints", "To put right", cut(Bullets, texts, limits.lines))


def run(report: RunReport, limits: Limits) -> Section:
    """Under which conditions all this was found."""
    used = Facts(items=tuple(_run_facts(report)))
    return section(
        "run", "This run", used, _learned(report), shelved_paths(report, limits), _again(report)
    )


def files(report: RunReport, limits: Limits) -> Section:
    """Return the files of the night."""
    return section("files", "Files", _paths(report, limits, ""))


def end(report: RunReport, limits: Limits) -> Section:
    """The last lines of a short rendering: what was learned, what it cost, where to read on."""
    used = (accounts_line(report.accounts) if report.usage.calls else "") or spending(report.usage)
    spent = facts("end", used=used, report=report, sent=left_sentence(report.health))
    offered = (capture_command(analysis, report) for analysis in report.analyses)
    commands = [spec for spec in offered if spec]
    more = f" (and {len(commands) - 1:,} more)" if len(commands) > 1 else ""
    name = "Capture what was learned"
    capture = tuple(Command(name=name, text=f"{command}{more}") for command in commands[:1])
    return section(
        "end",
        "",
        _learned(report),
        Facts(items=spent),
        _again(report),
        capture,
        _paths(report, limits, "Report"),
    )


def report_files(report: RunReport) -> tuple[str, ...]:
    """Return paths of what the night left on disk; empty before it has a folder."""
    folder = line(report.night.folder, 1_000).rstrip("/")
    names = (*_FILES, "rejects.jsonl") if report.rejects else _FILES
    return tuple(f"{folder}/{name}" for name in names) if folder else ()


def _reason(reason: str, members: list[DroppedGroup], limits: Limits) -> DropReason:
    groups = sorted((member.group for member in members), key=lambda group: -group.occurrences)
    examples = tuple(
        DroppedError(
            error=line(group.title, TITLE),
            count=group.occurrences,
            fingerprint=line(group.fingerprint, NAME),
        )
        for group in groups[: limits.examples]
    )
    return DropReason(
        reason=reason,
        groups=len(groups),
        count=sum(group.occurrences for group in groups),
        items=examples,
        more=len(groups) - len(examples),
    )


def _run_facts(report: RunReport) -> Iterator[Fact]:
    analysed = (analysis.case for analysis in report.analyses)
    cases = (*analysed, *(failure.case for failure in report.failures))
    errors_at = Counter(case.commit.sha for case in cases if case.commit)
    yield from facts("run", LONG, report=report, errors_at=errors_at, most_commits=COMMITS)
    yield from accounts_facts(report.accounts)
    yield from facts(
        "settings",
        report=report,
        sent=left_sentence(report.health),
        options=", ".join(_chosen(report.options)),
    )


def _chosen(options: NightOptions) -> Iterator[str]:
    for name, field in NightOptions.model_fields.items():
        value = getattr(options, name)
        if value != field.default:
            yield f"{name}={value}"


def _learned(report: RunReport) -> tuple[Paragraphs, ...]:
    sentence = learned_sentence(report)
    return (Paragraphs(text=sentence),) if sentence else ()


def _paths(report: RunReport, limits: Limits, name: str) -> tuple[Paths, ...]:
    paths = report_files(report)[: limits.paths]
    return (Paths(name=name, items=paths),) if paths else ()


def _again(report: RunReport) -> tuple[Command, ...]:
    if report.options.batch_mode:  # of a night that analyses nothing
        return ()
    names = (
        *(analysis.fingerprint for analysis in report.analyses),
        *(failure.case.fingerprint for failure in report.failures),
        *(group.group.fingerprint for group in report.dropped),
    )
    command = next(filter(None, map(one_command, names)), "")
    return (Command(name="One error again", text=command),) if command else ()


# Batch triage in the report: results, running batches, submitted batches.

_NOTHING = "none is said to need an analysis"
HOW = "Run with --collect to retrieve results."


def batch_triage(report: RunReport, limits: Limits) -> Section:
    """Return the table of batch triage; empty where the night had no batch."""
    triage, rows = report.batch_triage, sight_rows(report)
    title = f"Batch triage: {plural(len(rows), 'error')}"
    said = [Paragraphs(text=line(text, TEXT)) for text in _sentences(triage, rows)]
    table = cut(SightTable, rows[: limits.triage], limits.triage, len(rows))
    return section("batch_triage", title if rows else "Batch triage", said, table)


def tail_headline(report: RunReport) -> tuple[str, str]:
    """Return the headline of a night that only submits or waits; empty otherwise."""
    if text := _submitted_text(report):
        return text, "batch submitted"
    triage = report.batch_triage
    if triage.running and not (triage.judged or report.errors or report.status == "failed"):
        return "The batch has not ended: nothing could be collected so far.", "still running"
    if triage.judged and not (triage.flagged or report.analyses or report.failures):
        return f"{plural(len(triage.judged), 'error')} judged at first sight: {_NOTHING}.", "judged"
    return "", ""


def _submitted_text(report: RunReport) -> str:
    triage = report.batch_triage
    if not report.options.batch_mode or report.status == "failed":
        return ""
    if triage.submitted:
        errors = plural(sum(batch.errors for batch in triage.submitted), "error")
        cost = f" ({triage.cost})" if triage.cost else ""
        if any(batch.id for batch in triage.submitted):
            return f"Batch submitted: {errors}{cost}. {HOW}"
        return f"Dry run: a batch of {errors}{cost} was held back."
    if triage.awaited:
        return f"Batch submitted before: {plural(triage.awaited, 'error')} wait for answers. {HOW}"
    return "No batch was submitted: there was no error to ask about."


def _sentences(triage: BatchTriage, rows: tuple[SightRow, ...]) -> Iterator[str]:
    if triage.judged:
        yield _judged(triage, rows)
    yield from (f"{item[0].upper()}{item[1:]}" for item in triage.running)
    for batch in triage.submitted:
        yield _submitted(batch, triage.cost)
    if triage.awaited:
        yield f"{plural(triage.awaited, 'error')} wait for the answer to an earlier batch."


def _judged(triage: BatchTriage, rows: tuple[SightRow, ...]) -> str:
    counted = Counter(item.first_sight.severity for item in triage.judged if item.first_sight)
    words = [f"{counted[name]:,} {name}" for name in get_args(Severity) if counted[name]]
    silent = len(triage.judged) - sum(counted.values())
    flagged = sum(item.flagged for item in triage.judged)
    parts = (
        f"{plural(sum(counted.values()), 'error')} judged in a batch: {', '.join(words) or 'none'}",
        f"{flagged:,} flagged for analysis",
        f"{silent:,} without a judgement" if silent else "",
        f"{money(triage.usage.cost)} at the batch's price",
    )
    return "; ".join(filter(None, parts)) + "."


def _submitted(batch: SubmittedBatch, cost: str) -> str:
    errors = plural(batch.errors, "error")
    if not batch.id:
        return f"{errors} would have been asked about at first sight: {cost}."
    until = f", answers until {moment(batch.expires)}" if batch.expires else ""
    name, model = line(batch.id, NAME), line(batch.model, NAME)
    return f"{errors} submitted to {model} as batch {name}: {cost}{until}."
