"""Which application of New Relic is meant, and what its events hold."""

import difflib
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from nightwatch_core.adapters.new_relic import nrql
from nightwatch_core.adapters.new_relic.answers import Answer, TooSlow, Unwell
from nightwatch_core.adapters.new_relic.limits import (
    KEPT_SECONDS,
    LONGEST_LANGUAGE,
    LONGEST_TITLE,
    MOST_ENTITIES,
    QUERY_SECONDS,
    SEARCH_PAGES,
)
from nightwatch_core.adapters.new_relic.nerdgraph import NerdGraph
from nightwatch_core.adapters.new_relic.rows import results_of, text
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.error import Window
from nightwatch_core.ports import Clock

DAY = timedelta(days=1)
FIND_ENTITY = (
    "query FindEntity($q:String!,$cursor:String){actor{entitySearch(query:$q){count "
    "results(cursor:$cursor){nextCursor entities{guid name accountId "
    "... on ApmApplicationEntityOutline{language reporting}}}}}}"
)
_GUID = re.compile(r"[A-Za-z0-9+/=_-]{1,100}")


@dataclass(frozen=True)
class Entity:
    """An application as New Relic knows it."""

    guid: str
    name: str
    language: str
    reporting: bool


@dataclass(frozen=True)
class Attributes:
    """Names of what the application's events hold; empty where nothing happened in a day."""

    errors: frozenset[str] = frozenset()
    traces: frozenset[str] = frozenset()
    complete: bool = True  # false: they could not be asked for


class Application:
    """One application by name: several entities where several share it. Kept for an hour."""

    def __init__(self, client: NerdGraph, account: int, name: str, clock: Clock) -> None:
        """Ask through `client` when first needed."""
        self._client = client
        self._account = account
        self._name = name
        self._clock = clock
        self._lock = threading.Lock()
        self._entities: tuple[Entity, ...] = ()
        self._attributes: Attributes | None = None
        self._asked_at = 0.0

    @property
    def guids(self) -> tuple[str, ...]:
        """The ids of the entities."""
        return tuple(entity.guid for entity in self.entities())

    def ask(self, **queries: str) -> Answer:
        """Run NRQL texts in one request, each under its alias."""
        variables = {"account": self._account, "timeout": QUERY_SECONDS, **queries}
        return self._client.ask(nrql_document(queries), **variables)

    def entities(self) -> tuple[Entity, ...]:
        """The applications of this name; raises `StopTheNight` where there is none."""
        with self._lock:
            if not self._entities or self._clock.monotonic() - self._asked_at > KEPT_SECONDS:
                self._entities, self._attributes = self._search(self._name), None
                self._asked_at = self._clock.monotonic()
            if len(self._entities) > MOST_ENTITIES:
                raise StopTheNight(
                    f"more than {MOST_ENTITIES} applications of New Relic account {self._account} "
                    f"are named {self._name[:100]!r}: give the one that is meant a name of its own"
                )
            if self._entities:
                return self._entities
        names = {entity.name for entity in self._search("")}
        near = difflib.get_close_matches(self._name, names, n=3, cutoff=0.4)
        others = f"; there are {', '.join(map(repr, near))}" if near else ""
        raise StopTheNight(
            f"New Relic account {self._account} has no APM application named {self._name[:100]!r}"
            f"{others}: check NEW_RELIC_APP_NAME and NEW_RELIC_ACCOUNT_ID"
        )

    def attributes(self) -> Attributes:
        """Which attributes its events have."""
        guids, now = self.guids, self._clock.now()
        with self._lock:
            if self._attributes is not None:
                return self._attributes
            day = Window(since=now - DAY, until=now)
            try:
                answer = self.ask(
                    errors=nrql.keys("TransactionError", guids, day),
                    traces=nrql.keys("ErrorTrace", guids, day),
                )
                errors, traces = (_keys(results_of(answer, a)[0]) for a in ("errors", "traces"))
            except (GiveUp, TooSlow):
                return Attributes(complete=False)
            self._attributes = Attributes(errors, traces)
            return self._attributes

    def _search(self, name: str) -> tuple[Entity, ...]:
        """Applications of exactly this name, or any."""
        query, cursor = nrql.applications(self._account, name), None
        entities: list[Entity] = []
        for _ in range(SEARCH_PAGES):
            answer = self._client.ask(FIND_ENTITY, q=query, cursor=cursor)
            page = answer.at("actor", "entitySearch", "results")
            if not isinstance(page, Mapping) or not isinstance(page.get("entities"), list):
                raise Unwell("New Relic left the applications out of its answer: try again")
            rows = [each for each in page["entities"] if isinstance(each, Mapping)]
            entities += [_entity(row) for row in rows if row.get("accountId") == self._account]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        valid = (entity for entity in entities if _GUID.fullmatch(entity.guid))
        return tuple(entity for entity in valid if not name or entity.name == name)


def nrql_document(aliases: Iterable[str]) -> str:
    """A document that runs several NRQL texts at once, each in a variable of its alias's name.

    >>> nrql_document(("whole",))[:58]
    'query Nrql($account:Int!,$timeout:Seconds!,$whole:Nrql!){a'
    """
    aliases = tuple(aliases)
    variables = "".join(f",${alias}:Nrql!" for alias in aliases)
    parts = " ".join(
        f"{alias}:nrql(query:${alias},timeout:$timeout){{results totalResult otherResult}}"
        for alias in aliases
    )
    return (
        f"query Nrql($account:Int!,$timeout:Seconds!{variables})"
        f"{{actor{{account(id:$account){{{parts}}}}}}}"
    )


def _entity(row: Mapping[str, Any]) -> Entity:
    return Entity(
        guid=text(row.get("guid"), LONGEST_TITLE),
        name=text(row.get("name"), LONGEST_TITLE),
        language=text(row.get("language"), LONGEST_LANGUAGE),
        reporting=row.get("reporting") is not False,
    )


def _keys(rows: list[Any]) -> frozenset[str]:
    """Names of attributes: rows of `key` and `type`, or lists of names in one row."""
    fields = [row for row in rows if isinstance(row, Mapping)]
    lists = [value for row in fields for value in row.values() if isinstance(value, list)]
    names = [row.get("key") for row in fields]
    return frozenset(name for name in (*names, *sum(lists, [])) if isinstance(name, str))
