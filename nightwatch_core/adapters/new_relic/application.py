"""Which application of New Relic is meant, and what its events hold."""

import difflib
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from nightwatch_core.adapters.new_relic import documents, nrql
from nightwatch_core.adapters.new_relic import rows as new_relic_rows
from nightwatch_core.adapters.new_relic.answers import Answer, TooSlow, Unwell
from nightwatch_core.adapters.new_relic.counts import results_of
from nightwatch_core.adapters.new_relic.nerdgraph import QUERY_SECONDS, NerdGraph
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.error import Window
from nightwatch_core.ports import Clock

DAY = timedelta(days=1)
SEARCH_PAGES = 5
KEPT_SECONDS = 3_600.0
MOST_ENTITIES = 10  # more of one name do not fit into a query
_GUID = re.compile(r"[A-Za-z0-9+/=_-]{1,100}")


@dataclass(frozen=True)
class Entity:
    """An application as New Relic knows it."""

    guid: str
    name: str
    language: str
    reporting: bool


@dataclass(frozen=True)
class Known:
    """What the application's events hold."""

    errors: frozenset[str] = frozenset()
    traces: frozenset[str] = frozenset()
    complete: bool = True  # false: it could not be asked


class Application:
    """One application by name: several entities where several share it. Kept for an hour."""

    def __init__(self, client: NerdGraph, account: int, name: str, clock: Clock) -> None:
        """Ask through `client` when first needed."""
        self._client = client
        self._account = account
        self._app = name
        self._clock = clock
        self._lock = threading.Lock()
        self._entities: tuple[Entity, ...] = ()
        self._known: Known | None = None
        self._asked = 0.0

    @property
    def guids(self) -> tuple[str, ...]:
        """The names of the entities."""
        return tuple(entity.guid for entity in self.entities())

    def ask(self, **queries: str) -> Answer:
        """Run NRQL texts in one request, each under its alias."""
        variables = {"account": self._account, "timeout": QUERY_SECONDS, **queries}
        return self._client.ask(documents.nrql(queries), **variables)

    def entities(self) -> tuple[Entity, ...]:
        """The applications of this name; raises `StopTheNight` where there is none."""
        with self._lock:
            if not self._entities or self._clock.monotonic() - self._asked > KEPT_SECONDS:
                self._entities, self._known = self._search(self._app), None
                self._asked = self._clock.monotonic()
            if len(self._entities) > MOST_ENTITIES:
                raise StopTheNight(
                    f"more than {MOST_ENTITIES} applications of New Relic account {self._account} "
                    f"are named {self._app[:100]!r}: give the one that is meant a name of its own"
                )
            if self._entities:
                return self._entities
        near = difflib.get_close_matches(
            self._app, {each.name for each in self._search("")}, n=3, cutoff=0.4
        )
        known = f"; there are {', '.join(map(repr, near))}" if near else ""
        raise StopTheNight(
            f"New Relic account {self._account} has no APM application named {self._app[:100]!r}"
            f"{known}: check NEW_RELIC_APP_NAME and NEW_RELIC_ACCOUNT_ID"
        )

    def _search(self, name: str) -> tuple[Entity, ...]:
        """Applications of exactly this name, or any."""
        query, cursor = nrql.applications(self._account, name), None
        found: list[Entity] = []
        for _ in range(SEARCH_PAGES):
            answer = self._client.ask(documents.FIND_ENTITY, q=query, cursor=cursor)
            page = answer.at("actor", "entitySearch", "results")
            if not isinstance(page, Mapping) or not isinstance(page.get("entities"), list):
                raise Unwell("New Relic left the applications out of its answer: try again")
            rows = [each for each in page["entities"] if isinstance(each, Mapping)]
            found += [_entity(row) for row in rows if row.get("accountId") == self._account]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        return tuple(
            one for one in found if _GUID.fullmatch(one.guid) and (not name or one.name == name)
        )

    def attributes(self) -> Known:
        """Which attributes there are; empty where nothing happened in a day."""
        guids = self.guids
        with self._lock:
            if self._known is not None:
                return self._known
            now = self._clock.now()
            day = Window(since=now - DAY, until=now)
            queries = {
                alias: nrql.keys(event, guids, day)
                for alias, event in (("errors", "TransactionError"), ("traces", "ErrorTrace"))
            }
            try:
                answer = self.ask(**queries)
                found = [_keys(results_of(answer, alias)[0]) for alias in ("errors", "traces")]
            except (GiveUp, TooSlow):
                return Known(complete=False)
            self._known = Known(found[0], found[1])
            return self._known


def _entity(row: Mapping[str, Any]) -> Entity:
    text = new_relic_rows.text
    return Entity(
        guid=text(row.get("guid"), 500),
        name=text(row.get("name"), 500),
        language=text(row.get("language"), 40),
        reporting=row.get("reporting") is not False,
    )


def _keys(rows: list[Any]) -> frozenset[str]:
    """Names of attributes: rows of `key` and `type`, or lists of names in one row."""
    fields = [row for row in rows if isinstance(row, Mapping)]
    listed = [v for row in fields for v in row.values() if isinstance(v, list)]
    named = [row.get("key") for row in fields]
    return frozenset(name for name in (*named, *sum(listed, [])) if isinstance(name, str))
