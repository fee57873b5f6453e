"""Which error groups are analysed tonight, and why every other one is not."""

from collections.abc import Callable, Iterable

from nightwatch_core.intake import inbox
from nightwatch_core.intake.ignore_rules import ignored_by, named
from nightwatch_core.intake.ranking import Rank, rank
from nightwatch_core.models.assignment import Recollection
from nightwatch_core.models.error import Dropped, ErrorGroup, Selection, Window
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules
from nightwatch_core.models.value import Value

GROUPS_A_CASE = 3  # groups traced for every case that will be analysed
MOST_KNOWN = 60  # groups that lessons name, traced besides them


class Narrowed(Value):
    """What is known, the cases to analyse, and the selection without the groups of all others."""

    memory: Recollection
    selection: Selection


_IGNORED = "ignored"  # how the reasons of DROPS begin


def _by_the_team(group: ErrorGroup, rules: IgnoreRules) -> str:
    return inbox.SAID[inbox.IGNORED] if inbox.state(group) == inbox.IGNORED else ""


def _by_a_rule(group: ErrorGroup, rules: IgnoreRules) -> str:
    rule = ignored_by(rules.rules, group)
    return ignored_reason(rule) if rule else ""


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
    verdicts = tuple((group, drop_reason(group, rules)) for group in groups)
    ignored = tuple(Dropped(group=group, reason=why) for group, why in verdicts if why)
    ranked = in_order(tuple(group for group, why in verdicts if not why), window)
    kept, passed_over, room = [], [], {True: MOST_KNOWN, False: max(0, limit)}
    for place, (group, found) in enumerate(ranked, start=1):
        familiar = group.fingerprint in known
        if room[familiar] > 0:
            room[familiar] -= 1
            kept.append(group)
        else:
            reason = rank_reason(place, len(ranked), found.score, max(0, limit))
            passed_over.append(Dropped(group=group, reason=reason))
    return Selection(kept=tuple(kept), dropped=(*ignored, *passed_over))


def drop_reason(group: ErrorGroup, rules: IgnoreRules) -> str:
    """Why a group is left alone; empty where it is not."""
    return next((why for rule in DROPS if (why := rule(group, rules))), "")


def narrowed(selection: Selection, memory: Recollection, limit: int) -> Narrowed:
    """The first `limit` unknown cases, and the selection with the groups of all others dropped.

    Several groups often have one cause, which only their traces tell: so more groups than `limit`
    are traced, and the limit counts cases.
    """
    kept, over = memory.unknown[: max(0, limit)], memory.unknown[max(0, limit) :]
    late = tuple(
        Dropped(group=group, reason=_case_reason(place, len(memory.unknown), limit))
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


def in_order(groups: Iterable[ErrorGroup], window: Window) -> tuple[tuple[ErrorGroup, Rank], ...]:
    """Groups with their ranks, best first, ties settled."""
    return tuple(sorted(((group, rank(group, window)) for group in groups), key=_order))


def _order(ranked: tuple[ErrorGroup, Rank]) -> tuple[float, bool, int, float, str, str, str]:
    group, found = ranked
    seen = group.last_seen.timestamp() if group.last_seen else 0.0
    names = (group.fingerprint, group.source, group.app)
    return (-found.score, not inbox.is_back(group), -group.occurrences, -seen, *names)


def ignored_reason(rule: IgnoreRule) -> str:
    """Say which rule ignored a group.

    >>> ignored_reason(IgnoreRule(pattern="wp-login", line=4, reason="bots"))
    "ignored: contains 'wp-login' (ignore.yml line 4: bots)"
    >>> ignored_reason(IgnoreRule(pattern="Net::*", match="glob", field="error_class"))
    "ignored: error_class glob 'Net::*' (ignore.yml)"
    """
    return f"{_IGNORED}: {named(rule)}"


def is_ignored(dropped: Dropped) -> bool:
    """Whether a rule or the team dropped the group, and not its rank."""
    return dropped.reason.startswith(_IGNORED)


def rank_reason(place: int, among: int, score: float, limit: int) -> str:
    """Say why a group had to wait.

    >>> rank_reason(12, 25, 0.314, 10)
    'rank 12 of 25 (score 0.31): 10 are traced a night'
    """
    are = "is" if limit == 1 else "are"
    return f"rank {place} of {among} (score {score:.2f}): {limit} {are} traced a night"
