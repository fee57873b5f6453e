"""Just enough NRQL: strict about escapes, structure and limits; answers from a list of events."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Event = Mapping[str, Any]
LIMIT_MAX = 5_000
LONGEST = 4_096
HOUR = 3_600_000
STANDS_FOR = "nr.weight"  # how many events one stands for, where the agent kept a sample
EVENTS = ("TransactionError", "ErrorTrace", "Transaction")
AGGREGATES = ("count", "uniqueCount", "earliest", "latest", "uniques")
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^'\\\x00-\x1f\x7f]|\\['\\])*')|(?P<number>\d+)"
    r"|(?P<name>[A-Za-z_][\w.]*)|(?P<sign>[(),=*]))"
)
KEYWORDS = frozenset(
    ("SELECT", "FROM", "WHERE", "FACET", "SINCE", "UNTIL", "LIMIT", "TIMESERIES", "ORDER", "BY")
    + ("AND", "OR", "NOT", "IS", "NULL", "TRUE", "FALSE", "LIKE", "IN", "AS", "DESC", "MAX")
    + ("EXTRAPOLATE",)
)


class BadNrql(Exception):
    """What the service says to a query that it does not understand."""


@dataclass
class Query:
    """A parsed query."""

    columns: list[tuple[str, str, str]] = field(default_factory=list)  # function, attribute, key
    event: str = ""
    where: Callable[[Event], bool] = lambda event: True
    facets: list[str] = field(default_factory=list)
    since: int = 0
    until: int = 0
    limit: int | None = None
    hourly: bool = False
    newest_first: bool = False
    extrapolated: bool = False
    literals: list[str] = field(default_factory=list)


class Parser:
    def __init__(self, text: str) -> None:
        if len(text.encode("utf-8", "surrogatepass")) > LONGEST:
            raise BadNrql("NRQL query is longer than 4 KB")
        self.tokens = self._tokens(text)
        self.at = 0
        self.query = Query()

    @staticmethod
    def _tokens(text: str) -> list[tuple[str, str]]:
        found, at = [], 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if not match:
                raise BadNrql(f"NRQL Syntax Error: unexpected {text[at : at + 20]!r}")
            kind = match.lastgroup or ""
            said = match[kind]
            if kind == "text":
                said = re.sub(r"\\(.)", r"\1", said[1:-1])
            elif kind == "name" and said.upper() in KEYWORDS:
                kind, said = "word", said.upper()
            found.append((kind, said))
            at = match.end()
        return found

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, kind: str, *said: str) -> str:
        found = self.peek()
        if found[0] != kind or (said and found[1] not in said):
            raise BadNrql(f"NRQL Syntax Error: expected {said or kind}, found {found[1]!r}")
        self.at += 1
        return found[1]

    def takes(self, kind: str, said: str) -> bool:
        if self.peek() == (kind, said):
            self.at += 1
            return True
        return False

    def parse(self) -> Query:
        query = self.query
        self.take("word", "SELECT")
        query.columns.append(self.column())
        while self.takes("sign", ","):
            query.columns.append(self.column())
        self.take("word", "FROM")
        query.event = self.take("name", *EVENTS)
        seen: set[str] = set()
        while self.peek()[0] != "end":
            clause = self.take(
                "word", "WHERE", "FACET", "SINCE", "UNTIL", "LIMIT", "TIMESERIES", "ORDER",
                "EXTRAPOLATE",
            )  # fmt: skip
            if clause in seen:
                raise BadNrql(f"NRQL Syntax Error: {clause} twice")
            seen.add(clause)
            getattr(self, f"_{clause.lower()}")()
        if not query.until or query.since >= query.until:
            raise BadNrql("NRQL Error: SINCE must be before UNTIL")
        aggregated = any(function for function, _, _ in query.columns)
        if query.facets and not aggregated:
            raise BadNrql("NRQL Error: FACET needs an aggregate")
        return query

    def column(self) -> tuple[str, str, str]:
        name = self.take("name")
        function, attribute = "", name
        if self.takes("sign", "("):
            if name not in AGGREGATES:
                raise BadNrql(f"NRQL Error: unknown function {name}")
            function, attribute = name, ""
            if self.peek()[1] == "*":
                self.take("sign", "*")
            elif self.peek()[0] == "name":
                attribute = self.take("name")
            if self.takes("sign", ","):
                self.take("number")
            self.take("sign", ")")
        key = self.take("text") if self.takes("word", "AS") else f"{function}.{attribute}"
        return function, attribute, key if function else attribute

    def _where(self) -> None:
        self.query.where = self.either()

    def _facet(self) -> None:
        self.query.facets.append(self.take("name"))
        while self.takes("sign", ","):
            self.query.facets.append(self.take("name"))
        if len(self.query.facets) > 5:
            raise BadNrql("NRQL Error: too many facets")

    def _since(self) -> None:
        self.query.since = int(self.take("number"))

    def _until(self) -> None:
        self.query.until = int(self.take("number"))

    def _limit(self) -> None:
        self.query.limit = LIMIT_MAX if self.takes("word", "MAX") else int(self.take("number"))
        if self.query.limit > LIMIT_MAX:
            raise BadNrql("NRQL Error: LIMIT is at most 5000")

    def _timeseries(self) -> None:
        if self.take("number") != "1" or self.take("name") != "hour":
            raise BadNrql("NRQL Syntax Error: TIMESERIES")
        self.query.hourly = True

    def _order(self) -> None:
        self.take("word", "BY")
        self.take("name", "timestamp")
        self.take("word", "DESC")
        self.query.newest_first = True

    def _extrapolate(self) -> None:
        if any(function != "count" for function, _, _ in self.query.columns):
            raise BadNrql("NRQL Error: EXTRAPOLATE does not know that function")
        self.query.extrapolated = True

    def either(self) -> Callable[[Event], bool]:
        parts = [self.both()]
        while self.takes("word", "OR"):
            parts.append(self.both())
        return lambda event: any(part(event) for part in parts)

    def both(self) -> Callable[[Event], bool]:
        parts = [self.condition()]
        while self.takes("word", "AND"):
            parts.append(self.condition())
        return lambda event: all(part(event) for part in parts)

    def condition(self) -> Callable[[Event], bool]:
        if self.takes("sign", "("):
            inner = self.either()
            self.take("sign", ")")
            return inner
        name = self.take("name")
        if self.takes("sign", "="):
            value = self.value()
            return lambda event: event.get(name) == value
        if self.takes("word", "LIKE"):
            parts = [re.escape(part) for part in self.value().split("%")]
            pattern = re.compile(".*".join(parts), re.DOTALL)
            return lambda event: (
                isinstance(event.get(name), str) and bool(pattern.fullmatch(event[name]))
            )
        if self.takes("word", "IN"):
            self.take("sign", "(")
            values = {self.value()}
            while self.takes("sign", ","):
                values.add(self.value())
            self.take("sign", ")")
            return lambda event: event.get(name) in values
        self.take("word", "IS")
        wanted = {"NULL": None, "TRUE": True, "FALSE": False}[
            self.take("word", "NULL", "TRUE", "FALSE")
        ]
        return lambda event: event.get(name) is wanted

    def value(self) -> Any:
        if self.peek()[0] == "number":
            return int(self.take("number"))
        self.query.literals.append(self.take("text"))
        return self.query.literals[-1]


def answer(query: Query, events: Sequence[Event]) -> dict[str, Any]:
    """`results`, `totalResult` and `otherResult` as the service shapes them."""
    chosen = [
        event
        for event in events
        if event["eventType"] == query.event
        and query.since <= event["timestamp"] < query.until
        and query.where(event)
    ]
    chosen.sort(key=lambda event: event["timestamp"])
    if query.facets:
        return _facets(query, chosen)
    if query.columns[0][0]:
        return {"results": [_aggregated(query, chosen)]}
    rows = chosen[::-1] if query.newest_first else chosen
    names = [attribute for _, attribute, _ in query.columns]
    return {
        "results": [{name: row.get(name) for name in names} for row in rows][: query.limit or 100]
    }


def _facets(query: Query, chosen: Sequence[Event]) -> dict[str, Any]:
    found: dict[tuple[Any, ...], list[Event]] = {}
    for event in chosen:
        key = tuple(event.get(name) for name in query.facets)
        if None not in key:
            found.setdefault(key, []).append(event)
    ranked = sorted(found.items(), key=lambda item: -len(item[1]))
    limit = query.limit or 10
    listed, other = ranked[:limit], [event for _, members in ranked[limit:] for event in members]
    rows = [row for key, members in listed for row in _rows(query, key, members)]
    everything = [event for members in found.values() for event in members]
    totals: dict[str, Any] = {
        "totalResult": _aggregated(query, everything),
        "otherResult": _aggregated(query, other),
    }
    if query.hourly:  # the service answers with lists there
        totals = {name: [total] for name, total in totals.items()}
    return {"results": rows, **totals}


def _rows(query: Query, key: tuple[Any, ...], members: Sequence[Event]) -> list[dict[str, Any]]:
    named = dict(zip(query.facets, key, strict=True))
    facet: Any = list(key) if len(key) > 1 else key[0]
    if not query.hourly:
        return [{"facet": facet, **named, **_aggregated(query, members)}]
    if (query.until - query.since) / HOUR > 366:
        raise BadNrql("NRQL Error: more than 366 buckets")
    return [
        {
            "facet": facet,
            **named,
            "beginTimeSeconds": begin / 1_000,
            "endTimeSeconds": (begin + HOUR) / 1_000,
            **_aggregated(query, [e for e in members if begin <= e["timestamp"] < begin + HOUR]),
        }
        for begin in range(query.since, query.until, HOUR)
    ]


def _aggregated(query: Query, members: Sequence[Event]) -> dict[str, Any]:
    told = {key: _value(function, name, members) for function, name, key in query.columns}
    if query.extrapolated:  # by how many each kept event stands for
        total = float(sum(event.get(STANDS_FOR, 1) for event in members))
        told = dict.fromkeys(told, total)
    return told


def _value(function: str, attribute: str, members: Sequence[Event]) -> Any:
    values = [event[attribute] for event in members if event.get(attribute) is not None]
    if function == "count":
        return float(len(members))
    if function == "uniqueCount":
        return float(len(set(values)))
    if function == "uniques":
        return sorted(set(values))
    if not values:
        return None
    return values[0] if function == "earliest" else values[-1]
