"""What an ignore rule would have hidden on the nights that were."""

import math
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import chain, islice
from statistics import median

from nightwatch_core.intake.default_ports import is_sample
from nightwatch_core.intake.ignore_rules import matcher, per_day
from nightwatch_core.intake.limits import MATCHED_TEXT
from nightwatch_core.memory.outcomes.follow_up import AFTER_A_MERGE
from nightwatch_core.models.error import ErrorGroup, Window
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.pattern import Backtest, IgnoreRule
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value

NIGHTS_BACK = 30
MOST_READ = 3 * NIGHTS_BACK  # reports; single runs and repeated windows are passed over
SINGLE_RUN = "one-"  # how the names of runs for one error begin
QUIET_HOURS = 3  # without the error, after it
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
        """The date of the window's end."""
        return self.window.until.date()


def comparable_nights(tonight: RunReport, reports: Iterable[RunReport]) -> tuple[NightGroups, ...]:
    """The last 30 nights of the same sources, tonight first; `reports` come newest first.

    At most 90 reports are read, one by one. Passed over are failed nights, runs for one error, and
    nights whose window was read again: the same errors would count twice.
    """
    kept: list[NightGroups] = []
    seen: set[str] = set()
    for report in islice(chain((tonight,), reports), MOST_READ):
        new = report.night.id not in seen and not any(
            _overlap(report.night.window, one.window) for one in kept
        )
        seen.add(report.night.id)
        if new and _alike(report, tonight):
            kept.append(night_groups(report))
        if len(kept) == NIGHTS_BACK:
            break
    return tuple(kept)


def night_groups(report: RunReport) -> NightGroups:
    """All error groups a report tells of, each once."""
    cases = (*(one.case for one in report.analyses), *(one.case for one in report.failures))
    every = chain(
        (group for case in cases for group in case.groups),
        (dropped.group for dropped in report.dropped),
    )
    groups = {group.fingerprint: _slim(group) for group in every}
    return NightGroups(window=report.night.window, groups=tuple(groups.values()))


def backtest(
    rule: IgnoreRule, nights: Iterable[NightGroups], lessons: Iterable[Lesson]
) -> Backtest:
    """What the rule would have hidden on those nights, its expiry and its rate aside.

    A group counts once, on however many nights it came. `fixed_later` counts the groups whose
    lesson says that a fix of ours was merged. Users of one night are added up over its groups, so
    that one who met two of them counts twice.
    """
    hidden = [covered(rule, night) for night in nights]
    fixed = {name for one in lessons if was_fixed(one) for name in one.names}
    names = {group.fingerprint: group.names for groups in reversed(hidden) for group in groups}
    users = [sum(g.users for g in groups if g.users is not None) for groups in hidden]
    counted = any(g.users is not None for groups in hidden for g in groups)
    return Backtest(
        nights=len(hidden),
        groups=len(names),
        occurrences=sum(group.occurrences for groups in hidden for group in groups),
        fixed_later=sum(not fixed.isdisjoint(every) for every in names.values()),
        users=max(users) if counted else None,
    )


def covered(rule: IgnoreRule, night: NightGroups) -> tuple[ErrorGroup, ...]:
    """The groups of a night that the rule would have hidden."""
    return tuple(filter(matcher(rule), night.groups))


def only_covered(rule: IgnoreRule, nights: Iterable[NightGroups]) -> tuple[NightGroups, ...]:
    """The same nights with nothing but what the rule would have hidden.

    They stand in for the whole nights in `backtest` and `rates` of that rule, and take less time.
    """
    return tuple(night.model_copy(update={"groups": covered(rule, night)}) for night in nights)


def rates(rule: IgnoreRule, nights: Iterable[NightGroups]) -> tuple[float, ...]:
    """Occurrences a day on each night on which the rule covers any, all its groups summed."""
    counted = ((sum(g.occurrences for g in covered(rule, night)), night.window) for night in nights)
    return tuple(per_day(count, window) for count, window in counted if count)


def tripwire(seen: Sequence[float]) -> float:
    """The rate above which a rule shall not hold: three times the highest seen, at least 10.

    It is rounded up to 1, 2, 3 or 5 and zeros.

    >>> tripwire((4.0, 21.0)), tripwire((0.5,)), tripwire(())
    (100.0, 10.0, 10.0)
    """
    wanted = max(LOWEST, HEADROOM * max(seen, default=0.0))
    zeros = 10 ** math.floor(math.log10(wanted))
    return float(next(step * zeros for step in _READABLE if step * zeros >= wanted))


def is_steady(seen: Sequence[float]) -> bool:
    """Whether no night's rate is far above the usual one: an error that jumps is news, no noise.

    >>> is_steady((20, 31, 25)), is_steady((20, 500, 25)), is_steady((1, 9, 1))
    (True, False, True)
    """
    return not seen or max(seen) <= max(LOWEST, JUMP * median(seen))


def was_fixed(lesson: Lesson) -> bool:
    """Whether a fix of ours was merged for it, whatever came of the fix."""
    ends = (*(fate.kind for fate in lesson.fates), *(one.outcome for one in lesson.proposed))
    return lesson.watch is not None or any(
        kind in AFTER_A_MERGE for kind in (*ends, lesson.outcome)
    )


def recoveries(names: frozenset[str], nights: Sequence[NightGroups]) -> int:
    """How often an error went away by itself; nights newest first.

    It did where the next night that was looked at was without it, or where it was followed by
    three quiet hours of the same night.
    """
    times, next_has_it = 0, True  # of the night after tonight nothing is known
    for night in nights:
        own = [group for group in night.groups if not names.isdisjoint(group.names)]
        if own and (not next_has_it or all(map(_calmed, own))):
            times += 1
        next_has_it = bool(own)
    return times


def _calmed(group: ErrorGroup) -> bool:
    return any(group.hourly[:-QUIET_HOURS]) and not any(group.hourly[-QUIET_HOURS:])


def _alike(report: RunReport, tonight: RunReport) -> bool:
    if report.status == "failed" or report.night.id.startswith(SINGLE_RUN):
        return False
    if is_sample(report.options) != is_sample(tonight.options):
        return False
    return set(report.options.sources()) == set(tonight.options.sources())


def _overlap(one: Window, other: Window) -> bool:
    """Whether two windows share more than half of the shorter one."""
    shared = min(one.until, other.until) - max(one.since, other.since)
    shorter = min(one.until - one.since, other.until - other.since)
    return shared * 2 > shorter or (one.since, one.until) == (other.since, other.until)


def _slim(group: ErrorGroup) -> ErrorGroup:
    return ErrorGroup(
        fingerprint=group.fingerprint,
        source=group.source,
        error_class=group.error_class,
        transaction=group.transaction,
        message=group.message[:MATCHED_TEXT],
        occurrences=group.occurrences,
        users=group.users,
        hourly=group.hourly,
        formerly=group.formerly,
    )
