"""What the memory has to say in the morning: patterns, ignore rules, outcomes, lessons."""

from collections.abc import Iterator

from nightwatch_core.models.outcome import (
    FixWatch,
    OccurrenceCount,
    OutcomeEvent,
    OutcomeKind,
    OutcomeUpdate,
)
from nightwatch_core.models.pattern import Backtest, IgnoreSuggestion, Pattern
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.blocks import Entry, Paths
from nightwatch_core.report.limits import LONG, NAME, TEXT, TITLE, Limits
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import plural

VERDICTS: tuple[OutcomeKind, ...] = ("regressed", "no effect", "verified")
ORDER: tuple[OutcomeKind, ...] = (  # what asks for somebody first
    *VERDICTS,
    *("closed unmerged", "not planned", "reopened"),
    *("edited before merge", "merged", "closed"),
)
_OF_ISSUES: tuple[OutcomeKind, ...] = ("closed", "not planned", "reopened")
_NAMES = {"pull": "pull request", "issue": "issue"}


def pattern_entry(pattern: Pattern) -> Entry:
    """What several errors, or several nights, have in common, and why we think so."""
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
    """What a rule would have hidden.

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
    """What tonight brought for earlier proposals, verdicts of production first; then the others.

    Our other issues and pull requests follow as they stand, decided ones first.
    """
    addresses: dict[tuple[str, int], str] = {
        (item.kind, item.number): item.url for item in report.outcomes
    }
    news = [(each, fate) for each in report.followed for fate in each.fates]
    news.sort(key=lambda pair: ORDER.index(pair[1].kind))
    waiting = [(each, each.watch) for each in report.followed if not each.fates]
    measured = [(each, watch) for each, watch in waiting if watch and not watch.verdict]
    shown = {(_item(fate), fate.number) for _, fate in news}
    shown |= {("pull", watch.number) for _, watch in measured}
    left = [item for item in report.outcomes if (item.kind, item.number) not in shown]
    left.sort(key=lambda item: (item.state == "open", -item.number))
    return [
        *(
            _fate_entry(each, fate, addresses.get((_item(fate), fate.number or 0), ""))
            for each, fate in news
        ),
        *(_measured_entry(each, watch) for each, watch in measured),
        *map(_item_entry, left),
    ]


def learned_sentence(report: RunReport) -> str:
    """What the knowledge base gained, and what it could not."""
    learned = report.learned
    failure = f"Learning is incomplete: {line(learned.failure, LONG)}" if learned.failure else ""
    shelved = (f"{name[:1].upper()}{name[1:]}." for name, _ in _shelved(report))
    return " ".join(filter(None, (_kept(report), *shelved, failure)))


def shelved_paths(report: RunReport, limits: Limits) -> list[Paths]:
    """The lessons that went stale or to the archive tonight, by file."""
    return [
        Paths(
            name=name,
            items=tuple(line(file, TITLE) for file in files[: limits.lines]),
            more=max(0, len(files) - limits.lines),
        )
        for name, files in _shelved(report)
    ]


def watch_figures(watch: FixWatch) -> str:
    """How often the error was seen before its fix and since.

    >>> from datetime import UTC, datetime
    >>> before, after = OccurrenceCount(occurrences=12, hours=48), OccurrenceCount(hours=120)
    >>> watch_figures(FixWatch(number=1, merged_at=datetime.now(UTC), before=before, after=after))
    '12 in 48 h before, 0 in 120 h after'
    """
    return f"{_counted(watch.before)} before, {_counted(watch.after)} after"


def _counted(count: OccurrenceCount) -> str:
    return f"{count.occurrences:,} in {count.hours:,.0f} h"


def _fate_entry(each: OutcomeUpdate, fate: OutcomeEvent, address: str) -> Entry:
    number = f" #{fate.number}" if fate.number is not None else ""
    counted = watch_figures(each.watch) if each.watch and fate.kind in VERDICTS else ""
    because = line(fate.because or counted, TEXT)
    words = tuple(line(f"“{word}”", TEXT) for word in fate.words[:3] if word.strip())
    return Entry(
        head=f"{fate.kind}: {_NAMES[_item(fate)]}{number}",
        text=line(each.title or each.fingerprint, TITLE),
        small=because or line(" / ".join(words), TEXT),
        more=words if because else (),
        address=line(address, LONG),
    )


def _measured_entry(each: OutcomeUpdate, watch: FixWatch) -> Entry:
    waiting = "merged, not yet in production as far as we can tell"
    return Entry(
        head=f"being measured: pull request #{watch.number}",
        text=line(each.title or each.fingerprint, TITLE),
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
    counts = (
        (learned.new, "new"),
        (learned.refreshed, "refreshed"),
        (learned.reused, "reused"),
    )
    counted = ", ".join(f"{count:,} {what}" for count, what in counts if count)
    told = [f"Lessons: {counted}."] if counted else []
    if learned.unknown:
        errors = plural(learned.unknown, "error")
        told.append(f"{errors} without a known cause: looked at again by turns.")
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
