"""Kept nights: the errors of each, and what an ignore rule would have hidden on them."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import chain, islice
from statistics import median

from nightwatch_core.intake.default_ports import is_sample
from nightwatch_core.intake.ignore_rules import by_message, matcher, per_day
from nightwatch_core.intake.limits import MATCHED_TEXT
from nightwatch_core.memory.follow_up import AFTER_A_MERGE
from nightwatch_core.models.errors import ErrorGroup, Window
from nightwatch_core.models.knowledge import Backtest, IgnoreRule, Lesson
from nightwatch_core.models.report import SINGLE_RUN, RunReport
from nightwatch_core.models.value import Value

NIGHTS_BACK = 30
MOST_READ = 3 * NIGHTS_BACK  # reports; single runs and repeated windows are passed over
HEADROOM = 3  # times the highest rate of the nights that were
LOWEST = 10  # occurrences a day; below it chance alone doubles and triples a rate
JUMP = 5  # times the usual rate: more is news and no noise
_READABLE = (1, 2, 3, 5, 10)


class NightGroups(Value):
    """A night's errors, whether they were analysed or dropped; groups without what takes room."""

    window: Window
    groups: tuple[ErrorGroup, ...] = ()

    @property
    def date(self) -> date:
        """Return the date of the window's end."""
        return self.window.until.date()


def comparable_nights(tonight: RunReport, reports: Iterable[RunReport]) -> tuple[NightGroups, ...]:
    """Return the last 30 nights of the same sources, tonight first; `reports` come newest first.

    At most 90 reports are read, one by one. Passed over are failed nights, runs for one error, and
    nights whose window was read again: the same errors would count twice.
    """
    kept: list[NightGroups] = []
    for report in islice(chain((tonight,), reports), MOST_READ):
        window, options = report.night.window, report.options
        is_alike = (
            report.status != "failed"
            and not report.night.id.startswith(SINGLE_RUN)
            and is_sample(options) == is_sample(tonight.options)
            and set(options.sources()) == set(tonight.options.sources())
        )
        if is_alike and not any(_overlap(window, item.window) for item in kept):
            kept.append(night_groups(report))
        if len(kept) == NIGHTS_BACK:
            break
    return tuple(kept)


def _overlap(window: Window, other: Window) -> bool:
    shared = min(window.until, other.until) - max(window.since, other.since)
    shorter = min(window.until - window.since, other.until - other.since)
    return shared * 2 > shorter or (window.since, window.until) == (other.since, other.until)


def night_groups(report: RunReport) -> NightGroups:
    """Return all error groups of a report, each once and with only what rules look at."""
    every = (group for case in report.cases for group in case.groups)
    groups = {
        group.fingerprint: ErrorGroup(
            fingerprint=group.fingerprint,
            source=group.source,
            error_class=group.error_class,
            transaction=group.transaction,
            message=group.message[:MATCHED_TEXT],
            occurrences=group.occurrences,
            users=group.users,
            releases=group.releases or tuple(filter(None, (group.release,))),
            messages=group.messages,
        )
        for group in every
    }
    return NightGroups(window=report.night.window, groups=tuple(groups.values()))


class Sightings:
    """The groups of nights by the names of their errors."""

    def __init__(self, nights: Sequence[NightGroups]) -> None:
        self._by_name: dict[str, list[tuple[int, ErrorGroup]]] = defaultdict(list)
        for number, night in enumerate(nights):
            for group in night.groups:
                self._by_name[group.fingerprint].append((number, group))

    def of(self, names: Iterable[str]) -> list[tuple[int, ErrorGroup]]:
        """Return an error's groups, each with the number of its night, in the order of nights."""
        found = (
            pair for name in set(names) if name in self._by_name for pair in self._by_name[name]
        )
        return sorted(found, key=lambda pair: (pair[0], pair[1].fingerprint))

    def most_users(self, names: Iterable[str]) -> int | None:
        """Return the most users of one night, added up over the groups; None: not known."""
        users = Counter[int]()
        for number, group in self.of(names):
            if group.users is not None:
                users[number] += group.users
        return max(users.values(), default=None)


def hidden_by(rule: IgnoreRule, nights: Iterable[NightGroups]) -> tuple[NightGroups, ...]:
    """Return the nights with nothing but what the rule would have hidden, whatever its bounds.

    Of a group with several messages these are the covered ones, with their occurrences.
    """
    covers = matcher(rule)

    def hidden(group: ErrorGroup) -> Iterator[ErrorGroup]:
        every = by_message(group)
        covered = [part for part in every if covers(part)]
        if len(covered) == len(every):
            yield group
        elif covered:
            times = sum(part.occurrences for part in covered)
            yield covered[0].model_copy(update={"occurrences": times})

    return tuple(
        night.model_copy(update={"groups": tuple(chain.from_iterable(map(hidden, night.groups)))})
        for night in nights
    )


def backtest(hidden: Sequence[NightGroups], lessons: Iterable[Lesson]) -> Backtest:
    """Count what `hidden_by` returned.

    A group counts once, on however many nights it came. `fixed_later` counts the groups whose
    lesson says that a fix of ours was merged. Users of one night are added up over its groups, so
    that one who met two of them counts twice.
    """
    fixed = {name for lesson in lessons if was_fixed(lesson) for name in lesson.names}
    groups = [group for night in hidden for group in night.groups]
    names = {group.fingerprint for group in groups}
    users = [sum(group.users or 0 for group in night.groups) for night in hidden]
    return Backtest(
        nights=len(hidden),
        groups=len(names),
        occurrences=sum(group.occurrences for group in groups),
        fixed_later=len(names & fixed),
        users=max(users) if any(group.users is not None for group in groups) else None,
    )


def rates(hidden: Iterable[NightGroups]) -> tuple[float, ...]:
    """Return occurrences a day on each night with any, all its groups summed."""
    counted = ((sum(group.occurrences for group in n.groups), n.window) for n in hidden)
    return tuple(per_day(count, window) for count, window in counted if count)


def tripwire(seen: Sequence[float]) -> float:
    """Return the rate above which a rule shall not hold: three times the highest seen, at least 10.

    It is rounded up to 1, 2, 3 or 5 and zeros.

    >>> tripwire((4.0, 21.0)), tripwire((0.5,)), tripwire(())
    (100.0, 10.0, 10.0)
    """
    limit = max(LOWEST, HEADROOM * max(seen, default=0.0))
    zeros = 10 ** math.floor(math.log10(limit))
    return float(next(step * zeros for step in _READABLE if step * zeros >= limit))


def is_steady(seen: Sequence[float]) -> bool:
    """Tell whether no night's rate is far above the usual one: an error that jumps is no noise.

    >>> is_steady((20, 31, 25)), is_steady((20, 500, 25)), is_steady((1, 9, 1))
    (True, False, True)
    """
    return not seen or max(seen) <= max(LOWEST, JUMP * median(seen))


def was_fixed(lesson: Lesson) -> bool:
    """Tell whether a fix of ours was merged for it, whatever came of the fix."""
    ends = (*(event.kind for event in lesson.outcomes), *(item.outcome for item in lesson.proposed))
    is_merged = any(kind in AFTER_A_MERGE for kind in (*ends, lesson.outcome))
    return lesson.watch is not None or is_merged


def recoveries(names: frozenset[str], nights: Sequence[NightGroups]) -> int:
    """Count how often an error was gone on the next night that was read; nights newest first."""
    present = [any(group.fingerprint in names for group in night.groups) for night in nights]
    return sum(had and not has for has, had in zip(present, present[1:], strict=False))
