"""Select the error groups of tonight; every other one gets a reason."""

import re
from collections.abc import Iterable
from datetime import datetime

from nightwatch_core.intake import limits
from nightwatch_core.intake.ignore_rules import ignored_by, named
from nightwatch_core.models.assignment import RecallResult
from nightwatch_core.models.errors import DroppedGroup, ErrorGroup, Selection, Window
from nightwatch_core.models.knowledge import IgnoreRules
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table, plural
from nightwatch_core.text.words import ClassTable

# What deserves tonight's attention: one score per error group, from four terms of 0 to 1.
#
# `RecordNotFound` weighs as much as a `NoMethodError` on purpose: where it reaches production
# unhandled, a person saw an error page.

WEIGHTS: dict[str, float] = {
    "occurrences": 0.4,
    "severity": 0.3,
    "recency": 0.2,
    "user-facing": 0.1,
}
MANY_OCCURRENCES = 100
UNKNOWN_SEVERITY = UNKNOWN_RECENCY = 0.5


class Severities(Value):
    """`severities.toml`: names of classes, and namespaces, by severity."""

    names: dict[float, tuple[str, ...]]
    namespaces: dict[float, tuple[str, ...]]


SEVERITIES = data_table("nightwatch_core.intake", "severities.toml", Severities)
_TABLE = ClassTable(
    {name: value for value, names in SEVERITIES.names.items() for name in names},
    {name: value for value, names in SEVERITIES.namespaces.items() for name in names},
)

ELSE_FACING = 0.6
_LONGEST = 500
_WORD = r"(?:^|[^a-z]|(?<=[a-z])(?=[A-Z]))(?i:{})(?:$|[^a-zA-Z]|(?<=[a-z])(?=[A-Z]))"
_VERB = r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)"
_ACTIONS = "index|show|new|create|edit|update|destroy"


def _word(names: str) -> str:
    return _WORD.format(f"(?:{names})")


FACING: tuple[tuple[float, str], ...] = (  # the first that matches counts
    (1.0, r"^(?:Controller|WebTransaction)/"),
    (1.0, rf"^(?:{_VERB}\s+\S|/|https?://)"),
    (1.0, _word("controllers?")),
    (0.5, _word("mailers?|notifiers?")),
    (1.0, rf"^[a-z0-9_/]+[/#](?:{_ACTIONS})$"),
    (0.3, _word("jobs?|workers?|sidekiq|celery|resque|tasks?|rake|cron|consumers?|queues?")),
    (1.0, _word("api|apis|views?|endpoints?|routes?|routers?|graphql|resolvers?")),
)


def score(group: ErrorGroup, window: Window) -> float:
    """Weigh a group's terms, 0 to 1."""
    return round(sum(WEIGHTS[name] * value for name, value in terms(group, window).items()), 6)


def terms(group: ErrorGroup, window: Window) -> dict[str, float]:
    """Rate a group against the window that was looked at; a regression is always severe."""
    is_regression = group.triage.state == "regressed"
    return {
        "occurrences": frequency(group.occurrences),
        "severity": 1.0 if is_regression else severity(group.error_class),
        "recency": recency(group.last_seen, window),
        "user-facing": user_facing(group.transaction),
    }


def frequency(occurrences: int) -> float:
    """Return the frequency score, 0 to 1; 1 from a hundred occurrences on."""
    return max(0.0, min(occurrences / MANY_OCCURRENCES, 1.0))


def recency(last_seen: datetime | None, window: Window) -> float:
    """Return the recency score: 1 at the window's end, 0 at its start, 0.5 where unknown."""
    if last_seen is None or last_seen.tzinfo is None:
        return UNKNOWN_RECENCY
    length = (window.until - window.since).total_seconds()
    if length <= 0:
        return 1.0
    age = (window.until - last_seen).total_seconds()
    return max(0.0, min(1.0 - age / length, 1.0))


def severity(error_class: str) -> float:
    """Return the severity of an error class, 0.3 to 1.0; 0.5 for an unlisted class."""
    listed = _TABLE.find(error_class)
    return UNKNOWN_SEVERITY if listed is None else listed


def user_facing(transaction: str) -> float:
    """Return the user-facing score: the first matching row of FACING, else 0.6."""
    text = transaction.strip()[:_LONGEST]
    return next((value for value, pattern in FACING if re.search(pattern, text)), ELSE_FACING)


class Narrowed(Value):
    """Recalled cases, cases to analyse, and the selection without all other groups."""

    memory: RecallResult
    selection: Selection


def select(
    groups: Iterable[ErrorGroup],
    rules: IgnoreRules,
    limit: int,
    window: Window,
    known_names: frozenset[str] = frozenset(),
) -> Selection:
    """Keep the best ranked `limit` groups that nobody ignores, and those in `known_names`.

    Known errors cost nothing, so they take no place from new ones.

    Dropped groups follow in two blocks: ignored ones in the order they came, then the ranked ones.
    The order does not depend on the order of `groups`: equal scores fall back on regressions,
    occurrences, last occurrence and fingerprint.
    """
    ignored, open_groups = [], []
    for group in groups:
        rule = ignored_by(rules.rules, group)
        if group.triage.state == "ignored":
            reason = group.triage.state_text
        else:
            reason = f"ignored: {named(rule)}" if rule else ""
        if reason:
            ignored.append(DroppedGroup(group=group, kind="ignored", reason=reason))
        else:
            open_groups.append(group)
    kept, over_limit, room = [], [], {True: limits.KNOWN_GROUPS, False: max(0, limit)}
    for place, (group, points) in enumerate(
        sorted(((group, score(group, window)) for group in open_groups), key=_order), start=1
    ):
        is_known = group.fingerprint in known_names
        if room[is_known] > 0:
            room[is_known] -= 1
            kept.append(group)
        else:
            reached = f"limit of {plural(max(0, limit), 'error group')} a night reached"
            reason = f"{reached} (rank {place} of {len(open_groups)}, score {points:.2f})"
            over_limit.append(DroppedGroup(group=group, reason=reason))
    return Selection(kept=tuple(kept), dropped=(*ignored, *over_limit))


def narrow(selection: Selection, memory: RecallResult, limit: int) -> Narrowed:
    """Return the first `limit` unknown cases, and the selection without the groups of the others.

    Several groups often have one cause, which only their traces tell: so more groups than `limit`
    are traced, and the limit counts cases.
    """
    kept, over = memory.unknown[: max(0, limit)], memory.unknown[max(0, limit) :]
    reached = f"limit of {plural(max(0, limit), 'case')} a night reached"
    late = tuple(
        DroppedGroup(group=group, reason=f"{reached} (case {place} of {len(memory.unknown)})")
        for place, unknown in enumerate(over, start=len(kept) + 1)
        for group in unknown.case.groups
    )
    names = {item.group.fingerprint for item in late}
    return Narrowed(
        memory=memory.model_copy(update={"unknown": kept}),
        selection=selection.model_copy(
            update={
                "kept": tuple(g for g in selection.kept if g.fingerprint not in names),
                "dropped": (*selection.dropped, *late),
            }
        ),
    )


def _order(ranked: tuple[ErrorGroup, float]) -> tuple[float, bool, int, float, str, str, str]:
    group, points = ranked
    seen = group.last_seen.timestamp() if group.last_seen else 0.0
    is_new = group.triage.state != "regressed"
    return (
        *(-points, is_new, -group.occurrences, -seen),
        *(group.fingerprint, group.source, group.app),
    )
