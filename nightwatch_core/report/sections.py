"""The sections of a report that are not findings: what was dropped, failed, rejected, and how."""

from collections.abc import Iterator

from nightwatch_core.analysis.complexity import unplaced
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.error import DroppedGroup, RejectedRecord
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.accounts_text import accounts_facts, accounts_line
from nightwatch_core.report.blocks import (
    Bullets,
    Command,
    DroppedError,
    DropReason,
    DropReasons,
    Entries,
    Entry,
    Fact,
    Facts,
    Paragraphs,
    Paths,
    Publications,
    Section,
    cut,
    section,
)
from nightwatch_core.report.code_facts import code_facts
from nightwatch_core.report.handover import in_detail
from nightwatch_core.report.health_text import left_sentence
from nightwatch_core.report.learned import learned_sentence, shelved_paths
from nightwatch_core.report.limits import LONG, NAME, TEXT, TITLE, UNPLACED, Limits
from nightwatch_core.report.publications import capture_command, one_command, published_elsewhere
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import caching, lasting, moment, plural, spending

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
    """What was published, or not, for errors without a finding."""
    findings = (one for one in report.analyses if in_detail(one, report, limits))
    publications = cut(Publications, published_elsewhere(report, findings), limits.lines)
    return section("elsewhere", "Published for other errors", publications)


def dropped(report: RunReport, limits: Limits) -> Section:
    """Groups that were not analysed, by reason, the most frequent reason first."""
    by_reason: dict[str, list[DroppedGroup]] = {}
    for each in report.dropped:
        by_reason.setdefault(line(each.reason, TITLE) or "no reason given", []).append(each)
    ordered = sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    reasons = [_reason(reason, each, limits) for reason, each in ordered]
    title = f"Not analysed: {plural(len(report.dropped), 'error group')}"
    return section("dropped", title, cut(DropReasons, reasons, limits.reasons))


def unreadable(report: RunReport, limits: Limits) -> Section:
    """Records that could not be read."""
    entries = [
        Entry(head=_of_reject(each), text=line(each.reason, TEXT), small=line(each.text))
        for each in report.rejects[: limits.lines]
    ]
    total = sum(each.count for each in report.rejects)
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
    """What is wrong with ignore rules, agent files, lessons."""
    texts = (line(each, TEXT) for each in (*report.complaints, *report.long_tail.complaints))
    return section("complaints", "To put right", cut(Bullets, texts, limits.lines))


def run(report: RunReport, limits: Limits) -> Section:
    """Under which conditions all this was found."""
    facts = Facts(items=tuple(_run_facts(report)))
    return section(
        "run", "This run", facts, _learned(report), shelved_paths(report, limits), _again(report)
    )


def files(report: RunReport, limits: Limits) -> Section:
    """What the night left on disk."""
    return section("files", "Files", _paths(report, limits, ""))


def end(report: RunReport, limits: Limits) -> Section:
    """The last lines of a short rendering: what was learned, what it cost, where to read on."""
    used = (accounts_line(report.accounts) if report.usage.calls else "") or spending(report.usage)
    facts = (
        Fact(name="Used", text=used),
        Fact(name="Code cache", text=_code_cache(report)),
        Fact(name="Left this machine", text=left_sentence(report.health)),
    )
    return section(
        "end",
        "",
        _learned(report),
        Facts(items=tuple(fact for fact in facts if fact.text)),
        _again(report),
        _capture(report),
        _paths(report, limits, "Report"),
    )


def report_files(report: RunReport) -> tuple[str, ...]:
    """Paths of what the night left on disk; empty before it has a folder."""
    folder = line(report.night.folder, 1_000).rstrip("/")
    names = (*_FILES, "rejects.jsonl") if report.rejects else _FILES
    return tuple(f"{folder}/{name}" for name in names) if folder else ()


def _reason(reason: str, members: list[DroppedGroup], limits: Limits) -> DropReason:
    groups = sorted((each.group for each in members), key=lambda group: -group.occurrences)
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
    night = report.night
    models = sorted({each.model for each in report.analyses if each.model})
    chosen = ", ".join(_chosen(report.options))
    for name, text in (
        ("Night", f"{night.id}{' (resumed)' if night.resumed else ''}"),
        ("Window", f"{moment(night.window.since)} to {moment(night.window.until)}"),
        ("Ran", f"{moment(report.started)}, took {lasting(report.finished - report.started)}"),
    ):
        yield Fact(name=name, text=line(text, TEXT))
    yield from code_facts(report)
    for name, text in (
        ("Analyst", ", ".join(models) or report.options.model),
        ("Used", spending(report.usage)),
    ):
        if text:
            yield Fact(name=name, text=line(text, TEXT))
    if report.long_tail.usage.calls:
        sights = f"{spending(report.long_tail.usage)}: half price in batches, within what was used"
        yield Fact(name="First sights", text=sights)
    yield from accounts_facts(report.accounts)
    if left := left_sentence(report.health):
        yield Fact(name="Left this machine", text=left)
    if names := _unplaced(report):
        yield Fact(name="Medium effort", text=f"errors of no known kind: {names}")
    if cached := _code_cache(report):
        yield Fact(name="Code cache", text=cached)
    yield Fact(name="Options", text=line(chosen, 1_000) if chosen else "all defaults")


def _unplaced(report: RunReport) -> str:
    """Classes that no table of effort places and that a model analysed; empty for none."""
    if report.options.model == RULES:
        return ""
    fresh = (one.case for one in report.analyses if one.ending.kind != "reused")
    return line(", ".join(line(name, NAME) for name in unplaced(fresh)[:UNPLACED]), LONG)


def _code_cache(report: RunReport) -> str:
    """Where what the night read of the code came from; empty where nobody counted."""
    return caching(report.code_reads) if report.code_reads else ""


def _chosen(options: NightOptions) -> Iterator[str]:
    """Options that differ from their defaults."""
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
    """The command for the first error that has a name a shell may see."""
    if report.options.batch_mode:  # of a night that analyses nothing
        return ()
    names = (
        *(each.fingerprint for each in report.analyses),
        *(each.case.fingerprint for each in report.failures),
        *(each.group.fingerprint for each in report.dropped),
    )
    command = next(filter(None, map(one_command, names)), "")
    return (Command(name="One error again", text=command),) if command else ()


def _capture(report: RunReport) -> tuple[Command, ...]:
    """The first command that keeps what was learned, and how many more there are."""
    offered = (capture_command(each, report) for each in report.analyses)
    commands = [each for each in offered if each]
    more = f" (and {len(commands) - 1:,} more)" if len(commands) > 1 else ""
    name = "Capture what was learned"
    return tuple(Command(name=name, text=f"{each}{more}") for each in commands[:1])
