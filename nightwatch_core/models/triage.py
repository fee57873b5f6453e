"""What a team said about an error where its source keeps such a list."""

from collections.abc import Iterable
from typing import Literal

from nightwatch_core.models.value import Value

TriageState = Literal["", "ignored", "resolved", "regressed"]
# What a state is to the reader of a report, the most telling one first.
STATE_TEXTS: dict[TriageState, str] = {
    "regressed": "a regression: resolved in {inbox}, and back",
    "resolved": "resolved in {inbox} since it was last seen",
    "ignored": "ignored in {inbox}",
    "": "",
}
_ASSIGNED = "assigned to "
_SEPARATOR = "; "
_SHOWN_ASSIGNEES = 3


class Triage(Value):
    """A group's state in its team's list, and who looks after it; untrusted text: escape it."""

    state: TriageState = ""
    assignee: str = ""
    service: str = ""  # that keeps the list, for people: "New Relic"
    inbox: str = ""  # what the list is called there: "Errors Inbox"

    @property
    def state_text(self) -> str:
        """The state for people; empty where there is none.

        >>> Triage(state="ignored", service="Acme", inbox="Issues").state_text
        "ignored in Acme's Issues"
        """
        return STATE_TEXTS[self.state].format(inbox=f"{self.service}'s {self.inbox}")


def triage_texts(triages: Iterable[Triage]) -> tuple[str, str]:
    """Say where the team said something about several groups, and what.

    The most telling state comes first, then who has them.
    """
    given = tuple(triages)
    inbox = next((triage.inbox for triage in given if triage.inbox), "")
    most_telling = sorted(given, key=lambda triage: list(STATE_TEXTS).index(triage.state))
    state = most_telling[0].state_text if given else ""
    names = tuple(dict.fromkeys(triage.assignee for triage in given if triage.assignee))
    more = len(names) - _SHOWN_ASSIGNEES
    whom = ", ".join(names[:_SHOWN_ASSIGNEES]) + (f" and {more} more" if more > 0 else "")
    return inbox, _SEPARATOR.join(filter(None, (state, f"{_ASSIGNED}{whom}" if names else "")))
