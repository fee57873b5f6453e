"""Tails of the binomial and beta-binomial distributions; no library but `math`.

The binomial is continued to broken numbers by the incomplete beta function. Both are exact but for
rounding up to 2,000 (of the rarer outcome, of all); of more, 2,000 in the same share are reckoned
with, which is on the safe side: chance alone moves fewer further.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta
from math import exp, fabs, inf, isfinite, lgamma, log, log1p

from pydantic import ConfigDict

from nightwatch_core.memory.occurrences import aware, hours_between, night_date
from nightwatch_core.models.errors import Window
from nightwatch_core.models.knowledge import FixWatch, Lesson, NightSeen, OccurrenceCount
from nightwatch_core.models.report import Night, NightRecord
from nightwatch_core.models.value import Value

MOST_EXACT = 2_000.0  # outcomes
_TINY, _PRECISE, _STEPS = 1e-300, 1e-13, 20_000


def at_least(x: float, n: float, odds: float) -> float:
    """Give the chance of x or more successes in n tries, each with these odds (for to against).

    >>> round(at_least(2, 2, 1.0), 4), round(at_least(8, 10, 1.0), 4), at_least(0, 5, 0.1)
    (0.25, 0.0547, 1.0)
    """
    if x <= 0:
        return 1.0
    scale = min(1.0, MOST_EXACT / max(min(x, n - x), 1.0))
    x, n = x * scale, n * scale
    return _beta(x, max(n - x, 0.0) + 1.0, odds / (1.0 + odds), 1.0 / (1.0 + odds))


def at_most(x: float, n: float, odds: float) -> float:
    """Give the chance of x or fewer successes.

    >>> round(at_most(0, 2, 1.0), 6), at_most(5, 5, 0.1)
    (0.25, 1.0)
    """
    return at_least(n - x, n, 1.0 / odds) if odds > 0 else 1.0


def at_least_bursty(y: float, n: float, a: float, b: float) -> float:
    """Give the chance of y or more of n, each with a chance that itself is a beta variable (a, b).

    So do negative binomial counts share a total.

    >>> round(at_least_bursty(1, 2, 1.0, 1.0), 6), at_least_bursty(0, 9, 2.0, 3.0)
    (0.666667, 1.0)
    """
    if y <= 0 or a <= 0.0 or b <= 0.0:
        return 1.0
    scale = min(1.0, MOST_EXACT / n)
    y, n = round(y * scale), round(n * scale)
    ways = _rise(n - y, y + 1.0) - lgamma(n - y + 1.0)
    term = _exp(ways + _rise(y, a) + _rise(n - y, b) - _rise(n, a + b))
    total = 0.0
    for count in range(y, n + 1):
        total += term
        term *= (n - count) / (count + 1.0) * (a + count) / max(b + n - count - 1.0, _TINY)
    return min(1.0, total)


def _beta(a: float, b: float, x: float, y: float) -> float:
    """The regularised incomplete beta function of x = 1 - y: its smaller side is computed."""
    if x <= 0.0 or y <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    ends = _rise(min(a, b), max(a, b)) - lgamma(min(a, b))
    power = ends + a * _log(x, y) + b * _log(y, x)
    front = _exp(power)
    if x < (a + 1.0) / (a + b + 2.0):
        return min(1.0, front * _fraction(a, b, x) / a)
    return max(0.0, 1.0 - front * _fraction(b, a, y) / b)


def _rise(a: float, b: float) -> float:
    """The log gamma function of a + b less that of b; by Stirling where b is large."""
    if b < 1e4:
        return lgamma(a + b) - lgamma(b)
    return (b - 0.5) * log1p(a / b) + a * (log(a + b) - 1.0) + (1 / (a + b) - 1 / b) / 12.0


def _exp(power: float) -> float:
    return exp(power) if power > -745.0 else 0.0


def _log(x: float, rest: float) -> float:
    return log1p(-rest) if rest < 0.5 else log(x)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1.0 / _away(1.0 + term * d), _away(1.0 + term / c)
            value *= c * d
        if fabs(c * d - 1.0) < _PRECISE:
            break
    return value


def _away(number: float) -> float:
    return number if fabs(number) > _TINY else _TINY


# How often an error occurs, compared: before and after a fix, tonight and on earlier nights.

NIGHT = 24.0  # hours a night looked at, where nobody wrote it down
SIDE = 0.025  # what each bound of a ratio leaves out: 95 % lie between
USUAL_SPREAD = 0.45  # standard deviation over mean of one error's nightly rates, as is usual
PRIOR_NIGHTS = 4.0  # observed nights that weigh as much as the usual spread
SPIKE_LEVEL = 0.005  # chance at most of so many, were the rate the old one
SPIKE_RATIO = 2.0  # times the old rate at least
SPIKE_EXCESS = 5.0  # occurrences more than expected at least
MOST_EVEN = 1e6  # nights of so even a rate differ by chance alone
_LARGEST, _LEAST = 1e15, 1e-6  # counts, hours and transactions to reckon with
_FARTHEST, _HALVINGS = 80.0, 34  # log odds, found to a hundred-millionth


class Comparison(Value):
    """Two rates: their ratio with its 95 % bounds, and the chances that it is only chance.

    `p` is the chance of so many or more after, `p_fell` of so few or fewer, were the rates equal.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    ratio: float | None = None  # after / before; None where nothing can be divided
    low: float = 0.0
    high: float = inf
    p: float = 1.0
    p_fell: float = 1.0
    said: str = ""  # "12 in 48 h before, 0 in 120 h after"


def compare(before: OccurrenceCount, after: OccurrenceCount, dispersion: float = 1.0) -> Comparison:
    """Test whether two Poisson rates are one, given how many there were in all (conditional test).

    Exposure is traffic where both know it, else hours; without exposure nothing is known. Errors
    come in bursts: counts are divided by `dispersion`, their variance over their mean (quasi-
    Poisson), and the binomial is continued to broken numbers by the beta function. Bounds are
    Clopper and Pearson's. See binomial.py for what is exact.

    >>> seen = compare(OccurrenceCount(occurrences=12, hours=48), OccurrenceCount(hours=120))
    >>> seen.said, seen.ratio, round(seen.p_fell, 8), round(seen.high, 3)
    ('12 in 48 h before, 0 in 120 h after', 0.0, 3e-07, 0.144)
    """
    by = dispersion if dispersion > 1.0 else 1.0
    sizes = bounded_count(before.occurrences) / by, bounded_count(after.occurrences) / by
    old, new, (x, y) = *_exposures(before, after), sizes
    said = f"{count_text(before)} before, {count_text(after)} after"
    if not (old and new):
        return Comparison(said=said)
    offset = log(new) - log(old)
    total, odds = x + y, exp(min(max(offset, -700.0), 700.0))
    return Comparison(
        ratio=_ratio(before, after, odds),
        low=_bound(total, y, rising=True, offset=offset),
        high=_bound(total, y, rising=False, offset=offset),
        p=at_least(y, total, odds),
        p_fell=at_most(y, total, odds),
        said=said,
    )


def expected(before: OccurrenceCount, after: OccurrenceCount) -> float:
    """Return the expected count at an unchanged rate; 0 where unknown.

    >>> expected(OccurrenceCount(occurrences=10, hours=48), OccurrenceCount(hours=24))
    5.0
    """
    old, new = _exposures(before, after)
    return before.occurrences * new / old if old and new and before.occurrences > 0 else 0.0


def dispersion(
    nights: Sequence[NightSeen],
    quiet: float = 0.0,
    later: Sequence[NightSeen] = (),
    quiet_later: float = 0.0,
) -> float:
    """Variance over mean of an error's nightly counts, at least 1: how much it comes in bursts.

    Pearson's estimate over the nights, `quiet` hours without it counted as empty nights of 24 h.
    A few nights rarely show a burst, so it is mixed with a prior that weighs as much as 4 nights:
    a rate that varies from night to night by 0.45 of its size, which is 1 + mean / 5. The prior
    grows with the mean: chance alone hardly moves 500 a night, but releases and customers do.
    Nights after a fix (`later`) vary around their own rate, and weigh by it: silence tells nothing.

    >>> day = NightSeen(date="2031-03-01", night="", occurrences=80, verdict="new")
    >>> even = [day.model_copy(update={"date": f"2031-03-0{number}"}) for number in (3, 4, 5)]
    >>> round(dispersion((day,)), 3), round(dispersion((day,), 0.0, even), 3), dispersion(())
    (17.2, 11.467, 1.0)
    """
    sides = _nightly(nights, quiet), _nightly(later, quiet_later)
    if not (mean := _mean(sides[0])):
        return 1.0
    excess, weight = PRIOR_NIGHTS * USUAL_SPREAD**2 * mean, PRIOR_NIGHTS * mean
    for side in filter(_mean, sides):
        rate = sum(count for count, _ in side) / sum(hours for _, hours in side)
        scatter = sum((count - rate * hours) ** 2 / (rate * hours) for count, hours in side)
        excess += scatter - (len(side) - 1)
        weight += _mean(side) * (len(side) - 1)
    return max(1.0, 1.0 + mean * excess / weight)


def spread(nights: Sequence[NightSeen], quiet: float = 0.0) -> float:
    """The square of the standard deviation over mean of an error's nightly rates, without chance.

    `dispersion` for any level: at `mean` occurrences a night it is 1 + spread * mean.

    >>> round(spread((NightSeen(date="2031-03-01", night="", occurrences=80, verdict="new"),)), 4)
    0.2025
    """
    hours = sum(map(_hours, one_a_date(nights))) + max(quiet, 0.0)
    mean = total(one_a_date(nights)).occurrences / hours * NIGHT if nights else 0.0
    return (dispersion(nights, quiet) - 1.0) / mean if mean else 0.0


def rose(before: OccurrenceCount, after: OccurrenceCount, spread: float) -> float:
    """Chance of so many after, or more, had nothing changed (one-sided, given the sum of both).

    Unlike that of `compare` it fits single nights: where rates vary from night to night as a gamma
    variable, a night's share of a total is beta-binomial, and large shares are more common.
    """
    old, new = _exposures(before, after)
    if not (old and new):
        return 1.0
    x, y = (int(bounded_count(count.occurrences)) for count in (before, after))
    nights = (amount(before.hours) + amount(after.hours)) / NIGHT
    if spread * MOST_EVEN < 1.0 or not nights:
        return at_least(y, x + y, new / old)
    both = nights / spread
    return at_least_bursty(y, x + y, both * new / (old + new), both * old / (old + new))


def is_spike(earlier: Sequence[NightSeen], tonight: OccurrenceCount) -> str:
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
    usual, many = expected(before, now), bounded_count(now.occurrences)
    highest = max((night.occurrences / _hours(night) for night in nights), default=0.0)
    minimum = max(SPIKE_RATIO * usual, usual + SPIKE_EXCESS)
    if not usual or many < minimum or many <= highest * now.hours:  # once seen is no news
        return ""
    if rose(before, now, spread(nights)) >= SPIKE_LEVEL:
        return ""
    on = f"on {len(nights)} night{'' if len(nights) == 1 else 's'} before"
    return f"{count_text(now)}, after {count_text(before)} {on}: {many / usual:.2g} times as often"


def one_a_date(nights: Iterable[NightSeen]) -> tuple[NightSeen, ...]:
    """One entry a date, oldest first: of several runs the one that looked at most."""
    best: dict[object, NightSeen] = {}
    for night in sorted(nights, key=lambda night: (_hours(night), night.occurrences, night.night)):
        best[night.date] = night
    return tuple(sorted(best.values(), key=lambda item: item.date))


def total(nights: Sequence[NightSeen]) -> OccurrenceCount:
    """Return the nights' totals; traffic only where every night knows it."""
    flow = [amount(night.traffic or 0) for night in nights]
    return OccurrenceCount(
        occurrences=sum(max(0, night.occurrences) for night in nights),
        hours=sum(map(_hours, nights)),
        traffic=round(sum(flow)) if nights and all(flow) else None,
        nights=len(nights),
    )


def count_text(count: OccurrenceCount) -> str:
    """A count as people read it.

    >>> count_text(OccurrenceCount(occurrences=1200, hours=7.5, traffic=90000))
    '1,200 in 7.5 h and 90,000 transactions'
    """
    flow = f" and {count.traffic:,} transactions" if count.traffic else ""
    hours = f"{round(amount(count.hours), 1 if count.hours < 24 else None):,}".removesuffix(".0")
    return f"{count.occurrences:,} in {hours} h{flow}"


def amount(amount: float) -> float:
    """An amount of time or traffic; 0 for next to none, and for one that cannot be."""
    return min(float(amount), _LARGEST) if amount >= _LEAST and isfinite(amount) else 0.0


def bounded_count(count: int) -> float:
    """A count as a number to reckon with: never negative, never without end."""
    return float(min(max(count, 0), int(_LARGEST)))


def _nightly(nights: Sequence[NightSeen], quiet: float) -> list[tuple[float, float]]:
    """Occurrences and hours of each night, empty ones too."""
    seen = [(bounded_count(night.occurrences), _hours(night)) for night in one_a_date(nights)]
    return seen + [(0.0, NIGHT)] * round(min(max(quiet, 0.0), 24_000.0) / NIGHT)


def _mean(side: Sequence[tuple[float, float]]) -> float:
    return sum(count for count, _ in side) / len(side) if side else 0.0


def _hours(night: NightSeen) -> float:
    return amount(night.hours) or NIGHT


def _exposures(before: OccurrenceCount, after: OccurrenceCount) -> tuple[float, float]:
    flow = amount(before.traffic or 0), amount(after.traffic or 0)
    return flow if all(flow) else (amount(before.hours), amount(after.hours))


def _ratio(before: OccurrenceCount, after: OccurrenceCount, odds: float) -> float | None:
    x, y = bounded_count(before.occurrences), bounded_count(after.occurrences)
    return y / x / odds if x else inf if y else None


def _bound(total: float, y: float, *, rising: bool, offset: float) -> float:
    """The least (rising) or greatest ratio that the counts allow, found by halving log odds."""
    if (y <= 0.0) if rising else (y >= total):
        return 0.0 if rising else inf
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        odds = exp(middle)
        beyond = at_least(y, total, odds) > SIDE if rising else at_most(y, total, odds) < SIDE
        low, high = (low, middle) if beyond else (middle, high)
    return exp(min(max((low + high) / 2 - offset, -700.0), 700.0))


# For how long production was looked at, and how often an error came in that time.

ENDED = ("complete", "degraded")


class Stretch(Value):
    """A stretch of time that one night looked at."""

    night: str
    window: Window
    traffic: int | None = None  # the application's transactions in it; None: not known


def looked_at(
    records: Iterable[NightRecord], key: str, since: datetime, until: datetime
) -> OccurrenceCount:
    """Count how much of [since, until) nights of this source key have read, each hour once.

    Traffic is known where every counted night knows its own, and taken in proportion where only a
    part of its window counts. `nights` are those that added something. Records that are torn,
    naive or empty, nights that failed or read only a part, and the empty key count for nothing.
    """
    return covered(stretches(records, key), since, until)


def stretches(records: Iterable[NightRecord], key: str) -> tuple[Stretch, ...]:
    """List what nights of this source key have read whole, in the order of the records."""
    whole = (record for record in records if record.read_whole and record.status in ENDED)
    return tuple(
        Stretch(night=item.id, window=item.night.window, traffic=item.traffic)
        for item in whole
        if item.night and key and item.night.kind.key == key and is_sound(item.night.window)
    )


def covered(looked: Iterable[Stretch], since: datetime, until: datetime) -> OccurrenceCount:
    """Add up hours and traffic that stretches cover between two moments, each hour once."""
    end = begin = aware(since)
    hours, flow, nights = 0.0, 0.0, set()
    is_known = True
    for stretch in sorted(looked, key=lambda stretch: (stretch.window.since, stretch.night)):
        begin = max(stretch.window.since, end)
        stop = min(stretch.window.until, aware(until))
        if begin >= stop:
            continue
        part, whole = (
            hours_between(begin, stop),
            hours_between(stretch.window.since, stretch.window.until),
        )
        is_known = is_known and stretch.traffic is not None and stretch.traffic >= 0
        flow += (stretch.traffic or 0) * part / whole
        hours, end = hours + part, stop
        nights.add(stretch.night)
    traffic = round(flow) if is_known and nights else None
    return OccurrenceCount(hours=hours, traffic=traffic, nights=len(nights))


def is_sound(window: Window) -> bool:
    """Tell whether a window names two moments in time, the later one last: people edit what is
    kept.
    """
    aware_both = window.since.utcoffset() is not None and window.until.utcoffset() is not None
    return aware_both and window.since < window.until


def before_fix(
    lesson: Lesson,
    merged_at: datetime,
    records: Iterable[NightRecord],
    night: Night,
    since: datetime | None = None,
) -> OccurrenceCount:
    """Count occurrences of the nights before the merge, over the time looked at since then.

    That time runs from the first of those nights (after `since`, the deploy of an earlier fix, if
    there are any) and counts quiet nights too. A night that no record tells of has its own hours,
    or 24, up to the first minute of its date. Where windows overlap, occurrences are cut alike.
    """
    kept = tuple(records)
    windows = {
        item.id: item.night.window for item in kept if item.night and is_sound(item.night.window)
    }
    seen = [
        (seen, _stretch(seen, windows.get(seen.night)))
        for seen in one_a_date(lesson.nights)
        if seen.night != night.id
    ]
    seen = [pair for pair in seen if pair[1].window.until <= aware(merged_at)]
    later = [pair for pair in seen if since is not None and pair[1].window.until > aware(since)]
    return _over(later or seen, lesson, kept, night, aware(merged_at))


def bursts(
    lesson: Lesson,
    watch: FixWatch,
    records: Iterable[NightRecord],
    night: Night,
    counted: OccurrenceCount,
) -> tuple[float, float]:
    """Estimate dispersion on both sides of an error's fix, and its spread before (see rates.py).

    A night counts as one before the fix where it had ended when that was merged, and as one after
    it where its window began after the deploy; `counted` is what
    `night`, tonight, added. Where the nights before are no longer kept, one of the usual size
    stands for them.
    """
    kept = tuple(records)
    later, quiet_later = _since_deploy(lesson, watch, kept, night, counted)
    windows = {item.id: item.night.window for item in kept if item.night}
    merged, after = aware(watch.merged_at), {item.night for item in later}
    nights = tuple(
        night
        for night in lesson.nights
        if night.night not in after
        and _stretch(night, _sound(windows.get(night.night))).window.until <= merged
    )
    quiet = max(0.0, watch.before.hours - sum(amount(night.hours) or NIGHT for night in nights))
    if not nights:
        many = watch.before.occurrences * NIGHT / max(amount(watch.before.hours), 1.0)
        nights = (NightSeen(date=merged.date(), night="", occurrences=round(many), verdict=""),)
        quiet = 0.0
    return dispersion(nights, quiet, later, quiet_later), spread(nights, quiet)


def _since_deploy(
    lesson: Lesson,
    watch: FixWatch,
    records: Iterable[NightRecord],
    night: Night,
    counted: OccurrenceCount,
) -> tuple[tuple[NightSeen, ...], float]:
    """The nights of the error that began after the deploy, tonight last, and the quiet hours.

    None once there is a verdict: what overturns it is a new rate, which is not a burst of the old.
    """
    if watch.deployed_at is None or watch.verdict:
        return (), 0.0
    deployed = aware(watch.deployed_at)
    others = one_a_date(item for item in lesson.nights if item.night != night.id)
    windows = {record.id: record.night.window for record in records if record.night}
    looked = [(other, _stretch(other, _sound(windows.get(other.night))).window) for other in others]
    after = [(item, window) for item, window in looked if window.until > deployed]
    hours = sum(hours_between(max(window.since, deployed), window.until) for _, window in after)
    nights = tuple(item for item, window in after if window.since >= deployed)
    if counted.occurrences and counted.hours > 0:
        seen = NightSeen(
            date=night_date(night),
            night=night.id,
            occurrences=counted.occurrences,
            hours=counted.hours,
            verdict="",
        )
        nights, hours = (*nights, seen), hours + counted.hours
    return nights, max(0.0, watch.after.hours - hours)


def _sound(window: Window | None) -> Window | None:
    return window if window and is_sound(window) else None


def _over(
    seen: list[tuple[NightSeen, Stretch]],
    lesson: Lesson,
    records: tuple[NightRecord, ...],
    night: Night,
    until: datetime,
) -> OccurrenceCount:
    if not seen:
        return OccurrenceCount()
    nights = {night.night for night in lesson.nights}
    others = (
        stretch for stretch in stretches(records, night.kind.key) if stretch.night not in nights
    )
    quiet = [other for other in others if other.window.until <= until]
    begin = min(stretch.window.since for _, stretch in seen)
    own = [stretch for _, stretch in seen]
    lengths = sum((item.window.until - item.window.since).total_seconds() for item in own) / 3_600
    share = covered(own, begin, until).hours / lengths
    occurrences = sum(bounded_count(item.occurrences) for item, _ in seen) * share
    looked = covered((*own, *quiet), begin, until)
    return looked.model_copy(update={"occurrences": round(occurrences)})


def _stretch(seen: NightSeen, window: Window | None) -> Stretch:
    if window is None:
        until = datetime.combine(seen.date, time.min, UTC)
        hours = min(amount(seen.hours) or NIGHT, 24_000.0)
        try:
            window = Window(since=until - timedelta(hours=hours), until=until)
        except OverflowError:  # a date before all dates
            window = Window(since=until, until=until + timedelta(hours=NIGHT))
    return Stretch(night=seen.night, window=window, traffic=seen.traffic)
