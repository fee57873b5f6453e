"""What the team said about errors in New Relic's Errors Inbox."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from nightwatch_core.adapters.new_relic.answers import Unwell
from nightwatch_core.adapters.new_relic.groups import Draft
from nightwatch_core.adapters.new_relic.nerdgraph import NerdGraph
from nightwatch_core.adapters.new_relic.rows import moment, text
from nightwatch_core.models.error import Window
from nightwatch_core.models.triage import Triage, TriageState
from nightwatch_core.text.templates import message_template

NAMES = {"service": "New Relic", "inbox": "Errors Inbox"}
PAGES = 3  # of New Relic's length
ERROR_GROUPS = (
    "query ErrorGroups($guids:[EntityGuid!],$cursor:String,$states:[ErrorsInboxErrorGroupState!],"
    "$from:EpochMilliseconds!,$to:EpochMilliseconds!){actor{errorsInbox{errorGroups("
    "entityGuids:$guids,cursor:$cursor,filter:{states:$states},"
    "sortBy:[{field:OCCURRENCES,direction:DESC}],timeWindow:{startTime:$from,endTime:$to})"
    "{nextCursor totalCount results{id name message state source regressedAt "
    "assignment{email userInfo{name}}}}}}}"
)
STATES: Mapping[object, TriageState] = {
    "UNRESOLVED": "",
    "RESOLVED": "resolved",
    "IGNORED": "ignored",
}


class Entry(NamedTuple):
    """What the team said about a group, and when the group came back."""

    triage: Triage = Triage()
    regressed_at: datetime | None = None


@dataclass(frozen=True)
class Inbox:
    """Entries by the source's own group id, and by class and message template."""

    by_id: Mapping[str, Entry]
    by_name: Mapping[tuple[str, str], frozenset[Entry]]
    more: bool = False  # there are groups that were not read

    def entry(self, draft: Draft) -> Entry:
        """What was said about a group; nothing where its rows were told different things."""
        entries = {self.by_id[row.inbox_id] for row in draft.rows if row.inbox_id in self.by_id}
        if not entries:
            names = {(row.pair[0], message_template(row.message)) for row in draft.rows}
            nothing = frozenset({Entry()})
            entries = {entry for name in names for entry in self.by_name.get(name, nothing)}
        triages = {entry.triage for entry in entries}
        if len(triages) != 1:
            return Entry()
        returns = (entry.regressed_at for entry in entries if entry.regressed_at)
        return Entry(triages.pop(), max(returns, default=None))


def read(client: NerdGraph, guids: Iterable[str], window: Window) -> Inbox:
    """Read the inbox; raises where it cannot be read."""
    first, last = (round(at.timestamp() * 1_000) for at in (window.since, window.until))
    groups: list[Mapping[str, Any]] = []
    cursor: str | None = None
    for _ in range(PAGES):
        answer = client.ask(
            ERROR_GROUPS,
            **{"guids": list(guids), "states": list(STATES), "cursor": cursor},
            **{"from": first, "to": last},
        )
        page = answer.at("actor", "errorsInbox", "errorGroups")
        if not isinstance(page, Mapping) or not isinstance(page.get("results"), list):
            raise Unwell("New Relic left the Errors Inbox out of its answer")
        groups += [each for each in page["results"] if isinstance(each, Mapping)]
        cursor = text(page.get("nextCursor"), 4_000) or None
        if cursor is None:
            break
    return _inbox(groups, window, cursor is not None)


def _inbox(groups: Iterable[Mapping[str, Any]], window: Window, more: bool) -> Inbox:
    by_id: dict[str, Entry] = {}
    by_name: dict[tuple[str, str], frozenset[Entry]] = {}
    for group in groups:
        entry = _entry(group, window)
        by_id[text(group.get("id"), 200)] = entry
        name = (text(group.get("name")), message_template(text(group.get("message"))))
        by_name[name] = by_name.get(name, frozenset()) | {entry}
    return Inbox(by_id, by_name, more)


def _entry(group: Mapping[str, Any], window: Window) -> Entry:
    """Read a group's entry.

    New Relic itself opens a resolved group again at its next event, and notes when. So a group that
    is still resolved has not come back, whatever the window holds.
    """
    state, assignee = STATES.get(group.get("state"), ""), _assignee(group.get("assignment"))
    regressed_at = moment(group.get("regressedAt"))
    if state or not regressed_at or regressed_at < window.since:
        regressed_at = None
    state = "regressed" if regressed_at else state
    if not state and not assignee:
        return Entry()
    return Entry(Triage(state=state, assignee=assignee, **NAMES), regressed_at)


def _assignee(assignment: object) -> str:
    """The assignee's name; reports may be public, so of an address only what stands before @."""
    if not isinstance(assignment, Mapping):
        return ""
    info = assignment.get("userInfo")
    name = info.get("name") if isinstance(info, Mapping) else ""
    mailbox = text(assignment.get("email"), 80).partition("@")[0]
    return " ".join((text(name, 80) or mailbox).split())
