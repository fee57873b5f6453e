"""What the team said about an error in New Relic's Errors Inbox: one line of its group.

The state comes first and the name last, so that no name is taken for a state.
"""

from datetime import datetime

from nightwatch_core.models.error import Case, ErrorGroup

IGNORED, RESOLVED, BACK = "ignored", "resolved", "resolved, and back"
# What a state is to the reader of a report, the most telling one first.
SAID = {
    BACK: "a regression: resolved in New Relic's Errors Inbox, and back",
    RESOLVED: "resolved in New Relic's Errors Inbox since it was last seen",
    IGNORED: "ignored in New Relic's Errors Inbox",
}
_ASSIGNED = "assigned to "
_MOST_NAMES = 3


def told(state: str, assignee: str = "") -> str:
    """The line of a group.

    >>> told(BACK, "Ann Example"), told("", "Ann"), told(IGNORED)
    ('resolved, and back; assigned to Ann Example', 'assigned to Ann', 'ignored')
    """
    return "; ".join(filter(None, (state, f"{_ASSIGNED}{assignee}" if assignee else "")))


def state(group: ErrorGroup) -> str:
    """Ignored, resolved, resolved and back, or nothing; whatever the assignee is called."""
    return group.inbox.partition(_ASSIGNED)[0].removesuffix("; ")


def is_back(group: ErrorGroup) -> bool:
    """Whether the team had resolved the error, and it came back: a regression."""
    return state(group) == BACK


def came_back(case: Case) -> bool:
    """Whether any group of a case is a regression."""
    return any(is_back(group) for group in case.groups)


def came_back_after(case: Case, moment: datetime | None) -> bool:
    """Whether any group came back later; it did where one of the moments is not known."""
    return any(is_back(group) and _is_later(group.regressed_at, moment) for group in case.groups)


def assignees(case: Case) -> tuple[str, ...]:
    """Who looks after the case's groups, each once."""
    names = (group.inbox.partition(_ASSIGNED)[2] for group in case.groups)
    return tuple(dict.fromkeys(name for name in names if name))


def sentence(case: Case) -> str:
    """What the team said about a case, for people; untrusted text: escape it."""
    states = {state(group) for group in case.groups}
    said = next((text for name, text in SAID.items() if name in states), "")
    names = assignees(case)
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    whom = f"{_ASSIGNED}{', '.join(names[:_MOST_NAMES])}{more}" if names else ""
    return "; ".join(filter(None, (said, whom)))


def _is_later(at: datetime | None, moment: datetime | None) -> bool:
    if at is None or moment is None or not (at.tzinfo and moment.tzinfo):
        return True
    return at > moment
