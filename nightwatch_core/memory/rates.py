"""Compare rates of an error: before and after a fix, tonight and on earlier nights.

There is one test. Given how many occurrences there were in all, the later share of them is
beta-binomial: rates vary from night to night, so that large shares are more common than by chance
alone. Exposure is traffic where both sides know it, else hours.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta
from math import exp, inf, isfinite, lgamma
from typing import NamedTuple

from nightwatch_core.memory.occurrences import aware, hours_between, night_date, sighting
from nightwatch_core.memory.recall import names_of_case as names
from nightwatch_core.models.errors import Case, Window
from nightwatch_core.models.knowledge import Lesson, NightSeen, OccurrenceCount
from nightwatch_core.models.report import Change, ChangeKind, Night, NightRecord, RunReport

NIGHT = 24.0  # hours that a night looked at, where nobody wrote it down
SPREAD = 0.45**2  # variance over squared mean of one error's nightly rates, as is usual
SPIKE_RATIO = 2.0  # times the old rate at least
SPIKE_EXCESS = 5.0  # occurrences more than expected at least
ENDED = ("complete", "degraded")
_MOST_ADDED = 2_000  # outcomes; of more, so many in the same share are reckoned with
_LARGEST, _LEAST = 1e15, 1e-6  # counts, hours and transactions that can be reckoned with


class Test(NamedTuple):
    """When a rate is no longer the old one."""

    level: float  # chance at most of so many, were it the old one
    nights: float = 0.0  # that at least were looked at: files of an hour are of another day each


SPIKE = Test(0.005)
RISE = Test(0.05, 2.0)  # where a mistake costs a word or a look, and no lesson


class Chances(NamedTuple):
    """Chances of so few and of so many occurrences after, were the rate as assumed."""

    at_most: float = 1.0
    at_least: float = 1.0


def chances(
    before: OccurrenceCount, after: OccurrenceCount, ratio: float = 1.0, nights: float = 0.0
) -> Chances:
    """Return the chances of the later count, were its rate `ratio` times the one before.

    Both are 1 where nothing is known of the exposure.
    """
    old, new = _exposures(before, after)
    if not (old and new):
        return Chances()
    x, y = _count(before), _count(after)
    share = ratio * new / (ratio * new + old)
    nights = max((amount(before.hours) + amount(after.hours)) / NIGHT, nights) or 1.0
    a, b = share * nights / SPREAD, (1.0 - share) * nights / SPREAD
    if min(a, b) <= 0.0:
        return Chances()
    scale = min(1.0, _MOST_ADDED / max(x + y, 1.0))
    n, own = round((x + y) * scale), round(y * scale)

    def probability(k: int) -> float:
        ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
        return exp(ways + _rise(a, k) + _rise(b, n - k) - _rise(a + b, n))

    below, above = sum(map(probability, range(own))), sum(map(probability, range(own + 1, n + 1)))
    return Chances(min(1.0, below + probability(own)), min(1.0, probability(own) + above))


def _rise(a: float, n: int) -> float:
    return lgamma(a + n) - lgamma(a)


def expected(before: OccurrenceCount, after: OccurrenceCount) -> float:
    """Return the expected count at an unchanged rate; 0 where unknown.

    >>> expected(OccurrenceCount(occurrences=10, hours=48), OccurrenceCount(hours=24))
    5.0
    """
    old, new = _exposures(before, after)
    return _count(before) * new / old if old and new else 0.0


def rate_ratio(before: OccurrenceCount, after: OccurrenceCount) -> float | None:
    """Return the rate after over the rate before; None where it cannot be divided."""
    if usual := expected(before, after):
        return _count(after) / usual
    return inf if _count(after) and all(_exposures(before, after)) else None


def is_spike(earlier: Sequence[NightSeen], tonight: OccurrenceCount, test: Test = SPIKE) -> str:
    """Return the reason tonight is a spike against earlier nights; empty for none.

    >>> nights = tuple(NightSeen(date=f"2031-03-0{day}", night="", occurrences=12, verdict="known")
    ...                for day in (1, 2, 3))
    >>> is_spike(nights, OccurrenceCount(occurrences=120, hours=24))
    '120 in 24 h, after 36 in 72 h on 3 nights before: 10 times as often'
    >>> is_spike((), OccurrenceCount(occurrences=99)), is_spike(nights, OccurrenceCount(hours=24))
    ('', '')
    """
    nights = one_a_date(earlier)
    now = tonight if amount(tonight.hours) else tonight.model_copy(update={"hours": NIGHT})
    before = total(nights)
    usual, many = expected(before, now), _count(now)
    highest = max((night.occurrences / _hours(night) for night in nights), default=0.0)
    minimum = max(SPIKE_RATIO * usual, usual + SPIKE_EXCESS)
    if not usual or many < minimum or many <= highest * now.hours:  # once seen is no news
        return ""
    if chances(before, now, nights=test.nights).at_least >= test.level:
        return ""
    on = f"on {len(nights)} night{'' if len(nights) == 1 else 's'} before"
    return f"{count_text(now)}, after {count_text(before)} {on}: {many / usual:.2g} times as often"


def was_gone(earlier: Iterable[NightSeen], hours: float) -> bool:
    """Tell whether not being seen for so many hours is no chance, after these nights.

    >>> nights = tuple(NightSeen(date=f"2031-03-0{day}", night="", occurrences=12, verdict="known")
    ...                for day in (1, 2, 3))
    >>> was_gone(nights, hours=24), was_gone(nights, hours=1), was_gone((), hours=24)
    (True, False, False)
    """
    none = OccurrenceCount(occurrences=0, hours=hours)
    return chances(total(one_a_date(earlier)), none, nights=RISE.nights).at_most < RISE.level


def changes(report: RunReport, before: RunReport) -> tuple[Change, ...]:
    """List errors that are new, back, rising or gone since a night of the same sources.

    Empty where either night does not tell of every error of its window. Of a file that grows, what
    was last seen by the night before is gone, though the file still holds it.
    """
    ended, window = before.night.window.until, report.night.window
    if ended >= window.until or not (_is_whole(before) and _is_whole(report)):
        return ()
    known = {analysis.fingerprint for analysis in report.analyses if analysis.known_as}
    found, over = [], set[str]()
    for case in report.cases:
        earlier = [old for old in before.cases if names(old) & names(case)]
        if earlier and case.last_seen and aware(case.last_seen) < ended:
            over |= names(case)
            continue
        was = sum(old.occurrences for old in earlier)
        seen = [_seen(old, before).model_copy(update={"occurrences": was}) for old in earlier[:1]]
        kind: ChangeKind = "rising" if seen else "back" if case.fingerprint in known else "new"
        if not seen or is_spike(seen, total((_seen(case, report),)), RISE):
            told = {"kind": kind, "title": case.title, "fingerprint": case.fingerprint}
            found.append(Change.model_validate({**told, "before": was, "now": case.occurrences}))
    every = frozenset[str]().union(*map(names, report.cases)) - over
    since = window.until - max(window.since, ended)
    for old in before.cases:
        usual, none = (total((_seen(old, night),)) for night in (before, report))
        none = none.model_copy(update={"occurrences": 0})
        if over & names(old):
            if old.last_seen and ended - aware(old.last_seen) > since:
                continue  # said on an earlier night
            none = none.model_copy(update={"hours": since / timedelta(hours=1)})
        chance = chances(usual, none, nights=RISE.nights).at_most
        if every.isdisjoint(names(old)) and chance < RISE.level:
            name, was = old.fingerprint, old.occurrences
            found.append(Change(kind="gone", title=old.title, fingerprint=name, before=was))
    return tuple(found)


def _is_whole(report: RunReport) -> bool:
    reported = sum(len(case.groups) for case in report.cases)
    return report.read_whole and report.status in ENDED and reported >= report.errors


def _seen(case: Case, report: RunReport) -> NightSeen:
    return sighting(case, report.night, "", "", report.traffic)


def one_a_date(nights: Iterable[NightSeen]) -> tuple[NightSeen, ...]:
    """Keep one entry a date, oldest first: of several runs the one that looked at most."""
    longest_last = sorted(nights, key=lambda seen: (_hours(seen), seen.occurrences, seen.night))
    best = {seen.date: seen for seen in longest_last}
    return tuple(sorted(best.values(), key=lambda seen: seen.date))


def total(nights: Sequence[NightSeen]) -> OccurrenceCount:
    """Add up nights; traffic only where every night knows it."""
    flow = [amount(night.traffic or 0) for night in nights]
    return OccurrenceCount(
        occurrences=sum(max(0, night.occurrences) for night in nights),
        hours=sum(map(_hours, nights)),
        traffic=round(sum(flow)) if nights and all(flow) else None,
        nights=len(nights),
    )


def count_text(count: OccurrenceCount) -> str:
    """Write a count as people read it.

    >>> count_text(OccurrenceCount(occurrences=1200, hours=7.5, traffic=90000))
    '1,200 in 7.5 h and 90,000 transactions'
    """
    flow = f" and {count.traffic:,} transactions" if count.traffic else ""
    hours = f"{round(amount(count.hours), 1 if count.hours < 24 else None):,}".removesuffix(".0")
    return f"{count.occurrences:,} in {hours} h{flow}"


def amount(given: float) -> float:
    """Bound an amount of time or traffic; 0 for next to none, and for one that cannot be."""
    return min(float(given), _LARGEST) if given >= _LEAST and isfinite(given) else 0.0


def is_sound(window: Window) -> bool:
    """Tell whether a window names two moments in time, the later last: people edit what is kept."""
    aware_both = window.since.utcoffset() is not None and window.until.utcoffset() is not None
    return aware_both and window.since < window.until


def nights_read(
    lesson: Lesson, records: Iterable[NightRecord], night: Night, until: datetime
) -> tuple[NightSeen, ...]:
    """List earlier nights that had ended by `until`, one a date: the lesson's, and quiet ones.

    Quiet is a night of the same source that was read whole and did not see the error, from the
    first one on that did. A night without a record ended with the first minute of its date.
    """
    ends: dict[str, datetime] = {}
    whole: list[NightSeen] = []
    for record in records:
        if record.night is None or not is_sound(record.night.window):
            continue
        window, key = record.night.window, record.night.kind.key
        ends[record.id] = window.until
        if record.read_whole and record.status in ENDED and key and key == night.kind.key:
            quiet = NightSeen(
                date=night_date(record.night),
                night=record.id,
                occurrences=0,
                verdict="quiet",
                hours=hours_between(window.since, window.until),
                traffic=record.traffic,
            )
            whole.append(quiet)
    dates = [seen.date for seen in lesson.nights]
    quiet_nights = (item for item in whole if item.date not in dates and item.date > min(dates))
    every = (*lesson.nights, *quiet_nights) if dates else ()
    return one_a_date(
        seen
        for seen in every
        if seen.night != night.id
        and ends.get(seen.night, datetime.combine(seen.date, time.min, UTC)) <= aware(until)
    )


def _hours(night: NightSeen) -> float:
    return amount(night.hours) or NIGHT


def _count(count: OccurrenceCount) -> float:
    return float(min(max(count.occurrences, 0), int(_LARGEST)))


def _exposures(before: OccurrenceCount, after: OccurrenceCount) -> tuple[float, float]:
    flow = amount(before.traffic or 0), amount(after.traffic or 0)
    return flow if all(flow) else (amount(before.hours), amount(after.hours))
