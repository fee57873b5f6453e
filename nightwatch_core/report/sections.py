"""The sections of a report that are not findings: what was dropped, failed, rejected, and how."""

from collections.abc import Iterator, Sequence

from nightwatch_core.models.error import DroppedGroup
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.accounts_text import accounts_facts, accounts_line
from nightwatch_core.report.blocks import (
    Block,
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
)
from nightwatch_core.report.learned import learned_sentence, shelved_paths
from nightwatch_core.report.limits import LONG, NAME, TEXT, TITLE, Limits
from nightwatch_core.report.publications import capture_command, one_command, published_elsewhere
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import caching, first, lasting, moment, plural, spending

_COUNTED = "by the analyses; research before them is not counted"
_FILES = ("report.html", "report.md", "report.json")


def entries_section(kind: str, title: str, entries: Sequence[Entry], limit: int) -> Section:
    """Headed lines, at most `limit` of them; no blocks where there are none."""
    some = first(entries, limit)
    blocks = (Entries(items=some.items, more=some.more),) if some.items else ()
    return Section(kind=kind, title=title, blocks=blocks)


def failures(report: RunReport, limits: Limits) -> Section:
    """Analyses that did not come about, with how to try again."""
    entries = [
        Entry(
            head=line(failure.case.title, TITLE),
            text=line(failure.reason, LONG),
            small=one_command(failure.case.fingerprint),
        )
        for failure in report.failures
    ]
    return entries_section("failures", "Failed analyses", entries, limits.lines)


def elsewhere(report: RunReport, limits: Limits) -> Section:
    """What was published, or not, for errors without a finding."""
    some = first(published_elsewhere(report), limits.lines)
    blocks = (Publications(items=some.items, more=some.more),) if some.items else ()
    return Section(kind="elsewhere", title="Published for other errors", blocks=blocks)


def dropped(report: RunReport, limits: Limits) -> Section:
    """Groups that were not analysed, by reason, the most frequent reason first."""
    by_reason: dict[str, list[DroppedGroup]] = {}
    for each in report.dropped:
        by_reason.setdefault(line(each.reason, TITLE) or "no reason given", []).append(each)
    ordered = sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    some = first([_reason(reason, each, limits) for reason, each in ordered], limits.reasons)
    title = f"Not analysed: {plural(len(report.dropped), 'error group')}"
    blocks = (DropReasons(items=some.items, more=some.more),) if some.items else ()
    return Section(kind="dropped", title=title, blocks=blocks)


def unreadable(report: RunReport, limits: Limits) -> Section:
    """Records that could not be read."""
    entries = [
        Entry(head=line(each.place, TITLE), text=line(each.reason, TEXT), small=line(each.text))
        for each in report.rejects
    ]
    title = f"{plural(len(entries), 'record')} could not be read"
    section = entries_section("unreadable", title, entries, limits.lines)
    if not entries or not (paths := report_files(report)):
        return section
    where = Command(name="All of them are in", text=paths[-1])
    return section.model_copy(update={"blocks": (*section.blocks, where)})


def complaints(report: RunReport, limits: Limits) -> Section:
    """What is wrong with ignore rules, agent files, lessons."""
    some = first([line(each, TEXT) for each in report.complaints], limits.lines)
    blocks = (Bullets(items=some.items, more=some.more),) if some.items else ()
    return Section(kind="complaints", title="To put right", blocks=blocks)


def run(report: RunReport, limits: Limits) -> Section:
    """Under which conditions all this was found."""
    blocks: list[Block] = [Facts(items=tuple(_run_facts(report)))]
    if sentence := learned_sentence(report):
        blocks.append(Paragraphs(text=sentence))
    blocks += shelved_paths(report, limits)
    if again := _again(report):
        blocks.append(Command(name="One error again", text=again))
    return Section(kind="run", title="This run", blocks=tuple(blocks))


def files(report: RunReport, limits: Limits) -> Section:
    """What the night left on disk."""
    paths = report_files(report)[: limits.paths]
    return Section(kind="files", title="Files", blocks=(Paths(items=paths),) if paths else ())


def end(report: RunReport, limits: Limits) -> Section:
    """The last lines of a short rendering: what was learned, what it cost, where to read on."""
    sentence, again, capture = learned_sentence(report), _again(report), _capture(report)
    used = (accounts_line(report.accounts) if report.usage.calls else "") or spending(report.usage)
    facts = [Fact(name="Used", text=used)]
    if cached := _code_cache(report):
        facts.append(Fact(name="Code cache", text=cached))
    blocks: list[Block] = [Paragraphs(text=sentence)] if sentence else []
    blocks.append(Facts(items=tuple(facts)))
    blocks += [Command(name="One error again", text=again)] if again else []
    blocks += [Command(name="Capture what was learned", text=capture)] if capture else []
    if paths := report_files(report)[: limits.paths]:
        blocks.append(Paths(name="Report", items=paths))
    return Section(kind="end", blocks=tuple(blocks))


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
        ("Code", _code(report)),
        ("Analyst", ", ".join(models) or report.options.model),
        ("Used", spending(report.usage)),
    ):
        if text:
            yield Fact(name=name, text=line(text, TEXT))
    yield from accounts_facts(report.accounts)
    if cached := _code_cache(report):
        yield Fact(name="Code cache", text=cached)
    yield Fact(name="Options", text=line(chosen, 1_000) if chosen else "all defaults")


def _code(report: RunReport) -> str:
    commit = report.commit
    if commit is None:
        return ""
    because = f" ({commit.because})" if commit.because else ""
    return f"{commit.repository} at {commit.sha[:12]} {commit.branch}".rstrip() + because


def _code_cache(report: RunReport) -> str:
    """What the code cache did for the analyses; empty where the code was local."""
    return f"{caching(report.code_reads)} ({_COUNTED})" if report.code_reads else ""


def _chosen(options: NightOptions) -> Iterator[str]:
    """Options that differ from their defaults."""
    for name, field in NightOptions.model_fields.items():
        value = getattr(options, name)
        if value != field.default:
            yield f"{name}={value}"


def _again(report: RunReport) -> str:
    """The command for the first error that has a name a shell may see."""
    names = (
        *(each.fingerprint for each in report.analyses),
        *(each.case.fingerprint for each in report.failures),
        *(each.group.fingerprint for each in report.dropped),
    )
    return next(filter(None, map(one_command, names)), "")


def _capture(report: RunReport) -> str:
    """The first command that keeps what was learned, and how many more there are."""
    offered = (capture_command(each, report.receipts) for each in report.analyses)
    commands = [each for each in offered if each]
    more = f" (and {len(commands) - 1:,} more)" if len(commands) > 1 else ""
    return f"{commands[0]}{more}" if commands else ""
