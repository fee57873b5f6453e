"""Builds NRQL queries: the only place where a value becomes part of one.

Values go through `literal`, and the whole is sent as a GraphQL variable. NRQL's escape rule is not
documented, so names that would need it are asked for by a pattern that is safe without it
(`matching`); the caller compares the rows' names itself. An attribute that events lack is null.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from nightwatch_core.models.errors import Window

LONGEST_QUERY = 4_000  # bytes; the service refuses 4 KB
LONGEST_VALUE = 255  # characters of a name that are compared by the service
_HOUR = 3_600

USERS = ("enduser.id", "userId", "userEmail", "user", "email")
VERSIONS = ("service.version", "tags.service.version", "tags.releaseTag", "appVersion", "release")
COMMITS = ("tags.commit", "commit")
RELEASES = (*VERSIONS, *COMMITS)
NOT_EXPECTED = "(error.expected IS NULL OR error.expected IS FALSE)"
OUTSIDE = "transactionName IS NULL"
FACETS = ("error.class", "transactionName")
DETAIL = (*FACETS, "error.message")
_COLUMNS = (
    "count(*) AS 'n'",  # first, because it ranks the facets
    *(f"uniqueCount({name}) AS 'u{at}'" for at, name in enumerate(USERS)),
    "earliest(timestamp) AS 'first'",
    "latest(timestamp) AS 'last'",
    "latest(error.message) AS 'msg'",
    *(f"latest({name}) AS '{name}'" for name in RELEASES),
    "uniques(host, 20) AS 'hosts'",
)
_ESCAPED = "'\"`\\%"
_PLACEHOLDER = re.compile(r"<[^<>]{0,700}>|\s+")


def literal(text: str) -> str:
    r"""Quote a value.

    Raises `ValueError` for what cannot be said in a query: NUL, newlines and other controls, and
    more than 1,000 characters.

    >>> literal("it's"), literal("App\\Cart"), literal('say "50%"')
    ("'it\\'s'", "'App\\\\Cart'", '\'say "50%"\'')
    """
    if len(text) > 1_000:
        raise ValueError("the value is too long for a query")
    if not text.isprintable():
        raise ValueError("the value holds a control character")
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def matching(name: str, value: str) -> str:
    r"""Return a condition that holds for every row with this `value`, and perhaps for more.

    >>> matching("error.class", "KeyError")
    "error.class = 'KeyError'"
    >>> matching("error.class", "App\\Cart'\n")
    "error.class LIKE 'App%Cart%'"
    """
    if len(value) <= LONGEST_VALUE and not any(map(_needs_escape, value)):
        return f"{name} = {literal(value)}"
    more = "%" if len(value) > LONGEST_VALUE else ""
    return _like(name, value[:LONGEST_VALUE] + more)


def errors(
    guids: Iterable[str], window: Window, facets: tuple[str, ...], condition: str = ""
) -> str:
    """Query unexpected errors counted by `facets`."""
    where = f" AND {condition}" if condition else ""
    rest = f"{where} FACET {', '.join(facets)} {_between(window)} LIMIT MAX"
    return _unexpected(", ".join(_COLUMNS), guids, rest)


def versions(guids: Iterable[str], window: Window, name: str) -> str:
    """Query the failing releases, held by the attribute `name`, and their first time."""
    rest = f" FACET {', '.join(FACETS)}, {name} {_between(window)} LIMIT MAX"
    return _unexpected("count(*) AS 'n', earliest(timestamp) AS 'first'", guids, rest)


def hourly(guids: Iterable[str], window: Window) -> str:
    """Query errors by clock hour, of the hundred most frequent; the first hour is whole."""
    begin = window.since.timestamp() // _HOUR * _HOUR
    whole = Window(since=datetime.fromtimestamp(begin, UTC), until=window.until)
    rest = f" FACET {', '.join(FACETS)} TIMESERIES 1 hour {_between(whole)} LIMIT 100"
    return _unexpected("count(*) AS 'n'", guids, rest)


def count(guids: Iterable[str], window: Window) -> str:
    """Query the number of unexpected errors."""
    return _unexpected("count(*) AS 'n'", guids, f" {_between(window)}")


def traffic(guids: Iterable[str], window: Window) -> str:
    """Query the number of transactions; agents send a sample, hence EXTRAPOLATE."""
    where = f"WHERE {_of_entities(guids)} {_between(window)} EXTRAPOLATE"
    return _bounded(f"SELECT count(*) AS 'n' FROM Transaction {where}")


def occurrences(guids: Iterable[str], window: Window, error_class: str, transaction: str) -> str:
    """Query the newest traced occurrences that may belong to a group."""
    conditions = [_of_entities(guids), matching("error.class", error_class)]
    if transaction:
        pattern = f"%{_PLACEHOLDER.sub('%', transaction)[:LONGEST_VALUE]}%"
        conditions.append(f"({_like('transactionName', pattern)} OR {OUTSIDE})")
    columns = ("id", "timestamp", "entityGuid", *DETAIL, "message", *RELEASES)
    return _bounded(
        f"SELECT {', '.join(columns)} FROM ErrorTrace WHERE {' AND '.join(conditions)} "
        f"{_between(window)} ORDER BY timestamp DESC LIMIT 500"
    )


def applications(account_id: int, name: str = "") -> str:
    """Return the entity search for applications, by name if given.

    >>> applications(1, "shop")
    "domain = 'APM' AND type = 'APPLICATION' AND accountId = 1 AND name = 'shop'"
    """
    named = f" AND {matching('name', name)}" if name else ""
    return f"domain = 'APM' AND type = 'APPLICATION' AND accountId = {int(account_id)}{named}"


def _unexpected(columns: str, guids: Iterable[str], rest: str) -> str:
    where = f"{_of_entities(guids)} AND {NOT_EXPECTED}"
    return _bounded(f"SELECT {columns} FROM TransactionError WHERE {where}{rest}")


def _between(window: Window) -> str:
    since, until = (round(at.timestamp() * 1_000) for at in (window.since, window.until))
    return f"SINCE {since} UNTIL {until}"


def _of_entities(guids: Iterable[str]) -> str:
    return f"entityGuid IN ({', '.join(map(literal, guids))})"


def _like(name: str, pattern: str) -> str:
    safe = "".join("%" if _needs_escape(character) else character for character in pattern)
    return f"{name} LIKE {literal(re.sub('%+', '%', safe))}"


def _needs_escape(character: str) -> bool:
    return character in _ESCAPED or not character.isprintable()


def _bounded(query: str) -> str:
    if len(query.encode()) > LONGEST_QUERY:
        raise ValueError("the query is longer than the service takes")
    return query
