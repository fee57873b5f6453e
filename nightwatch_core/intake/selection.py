"""Select the error groups of tonight; every other one gets a reason."""

from collections.abc import Callable, Iterable
from math import log1p

from nightwatch_core.intake import limits
from nightwatch_core.intake.ignore_rules import ignored_by, named, without_ignored
from nightwatch_core.models.answer import Forecast
from nightwatch_core.models.assignment import RecallResult
from nightwatch_core.models.errors import Case, DroppedGroup, ErrorGroup, Selection, occurrences_of
from nightwatch_core.models.knowledge import IgnoreRules
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table, plural
from nightwatch_core.text.words import ClassTable

# What deserves tonight's attention: `rank` is the one order of errors, from groups to the report.
#
# `RecordNotFound` weighs as much as a `NoMethodError` on purpose: where it reaches production
# unhandled, a person saw an error page.

WEIGHTS: dict[str, float] = {"frequency": 0.7, "severity": 0.3}
MANY_OCCURRENCES = 1_000
UNKNOWN_SEVERITY = 0.5


class Severities(Value):
    """`severities.toml`: names of classes, and namespaces, by severity."""

    names: dict[float, tuple[str, ...]]
    namespaces: dict[float, tuple[str, ...]]


SEVERITIES = data_table("nightwatch_core.intake", "severities.toml", Severities)
_TABLE = ClassTable(
    {name: value for value, names in SEVERITIES.names.items() for name in names},
    {name: value for value, names in SEVERITIES.namespaces.items() for name in names},
)

Rank = tuple[float, bool, int, int, float, str, str, str]


def rank(*groups: ErrorGroup) -> Rank:
    """Return the sort key of groups with one cause: the best ranked come first."""
    leader = min(groups, key=lambda group: (-group.occurrences, group.fingerprint))
    return (
        -score(*groups),
        all(group.triage.state != "regressed" for group in groups),
        -occurrences_of(groups),
        -max(group.users or 0 for group in groups),
        -max(group.last_seen.timestamp() if group.last_seen else 0.0 for group in groups),
        *(leader.fingerprint, leader.source, leader.app),
    )


def score(*groups: ErrorGroup) -> float:
    """Weigh how often groups with one cause occurred, and how severe they are, 0 to 1.

    A regression is always severe.
    """
    severe = (1.0 if g.triage.state == "regressed" else severity(g.error_class) for g in groups)
    often = frequency(occurrences_of(groups))
    return round(WEIGHTS["frequency"] * often + WEIGHTS["severity"] * max(severe), 6)


def case_order(selection: Selection) -> Callable[[Case], tuple[int, Rank]]:
    """Return the sort key of cases: as batches judged them, else as they rank."""
    judged = selection.kept if selection.is_judged else ()
    place = {group.fingerprint: at for at, group in enumerate(judged)}

    def key(case: Case) -> tuple[int, Rank]:
        first = min(place.get(group.fingerprint, len(place)) for group in case.groups)
        return first, rank(*case.groups)

    return key


def frequency(occurrences: int) -> float:
    """Return the frequency score, 0 to 1; every doubling counts alike, up to a thousand."""
    return max(0.0, min(log1p(max(occurrences, 0)) / log1p(MANY_OCCURRENCES), 1.0))


def severity(error_class: str) -> float:
    """Return the severity of an error class, 0.3 to 1.0; 0.5 for an unlisted class."""
    listed = _TABLE.find(error_class)
    return UNKNOWN_SEVERITY if listed is None else listed


class Narrowed(Value):
    """Recalled cases, cases to analyse, and the selection without all other groups."""

    memory: RecallResult
    selection: Selection
    forecast: Forecast | None = None


def select(
    groups: Iterable[ErrorGroup],
    rules: IgnoreRules,
    limit: int,
    known_names: frozenset[str] = frozenset(),
) -> Selection:
    """Keep the best ranked `limit` groups that nobody ignores, and those in `known_names`.

    Known errors cost nothing, so they take no place from new ones.

    Dropped groups follow in two blocks: ignored ones in the order they came, then the ranked ones.
    The order does not depend on the order of `groups`.
    """
    ignored, open_groups = [], []
    for group in groups:
        rule = ignored_by(rules.rules, group)
        by_rule = f"ignored: {named(rule)}" if rule else ""
        reason = group.triage.state_text if group.triage.state == "ignored" else by_rule
        if reason:
            ignored.append(DroppedGroup(group=group, kind="ignored", reason=reason))
        else:
            open_groups.append(without_ignored(rules, group))
    kept, over_limit, room = [], [], {True: limits.KNOWN_GROUPS, False: max(0, limit)}
    reason = f"limit of {plural(max(0, limit), 'error group')} a night reached"
    for place, group in enumerate(sorted(open_groups, key=rank), start=1):
        is_known = group.fingerprint in known_names
        if room[is_known] > 0:
            room[is_known] -= 1
            kept.append(group)
        else:
            note = f"rank {place} of {len(open_groups)}, score {score(group):.2f}"
            over_limit.append(DroppedGroup(group=group, reason=reason, note=note))
    return Selection(kept=tuple(kept), dropped=(*ignored, *over_limit))


def narrow(selection: Selection, memory: RecallResult, limit: int) -> Narrowed:
    """Return the first `limit` unknown cases, and the selection without the groups of the others.

    Several groups often have one cause, which only their traces tell: so more groups than `limit`
    are traced, and the limit counts cases.
    """
    kept, over = memory.unknown[: max(0, limit)], memory.unknown[max(0, limit) :]
    reason = f"limit of {plural(max(0, limit), 'case')} a night reached"
    late = tuple(
        DroppedGroup(group=group, reason=reason, note=f"case {place} of {len(memory.unknown)}")
        for place, unknown in enumerate(over, start=len(kept) + 1)
        for group in unknown.case.groups
    )
    names = {item.group.fingerprint for item in late}
    rest = tuple(group for group in selection.kept if group.fingerprint not in names)
    update = {"kept": rest, "dropped": (*selection.dropped, *late)}
    selection = selection.model_copy(update=update)
    return Narrowed(memory=memory.model_copy(update={"unknown": kept}), selection=selection)
