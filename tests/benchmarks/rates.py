"""False alarms and power of the spike test on simulated counts that come in bursts.

`python tests/benchmarks/rates.py [draws]`. Counts are negative binomial: a night's rate is drawn
from a gamma distribution with the given spread (standard deviation over mean), its count from a
Poisson distribution around it. Earlier nights are those on which the error was seen, as in a
lesson; tonight is any night. A cell is a level, a spread and a number of earlier nights.
"""

import sys
from collections.abc import Iterator
from datetime import date, timedelta
from math import sqrt
from random import Random
from typing import NamedTuple

from nightwatch_core.memory.rates import is_spike
from nightwatch_core.models.knowledge import NightSeen, OccurrenceCount

LEVELS = (1, 3, 10, 30, 100, 300, 1000)  # occurrences a night
SPREADS = (0.0, 0.25, 0.5, 0.75, 1.0)
NIGHTS = (1, 2, 3, 5, 10, 30)
RISE = 10
FIRST = date(2031, 1, 1)
AIMS = "aims: false alarms below 1 % of nights; a ten-fold rise found in more than 95 %"


class Cell(NamedTuple):
    """What was simulated, and the shares of nights that were called a spike."""

    level: int
    spread: float
    nights: int
    false: float
    found: float


def main(draws: int) -> int:
    """Print all figures."""
    cells = list(measured(draws))
    print(f"{len(cells)} cells, {draws} nights each\n{AIMS}")
    print("\nfalse alarms in % (mean over levels, worst level):")
    table(cells, lambda some: f"{mean(some, 'false'):5.2f} {worst(some, 'false'):5.2f}")
    print(f"\n{RISE}-fold rise found in %, 10 a night and more (mean over levels, worst level):")
    many = [cell for cell in cells if cell.level >= 10]
    table(many, lambda some: f"{mean(some, 'found'):5.1f} {-worst(some, 'found', -1):5.1f}")
    print(f"\n{RISE}-fold rise found in %, 1 and 3 a night:")
    few = [cell for cell in cells if cell.level < 10]
    table(few, lambda some: f"{mean(some, 'found'):5.1f} {-worst(some, 'found', -1):5.1f}")
    return 0


def measured(draws: int) -> Iterator[Cell]:
    """Every cell, each with a seed of its own."""
    for number, (level, spread, nights) in enumerate(
        (level, spread, nights) for level in LEVELS for spread in SPREADS for nights in NIGHTS
    ):
        chance = Random(number)
        false = found = 0
        for _ in range(draws):
            earlier = tuple(night(day, seen(level, spread, chance)) for day in range(nights))
            false += bool(is_spike(earlier, tonight(count(level, spread, chance))))
            found += bool(is_spike(earlier, tonight(count(level * RISE, spread, chance))))
        yield Cell(level, spread, nights, 100 * false / draws, 100 * found / draws)


def count(level: float, spread: float, chance: Random) -> int:
    """Occurrences of one night; beyond 200 a rounded normal variable is near enough."""
    rate = chance.gammavariate(1 / spread**2, level * spread**2) if spread else float(level)
    if rate > 200:
        return max(0, round(chance.gauss(rate, sqrt(rate))))
    found, waited = -1, 0.0
    while waited < rate:
        found, waited = found + 1, waited + chance.expovariate(1.0)
    return max(0, found)


def seen(level: float, spread: float, chance: Random) -> int:
    """Occurrences of a night on which there were any."""
    while not (found := count(level, spread, chance)):
        pass
    return found


def night(day: int, occurrences: int) -> NightSeen:
    """An earlier night."""
    on = FIRST + timedelta(days=day)
    return NightSeen(date=on, night=str(day), occurrences=occurrences, verdict="known", hours=24)


def tonight(occurrences: int) -> OccurrenceCount:
    """The night that may be a spike."""
    return OccurrenceCount(occurrences=occurrences, hours=24, nights=1)


def table(cells, shown) -> None:  # type: ignore[no-untyped-def]
    """Spreads down, numbers of earlier nights across."""
    print("spread    " + "".join(f"{n:>4} nights   " for n in NIGHTS))
    for spread in SPREADS:
        rows = (
            [cell for cell in cells if cell.spread == spread and cell.nights == n] for n in NIGHTS
        )
        print(f"{spread:<8}" + "  ".join(f"{shown(row):>12}" for row in rows))


def mean(cells: list[Cell], name: str) -> float:
    """The mean of a figure over cells."""
    return sum(getattr(cell, name) for cell in cells) / len(cells)


def worst(cells: list[Cell], name: str, sign: int = 1) -> float:
    """The greatest of a figure times `sign`."""
    return max(sign * getattr(cell, name) for cell in cells)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000))
