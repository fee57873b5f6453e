"""How often an error occurs, compared: before and after a fix, tonight and on earlier nights."""

from collections.abc import Iterable, Sequence
from math import exp, inf, isfinite, log

from pydantic import ConfigDict

from nightwatch_core.memory.outcomes.binomial import at_least, at_least_bursty, at_most
from nightwatch_core.models.knowledge import NightSeen
from nightwatch_core.models.outcome import OccurrenceCount
from nightwatch_core.models.value import Value

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
    old, new, (x, y) = *_exposures(before, after), _sizes(before, after, dispersion)
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
    """How many there were after, had the rate stayed the same; 0 where nothing is known.

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
        excess += _scatter(side) - (len(side) - 1)
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
    """Why tonight is a spike against the nights the error was seen on before, or nothing.

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
    for night in sorted(nights, key=lambda one: (_hours(one), one.occurrences, one.night)):
        best[night.date] = night
    return tuple(sorted(best.values(), key=lambda one: one.date))


def total(nights: Sequence[NightSeen]) -> OccurrenceCount:
    """What nights saw, added up; traffic only where every one of them knows it."""
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


def _scatter(side: Sequence[tuple[float, float]]) -> float:
    """Pearson's sum of squares around the side's own rate, which must not be 0."""
    rate = sum(count for count, _ in side) / sum(hours for _, hours in side)
    return sum((count - rate * hours) ** 2 / (rate * hours) for count, hours in side)


def _hours(night: NightSeen) -> float:
    return amount(night.hours) or NIGHT


def _exposures(before: OccurrenceCount, after: OccurrenceCount) -> tuple[float, float]:
    flow = amount(before.traffic or 0), amount(after.traffic or 0)
    return flow if all(flow) else (amount(before.hours), amount(after.hours))


def _sizes(
    before: OccurrenceCount, after: OccurrenceCount, dispersion: float
) -> tuple[float, float]:
    by = dispersion if dispersion > 1.0 else 1.0
    return bounded_count(before.occurrences) / by, bounded_count(after.occurrences) / by


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
