"""What the memory has to say in the morning: patterns, ignore rules, outcomes, lessons."""

from collections import Counter
from collections.abc import Iterable

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
from nightwatch_core.report.scoreboard_text import reliability, sentences
from nightwatch_core.report.values import Limits, Line, Listing, Scored
from nightwatch_core.text.escaping import line
from nightwatch_core.text.words import Some, first, plural

VERDICTS: tuple[OutcomeKind, ...] = ("regressed", "no effect", "verified")
ORDER: tuple[OutcomeKind, ...] = (  # what asks for somebody first
    *VERDICTS,
    *("closed unmerged", "not planned", "reopened"),
    *("edited before merge", "merged", "closed"),
)
ON_ISSUES: tuple[OutcomeKind, ...] = ("closed", "not planned", "reopened")
NAMES = {"pull": "pull request", "issue": "issue"}


def patterns(report: RunReport, limits: Limits) -> Some[Line]:
    """What several errors, or several nights, have in common, and why we think so."""
    return first([_pattern(each) for each in report.learned.patterns], limits.common)


def suggestions(report: RunReport, limits: Limits) -> Some[Line]:
    """Ignore rules a person might add, numbered as `nightwatch ignore accept` counts them."""
    numbered = enumerate(report.learned.suggestions, 1)
    return first([_suggestion(number, each) for number, each in numbered], limits.common)


def followed(report: RunReport, limits: Limits) -> Some[Line]:
    """What tonight brought for earlier proposals: verdicts of production first."""
    addresses: dict[tuple[str, int], str] = {
        (item.kind, item.number): item.url for item in report.outcomes
    }
    news = [(each, fate) for each in report.followed for fate in each.fates]
    news.sort(key=lambda pair: ORDER.index(pair[1].kind))
    lines = [_news(each, fate, addresses) for each, fate in news]
    measured = [_measured(each, watch) for each, watch in _being_measured(report)]
    return first([*lines, *measured], limits.lines)


def _being_measured(report: RunReport) -> list[tuple[OutcomeUpdate, FixWatch]]:
    pairs = ((each, each.watch) for each in report.followed if not each.fates)
    return [(each, watch) for each, watch in pairs if watch and not watch.verdict]


def verdicts(report: RunReport) -> tuple[str, ...]:
    """What production says of merged fixes tonight, for the headline."""
    kinds = Counter(fate.kind for each in report.followed for fate in each.fates)
    said = ((kind, kinds[kind]) for kind in ("verified", "no effect", "regressed") if kinds[kind])
    return tuple(f"{plural(count, 'fix', 'fixes')} {SAID.get(kind, kind)}" for kind, count in said)


SAID = {"no effect": "without effect"}


def outcomes(report: RunReport, limits: Limits) -> Some[Line]:
    """Our other issues and pull requests as they stand; decided ones first."""
    told = {(_item(fate), fate.number) for each in report.followed for fate in each.fates}
    told |= {("pull", watch.number) for _, watch in _being_measured(report)}
    left = [item for item in report.outcomes if (item.kind, item.number) not in told]
    ordered = sorted(left, key=lambda item: (item.state == "open", -item.number))
    return first([_outcome(item) for item in ordered], limits.lines)


def learned(report: RunReport) -> str:
    """What the knowledge base gained, and what it could not."""
    told = report.learned
    failure = f"Learning is incomplete: {line(told.failure, 400)}" if told.failure else ""
    shelved = (f"{name[:1].upper()}{name[1:]}." for name, _ in _shelved(report))
    return " ".join(filter(None, (_kept(report), *shelved, failure)))


def listings(report: RunReport, limits: Limits) -> tuple[Listing, ...]:
    """The lessons that went stale or to the archive tonight, by file."""
    return tuple(
        Listing(name=name, items=first([line(file, 200) for file in files], limits.lines))
        for name, files in _shelved(report)
    )


def scored(report: RunReport) -> Scored | None:
    """The scoreboard; None before anything is decided."""
    board = report.learned.scoreboard
    if board is None or not board.found.decided:
        return None
    return Scored(table=reliability(board), sentences=sentences(board))


def backtested(test: Backtest) -> str:
    """What a rule would have hidden.

    >>> backtested(Backtest(nights=14, groups=3, occurrences=412, fixed_later=1, users=12))
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


def figures(watch: FixWatch) -> str:
    """How often the error was seen before its fix and since.

    >>> from datetime import UTC, datetime
    >>> before, after = OccurrenceCount(occurrences=12, hours=48), OccurrenceCount(hours=120)
    >>> figures(FixWatch(number=1, merged_at=datetime.now(UTC), before=before, after=after))
    '12 in 48 h before, 0 in 120 h after'
    """
    return f"{_counted(watch.before)} before, {_counted(watch.after)} after"


def _counted(count: OccurrenceCount) -> str:
    return f"{count.occurrences:,} in {count.hours:,.0f} h"


def _pattern(pattern: Pattern) -> Line:
    because = f"because {'; '.join(pattern.because[:5])}" if pattern.because else ""
    since = f" since {min(pattern.nights)}" if len(pattern.nights) > 1 else ""
    nights = f"seen on {plural(len(pattern.nights), 'night')}{since}" if pattern.nights else ""
    return Line(
        head=line(pattern.title, 160),
        text=line(pattern.description, 600),
        small=line(pattern.suggestion, 300),
        more=tuple(filter(None, (line(because, 500), nights))),
    )


def _suggestion(number: int, suggestion: IgnoreSuggestion) -> Line:
    field = "" if suggestion.field == "any" else f" in {suggestion.field.replace('_', ' ')}"
    ends = f"holds until {suggestion.expires}" if suggestion.expires else "never expires"
    rate = suggestion.unless_rate_above
    wire = f", and not above {rate:,g} a day" if rate is not None else ", whatever the rate"
    return Line(
        head=line(f"{number}. {suggestion.match}: {suggestion.pattern}", 200) + field,
        text=line(suggestion.reason, 400),
        small=backtested(suggestion.backtest),
        more=tuple(
            filter(
                None,
                (
                    line(suggestion.evidence, 300),
                    f"{ends}{wire}",
                    f"accept: nightwatch ignore accept {number}",
                ),
            )
        ),
    )


def _news(each: OutcomeUpdate, fate: OutcomeEvent, addresses: dict[tuple[str, int], str]) -> Line:
    number = f" #{fate.number}" if fate.number is not None else ""
    counted = figures(each.watch) if each.watch and fate.kind in VERDICTS else ""
    because = line(fate.because or counted, 300)
    words = tuple(line(f"“{word}”", 300) for word in fate.words[:3] if word.strip())
    return Line(
        head=f"{fate.kind}: {NAMES[_item(fate)]}{number}",
        text=line(each.title or each.fingerprint, 200),
        small=because or line(" / ".join(words), 300),
        more=words if because else (),
        address=line(addresses.get((_item(fate), fate.number or 0), ""), 500),
    )


def _measured(each: OutcomeUpdate, watch: FixWatch) -> Line:
    waiting = "merged, not yet in production as far as we can tell"
    return Line(
        head=f"being measured: pull request #{watch.number}",
        text=line(each.title or each.fingerprint, 200),
        small=figures(watch) if watch.deployed_at else waiting,
    )


def _item(fate: OutcomeEvent) -> str:
    return "issue" if fate.kind in ON_ISSUES else "pull"


def _outcome(item: OwnItem) -> Line:
    why = f" ({item.state_reason.replace('_', ' ')})" if item.state_reason else ""
    return Line(
        head=line(f"{NAMES[item.kind]} #{item.number} {item.state}{why}", 120),
        text=line(item.title, 200),
        small=line(" / ".join(item.words[:3]), 300),
        address=line(item.url, 500),
    )


def _kept(report: RunReport) -> str:
    if report.options.dry_run:
        return ""
    told = report.learned
    counts = ((told.new, "new"), (told.refreshed, "refreshed"), (told.reused, "reused"))
    if said := ", ".join(f"{count:,} {what}" for count, what in counts if count):
        return f"Lessons: {said}."
    return f"{plural(len(told.lessons), 'lesson')} kept." if told.lessons else ""


def _shelved(report: RunReport) -> Iterable[tuple[str, tuple[str, ...]]]:
    stale, archived = report.learned.stale, report.learned.archived
    if stale:
        fit = "no longer fits" if len(stale) == 1 else "no longer fit"
        yield f"{plural(len(stale), 'lesson')} {fit} the code", stale
    if archived:
        yield f"{plural(len(archived), 'lesson')} moved to the archive", archived
