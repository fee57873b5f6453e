"""Ignore suggestions on simulated histories: what they hide, and how soon they let go.

`python tests/benchmarks/ignores.py [first seed] [worlds]`. In each world 60 nights pass, and a
person accepts every suggestion at once. Beside ours stands the plain rule: an error that stays
unexplained on three nights is ignored by its class, for ever.

Seeds 0 to 39 are for tuning; the figures to tell are those of the seeds from 1000 on.
"""

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from statistics import median

from nightwatch_core.intake.ignore_rules import expired, ignored_by, matches, rules_in_force
from nightwatch_core.models.errors import ErrorGroup, Window
from nightwatch_core.models.knowledge import (
    IgnoreRule,
    IgnoreRules,
    Lesson,
    NightSeen,
    OutcomeEvent,
)
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.patterns.ignore_suggestions import advise, as_group, rule_from
from nightwatch_core.patterns.nights import NIGHTS_BACK, NightGroups
from nightwatch_core.text.fingerprints import fingerprint
from tests.benchmarks.ignores_by_rules import by_rules

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


FIRST = datetime(2031, 1, 1, 4, tzinfo=UTC)
HELD_OUT, WORLDS = 1_000, 60
Advice = Callable[[RunReport, tuple[Lesson, ...], IgnoreRules, list[NightGroups]], list[IgnoreRule]]


@dataclass
class Counts:
    """What happened in all worlds."""

    suggested: int = 0
    known_harm: int = 0  # rules over an error with a fix, merged or not, that we knew of
    later_harm: int = 0  # over one that turned out to be a bug, and was fixed
    noise: int = 0  # noise seen on three nights or more
    noise_found: int = 0
    waits: list[int] = field(default_factory=list)  # nights from the third sighting to its rule
    spikes: int = 0  # first nights of attacks on an error that a rule covers
    rearmed: int = 0  # thereof: the rule did not hold that very night
    held: int = 0  # nights on which rules over noise alone were needed
    tripped: int = 0  # thereof: it did not hold, for nothing
    hidden: list[int] = field(default_factory=list)  # nights a bug was hidden by a rule
    sorts: Counter[str] = field(default_factory=Counter)


def main(first: int, worlds: int) -> int:
    """Print the figures of both."""
    for name, advice in (("ours", ours), ("plain", plain)):
        counts = Counts()
        for seed in range(first, first + worlds):
            live(faults(seed), advice, counts)
        print(f"{name}, {worlds} worlds of {NIGHTS} nights from seed {first}:")
        print(*told(counts), sep="\n")
    print(*by_rules(first, worlds), sep="\n")
    return 0


def ours(
    report: RunReport, lessons: tuple[Lesson, ...], rules: IgnoreRules, nights: list[NightGroups]
) -> list[IgnoreRule]:
    """What is suggested."""
    return [rule_from(rule) for rule in advise(report, lessons, rules, nights).suggestions]


def plain(
    report: RunReport, lessons: tuple[Lesson, ...], rules: IgnoreRules, nights: list[NightGroups]
) -> list[IgnoreRule]:
    """The class of every error that stays unexplained on three nights."""
    names = {
        lesson.error_class
        for lesson in lessons
        if not lesson.has_fix
        and len(lesson.nights) >= 3
        and all(seen.confidence == "low" for seen in lesson.nights)
    }
    there = {rule.pattern for rule in rules.rules}
    return [
        IgnoreRule(pattern=name, match="exact", field="error_class")
        for name in sorted(names - there)
    ]


def live(world: tuple[Fault, ...], advice: Advice, counts: Counts) -> None:
    """Let the nights pass."""
    rules: list[IgnoreRule] = []
    lessons: dict[str, Lesson] = {}
    nights: list[NightGroups] = []
    third: dict[str, int] = {}
    found: dict[str, int] = {}
    hidden: Counter[str] = Counter()
    for day in range(NIGHTS):
        window = window_of(day)
        shown = {fault.name: fault.groups(day) for fault in world}
        groups = [group for each in shown.values() for group in each]
        now = [rule for rule in rules if not expired(rule, window.until.date())]
        kept = rules_in_force(IgnoreRules(rules=tuple(now)), groups, window)[0].rules
        for fault in world:
            if not shown[fault.name]:
                continue
            seen = [group for group in shown[fault.name] if not ignored_by(kept, group)]
            weigh(fault, day, shown[fault.name], now, bool(seen), counts, hidden)
            for group in seen:
                remember(fault, day, group, window, lessons)
            if seen and len(lessons[seen[0].fingerprint].nights) == 3:
                third.setdefault(fault.name, day)
            learn_of_merge(fault, day, shown[fault.name], window, lessons)
        nights = [NightGroups(window=window, groups=tuple(groups)), *nights][:NIGHTS_BACK]
        report = report_of(day, window)
        for rule in advice(
            report, tuple(lessons.values()), IgnoreRules(rules=tuple(rules)), nights
        ):
            rules.append(rule)
            judge(rule, world, lessons, counts)
            for fault in world:
                if matches(rule, fault.plain):
                    found.setdefault(fault.name, day)
    count_noise(world, third, found, counts)
    counts.hidden += [hidden[fault.name] for fault in world if fault.fixed_on is not None]


def weigh(
    fault: Fault,
    day: int,
    groups: tuple[ErrorGroup, ...],
    rules: list[IgnoreRule],
    was_seen: bool,
    counts: Counts,
    hidden: Counter[str],
) -> None:
    """Count what rules did for or against one error of a night."""
    if not any(ignored_by(rules, group) for group in groups):
        return
    if fault.sort is Sort.ATTACK and fault.turns_on == day:
        counts.spikes += 1
        counts.rearmed += was_seen
    if fault.sort in (Sort.NOISE, Sort.OUTAGE) or (fault.turns_on or NIGHTS) > day:
        counts.held += fault.sort is not Sort.RARE
        counts.tripped += was_seen and fault.sort is not Sort.RARE
    if fault.is_bug(day):
        hidden[fault.name] += not was_seen


def judge(
    rule: IgnoreRule, world: Iterable[Fault], lessons: dict[str, Lesson], counts: Counts
) -> None:
    """Count a suggestion, and what it would hide that is or will be fixed."""
    covered = [fault for fault in world if matches(rule, fault.plain)]
    fixed = (lesson for lesson in lessons.values() if lesson.outcomes or lesson.has_fix)
    counts.suggested += 1
    counts.known_harm += any(matches(rule, as_group(item)) for item in fixed)
    counts.later_harm += any(fault.fixed_on is not None for fault in covered)
    counts.sorts.update({fault.sort.value for fault in covered})


def count_noise(
    world: Iterable[Fault], third: dict[str, int], found: dict[str, int], counts: Counts
) -> None:
    """Count noise that was seen often enough, and for how much of it there was a rule."""
    for fault in world:
        if fault.sort in (Sort.NOISE, Sort.OUTAGE) and fault.name in third | found:
            counts.noise += 1
            counts.noise_found += fault.name in found
            if fault.name in found and fault.name in third:
                counts.waits.append(found[fault.name] - third[fault.name])


def remember(
    fault: Fault, day: int, group: ErrorGroup, window: Window, lessons: dict[str, Lesson]
) -> None:
    """Add a sighting to the error's lesson, and what became of its fix."""
    said = fault.confidence(day)
    sighting = NightSeen(
        date=window.until.date(),
        night=str(day),
        occurrences=group.occurrences,
        verdict="new",
        confidence=said,
    )
    old = lessons.get(group.fingerprint) or Lesson(
        fingerprint=group.fingerprint,
        error_class=group.error_class,
        transaction=group.transaction,
        message=group.message,
        root_cause="unknown",
        first_detected=window.until.date(),
        tags=fault.tags,
    )
    lessons[group.fingerprint] = old.model_copy(
        update={
            "nights": (*old.nights, sighting),
            "has_fix": old.has_fix or (said == "high" and fault.is_bug(day)),
        }
    )


def learn_of_merge(
    fault: Fault,
    day: int,
    groups: tuple[ErrorGroup, ...],
    window: Window,
    lessons: dict[str, Lesson],
) -> None:
    """A fix of ours is merged; a bug that nobody found was mended by others, and we do not know."""
    merged = OutcomeEvent(kind="merged", number=1, on=window.until.date())
    for group in groups if fault.merged(day) else ():
        old = lessons.get(group.fingerprint)
        if old and old.has_fix:
            lessons[group.fingerprint] = old.model_copy(update={"outcomes": (merged,)})


def window_of(day: int) -> Window:
    """A day."""
    until = FIRST + timedelta(days=day)
    return Window(since=until - timedelta(days=1), until=until)


def report_of(day: int, window: Window) -> RunReport:
    """A night of which only the date matters."""
    night = Night(id=str(day), window=window, now=window.until)
    return RunReport(
        night=night, options=NightOptions(source="file"), started=night.now, finished=night.now
    )


def told(counts: Counts) -> tuple[str, ...]:
    """The figures in words."""
    bugs = [nights for nights in counts.hidden if nights]
    return (
        f"  suggestions {counts.suggested}, over {dict(sorted(counts.sorts.items()))}",
        f"  over an error with a fix we knew of: {part(counts.known_harm, counts.suggested)}",
        f"  over an error that was fixed later: {part(counts.later_harm, counts.suggested)}",
        f"  noise of three nights with a rule: {part(counts.noise_found, counts.noise)}, "
        f"nights after the third: median {median(counts.waits or [0])}",
        f"  attacks on ignored errors seen the same night: {part(counts.rearmed, counts.spikes)}",
        f"  nights of ignored noise told for nothing: {part(counts.tripped, counts.held)}",
        f"  bugs that were hidden on any night: {part(len(bugs), len(counts.hidden))}, "
        f"nights hidden: median {median(bugs or [0])}, most {max(bugs or [0])}",
    )


def part(some: int, of: int) -> str:
    """A share, with what it was counted from.

    >>> part(1, 4)
    '25.0 % (1 of 4)'
    """
    return f"{100 * some / of if of else 0:.1f} % ({some} of {of})"


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:3]]
    raise SystemExit(main(*(*given, *(HELD_OUT, WORLDS)[len(given) :])))
