"""Which error groups are analysed tonight, and why every other one is not."""

from collections.abc import Callable, Iterable

from nightwatch_core.intake import limits
from nightwatch_core.intake.ignore_rules import ignored_by, named
from nightwatch_core.intake.ranking import score
from nightwatch_core.models.assignment import RecallResult
from nightwatch_core.models.error import DroppedGroup, ErrorGroup, Selection, Window
from nightwatch_core.models.pattern import IgnoreRules
from nightwatch_core.models.value import Value


class Narrowed(Value):
    """What is known, the cases to analyse, and the selection without the groups of all others."""

    memory: RecallResult
    selection: Selection


def _by_the_team(group: ErrorGroup, rules: IgnoreRules) -> str:
    return group.triage.state_text if group.triage.state == "ignored" else ""


def _by_a_rule(group: ErrorGroup, rules: IgnoreRules) -> str:
    rule = ignored_by(rules.rules, group)
    return f"ignored: {named(rule)}" if rule else ""


# Why a group is not even ranked; the first reason that holds is reported.
DROPS: tuple[Callable[[ErrorGroup, IgnoreRules], str], ...] = (_by_the_team, _by_a_rule)


def select(
    groups: Iterable[ErrorGroup],
    rules: IgnoreRules,
    limit: int,
    window: Window,
    known: frozenset[str] = frozenset(),
) -> Selection:
    """Keep the best ranked `limit` groups that nobody ignores, and those that are `known`.

    Known errors cost nothing, so they take no place from new ones.

    Dropped groups follow in two blocks: ignored ones in the order they came, then the ranked ones.
    The order does not depend on the order of `groups`: equal scores fall back on regressions,
    occurrences, last occurrence and fingerprint.
    """
    ignored, open_groups = [], []
    for group in groups:
        if reason := next((text for drop in DROPS if (text := drop(group, rules))), ""):
            ignored.append(DroppedGroup(group=group, kind="ignored", reason=reason))
        else:
            open_groups.append(group)
    kept, over_limit, room = [], [], {True: limits.KNOWN_GROUPS, False: max(0, limit)}
    for place, (group, points) in enumerate(_ranked(open_groups, window), start=1):
        is_known = not known.isdisjoint(group.names)
        if room[is_known] > 0:
            room[is_known] -= 1
            kept.append(group)
        else:
            reason = rank_reason(place, len(open_groups), points, max(0, limit))
            over_limit.append(DroppedGroup(group=group, reason=reason))
    return Selection(kept=tuple(kept), dropped=(*ignored, *over_limit))


def narrow(selection: Selection, memory: RecallResult, limit: int) -> Narrowed:
    """The first `limit` unknown cases, and the selection with the groups of all others dropped.

    Several groups often have one cause, which only their traces tell: so more groups than `limit`
    are traced, and the limit counts cases.
    """
    kept, over = memory.unknown[: max(0, limit)], memory.unknown[max(0, limit) :]
    late = tuple(
        DroppedGroup(group=group, reason=_case_reason(place, len(memory.unknown), limit))
        for place, unknown in enumerate(over, start=len(kept) + 1)
        for group in unknown.case.groups
    )
    names = {one.group.fingerprint for one in late}
    return Narrowed(
        memory=memory.model_copy(update={"unknown": kept}),
        selection=selection.model_copy(
            update={
                "kept": tuple(g for g in selection.kept if g.fingerprint not in names),
                "dropped": (*selection.dropped, *late),
            }
        ),
    )


def _case_reason(place: int, among: int, limit: int) -> str:
    are = "is" if limit == 1 else "are"
    return f"new case {place} of {among}: {limit} {are} analysed a night"


def _ranked(groups: Iterable[ErrorGroup], window: Window) -> list[tuple[ErrorGroup, float]]:
    """Groups with their scores, best first, ties settled."""
    return sorted(((group, score(group, window)) for group in groups), key=_order)


def _order(ranked: tuple[ErrorGroup, float]) -> tuple[float, bool, int, float, str, str, str]:
    group, points = ranked
    seen = group.last_seen.timestamp() if group.last_seen else 0.0
    is_new = group.triage.state != "regressed"
    return (
        *(-points, is_new, -group.occurrences, -seen),
        *(group.fingerprint, group.source, group.app),
    )


def rank_reason(place: int, among: int, score: float, limit: int) -> str:
    """Say why a group had to wait.

    >>> rank_reason(12, 25, 0.314, 10)
    'rank 12 of 25 (score 0.31): 10 are traced a night'
    """
    are = "is" if limit == 1 else "are"
    return f"rank {place} of {among} (score {score:.2f}): {limit} {are} traced a night"
