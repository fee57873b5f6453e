"""What the team said about errors in New Relic's Errors Inbox."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from nightwatch_core.adapters.new_relic.answers import Unwell
from nightwatch_core.adapters.new_relic.documents import INBOX
from nightwatch_core.adapters.new_relic.groups import Draft
from nightwatch_core.adapters.new_relic.nerdgraph import NerdGraph
from nightwatch_core.adapters.new_relic.rows import moment, text
from nightwatch_core.intake.inbox import BACK, IGNORED, RESOLVED, told
from nightwatch_core.models.error import Window
from nightwatch_core.text.templates import message_template

PAGES = 3  # of New Relic's length
STATES = ("UNRESOLVED", "RESOLVED", "IGNORED")


class Said(NamedTuple):
    """What the team said about a group in words of `inbox.py`, and when the group came back."""

    words: str = ""
    back: datetime | None = None


@dataclass(frozen=True)
class Inbox:
    """What was said, by the source's own group id, and by class and message template."""

    by_id: Mapping[str, Said]
    by_name: Mapping[tuple[str, str], frozenset[Said]]
    more: bool = False  # there are groups whose state was not read

    def of(self, draft: Draft) -> Said:
        """What was said about a group; nothing where its rows were told different things."""
        ids = {row.inbox_id for row in draft.rows if row.inbox_id in self.by_id}
        if ids:
            said = {self.by_id[one] for one in ids}
        else:
            names = {(row.pair[0], message_template(row.message)) for row in draft.rows}
            said = {one for name in names for one in self.by_name.get(name, frozenset({Said()}))}
        words = {one.words for one in said}
        if len(words) != 1:
            return Said()
        return Said(words.pop(), max((one.back for one in said if one.back), default=None))


def read(client: NerdGraph, guids: Iterable[str], window: Window) -> Inbox:
    """Read the inbox; raises where it cannot be read."""
    first, last = (round(at.timestamp() * 1_000) for at in (window.since, window.until))
    found: list[Mapping[str, Any]] = []
    cursor: str | None = None
    for _ in range(PAGES):
        answer = client.ask(
            INBOX,
            **{"guids": list(guids), "states": list(STATES), "cursor": cursor},
            **{"from": first, "to": last},
        )
        page = answer.at("actor", "errorsInbox", "errorGroups")
        if not isinstance(page, Mapping) or not isinstance(page.get("results"), list):
            raise Unwell("New Relic left the Errors Inbox out of its answer")
        found += [each for each in page["results"] if isinstance(each, Mapping)]
        cursor = text(page.get("nextCursor"), 4_000) or None
        if cursor is None:
            break
    return _inbox(found, window, cursor is not None)


def _inbox(found: Iterable[Mapping[str, Any]], window: Window, more: bool) -> Inbox:
    by_id: dict[str, Said] = {}
    by_name: dict[tuple[str, str], set[Said]] = {}
    for group in found:
        said = _said(group, window)
        by_id[text(group.get("id"), 200)] = said
        name = (text(group.get("name")), message_template(text(group.get("message"))))
        by_name.setdefault(name, set()).add(said)
    return Inbox(by_id, {name: frozenset(said) for name, said in by_name.items()}, more)


def _said(group: Mapping[str, Any], window: Window) -> Said:
    """New Relic itself opens a resolved group again at its next event, and notes when.

    So a group that is still resolved has not come back, whatever the window holds.
    """
    who, regressed = _who(group.get("assignment")), moment(group.get("regressedAt"))
    if group.get("state") in (said := {"IGNORED": IGNORED, "RESOLVED": RESOLVED}):
        return Said(told(said[group["state"]], who))
    if regressed and regressed >= window.since:
        return Said(told(BACK, who), regressed)
    return Said(told("", who))


def _who(assignment: object) -> str:
    if not isinstance(assignment, Mapping):
        return ""
    info = assignment.get("userInfo")
    name = info.get("name") if isinstance(info, Mapping) else ""
    mailbox = text(assignment.get("email"), 80).partition("@")[0]  # reports may be public
    return " ".join((text(name, 80) or mailbox).split())
