"""Errors of an imaginary production: noise, noise that becomes a bug, outages, rare bugs, attacks.

This knows nothing of how suggestions are made, and they know nothing of it.
"""

import math
import random
from dataclasses import dataclass
from enum import Enum

from nightwatch_core.models.errors import ErrorGroup
from nightwatch_core.text.fingerprints import fingerprint

NIGHTS = 60
CLASSES = tuple(
    f"{area}::{name}" for area in ("Net", "Shop", "Mail") for name in ("A", "B", "C", "D")
)
WORDS = (
    *("gateway", "refused", "cache", "socket", "upstream", "parser", "session", "broker"),
    *("lookup", "worker", "tenant", "basket", "address", "invoice", "carrier", "widget"),
    *("printer", "payload", "schedule", "voucher", "mirror", "courier", "ledger", "badge"),
)


class Sort(Enum):
    """What an error is."""

    NOISE = "noise"  # comes and goes, and nobody can do anything about it
    TURNS = "noise that becomes a bug"
    OUTAGE = "outage"  # of somebody else's service, now and then
    RARE = "rare bug"  # understood after a while, and fixed
    ATTACK = "attack"  # noise, until somebody makes much of it
    BUG = "bug"  # understood and fixed soon


@dataclass(frozen=True)
class Fault:
    """An error and its whole life; nights count from 0."""

    name: str
    sort: Sort
    error_class: str
    message: str
    transaction: str
    rate: float  # occurrences a night
    share: float  # of nights on which it comes
    turns_on: int | None  # the bug begins, the attack comes, the cause is found
    fixed_on: int | None  # a fix is merged, and the error gone
    growth: float  # of the rate, after it turned
    seed: int

    @property
    def plain(self) -> ErrorGroup:
        """One sighting."""
        return self._group(self.transaction, 1, random.Random(self.seed))

    @property
    def tags(self) -> tuple[str, ...]:
        """What an analyst says of it."""
        return ("transient",) if self.sort is Sort.OUTAGE else ("unclear",)

    def groups(self, day: int) -> tuple[ErrorGroup, ...]:
        """What is seen of it on a night."""
        if self.fixed_on is not None and day >= self.fixed_on:
            return ()
        chance = random.Random(self.seed * 1_000 + day)
        turned = self.turns_on is not None and day >= self.turns_on
        attacked = self.sort is Sort.ATTACK and turned and day < (self.turns_on or 0) + 3
        if chance.random() > self.share and not attacked:
            return ()
        grows = attacked or (turned and self.sort is Sort.TURNS)
        count = poisson(chance, self.rate * (self.growth if grows else 1))
        if not attacked:
            return (self._group(self.transaction, count, chance),) if count else ()
        places = [f"{self.transaction}/{at}x" for at in range(8)]
        return tuple(self._group(place, max(1, count // 8), chance) for place in places)

    def confidence(self, day: int) -> str:
        """How sure an analyst is of its cause."""
        chance = random.Random(self.seed * 7_000 + day)
        if self.sort is Sort.OUTAGE:
            return chance.choice(("medium", "medium", "low"))
        knows = self.sort is Sort.BUG or (
            self.sort in (Sort.RARE, Sort.TURNS) and day >= (self.turns_on or 0)
        )
        if knows:
            return chance.choice(("high", "high", "medium", "low"))
        return "low" if chance.random() < 0.97 else "medium"

    def is_bug(self, day: int) -> bool:
        """Whether there is something to fix."""
        begins = 0 if self.sort in (Sort.BUG, Sort.RARE) else self.turns_on
        return self.fixed_on is not None and begins is not None and day >= begins

    def merged(self, day: int) -> bool:
        """Whether its fix was merged by then."""
        return self.fixed_on is not None and day >= self.fixed_on - 1

    def _group(self, transaction: str, count: int, chance: random.Random) -> ErrorGroup:
        message = self.message.replace("#", str(chance.randrange(10_000, 99_999)))
        busy = sorted(chance.sample(range(20), 3))  # quiet in the last hours
        hourly = tuple(int(hour in busy) for hour in range(24))
        return ErrorGroup(
            fingerprint=fingerprint("shop", self.error_class, transaction, message),
            source="simulated",
            error_class=self.error_class,
            transaction=transaction,
            message=message,
            occurrences=count,
            users=min(count, 3),
            hourly=hourly if self.sort is Sort.OUTAGE else (),
        )


def faults(seed: int) -> tuple[Fault, ...]:
    """The errors of one world: about 40, a third of them noise."""
    chance = random.Random(seed)
    numbers = {
        Sort.NOISE: 14,
        Sort.TURNS: 5,
        Sort.OUTAGE: 6,
        Sort.RARE: 6,
        Sort.ATTACK: 4,
        Sort.BUG: 8,
    }
    sorts = [sort for sort, count in numbers.items() for _ in range(count)]
    return tuple(_fault(f"{sort.value} {at}", sort, chance) for at, sort in enumerate(sorts))


def _fault(name: str, sort: Sort, chance: random.Random) -> Fault:
    words = " ".join(chance.sample(WORDS, 4))
    tail = chance.choice(("", " for #", " after # ms"))
    message = words + tail if chance.random() < 0.85 else f"#: {chance.choice(WORDS)}"
    turns = chance.randrange(5, NIGHTS - 15) if sort not in (Sort.NOISE, Sort.OUTAGE) else None
    wait = chance.randrange(4, 12)
    fixed = turns + wait if turns is not None and sort is not Sort.ATTACK else None
    low, high = {Sort.RARE: (0.3, 2.0), Sort.OUTAGE: (5, 300)}.get(sort, (1.0, 120.0))
    return Fault(
        name=name,
        sort=sort,
        error_class=chance.choice(CLASSES),
        message=message,
        transaction=f"{chance.choice(WORDS)}/{chance.choice(WORDS)}",
        rate=math.exp(chance.uniform(math.log(low), math.log(high))),
        share=chance.uniform(0.2, 0.4) if sort is Sort.OUTAGE else chance.uniform(0.5, 1.0),
        turns_on=turns,
        fixed_on=fixed,
        growth=chance.choice((20.0, 50.0, 100.0))
        if sort is Sort.ATTACK
        else chance.choice((1, 3, 10, 30)),
        seed=chance.randrange(10**9),
    )


def poisson(chance: random.Random, mean: float) -> int:
    """A count around a mean, its rate itself varying by a third, as real ones do."""
    mean *= math.exp(chance.gauss(-0.05, 0.33))
    if mean > 50:
        return max(0, round(chance.gauss(mean, math.sqrt(mean))))
    limit, count, product = math.exp(-mean), 0, chance.random()
    while product > limit:
        count += 1
        product *= chance.random()
    return count
