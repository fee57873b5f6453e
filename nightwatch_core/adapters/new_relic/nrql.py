"""Texts of NRQL queries: the only place where a value becomes part of one.

Attributes are named here alone, values go through `literal`, and the whole is sent as a GraphQL
variable. NRQL's escape rule is not documented, so names that would need it are asked for by a
pattern that is safe without it (`matching`); the caller compares the rows' names itself.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from nightwatch_core.adapters.new_relic.limits import LONGEST_QUERY, LONGEST_VALUE
from nightwatch_core.models.error import Window

_HOUR = 3_600

USERS = ("enduser.id", "userId", "userEmail", "user", "email")
VERSIONS = ("service.version", "tags.service.version", "tags.releaseTag", "appVersion", "release")
COMMITS = ("tags.commit", "commit")
RELEASES = (*VERSIONS, *COMMITS)
HOSTS = ("host", "hostname", "host.name", "tags.host")
INBOX_GROUP = "error.group.guid"
NOT_EXPECTED = "(error.expected IS NULL OR error.expected IS FALSE)"
FACETS = ("error.class", "transactionName")
DETAIL = (*FACETS, "error.message")
_ESCAPED = "'\"`\\%"
_PLACEHOLDER = re.compile(r"<[^<>]{0,700}>|\s+")
_MANY = re.compile("%+")


def literal(text: str) -> str:
    r"""A value in quotes.

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
    r"""A condition that holds for every row whose attribute is `value`, and perhaps for more.

    >>> matching("error.class", "KeyError")
    "error.class = 'KeyError'"
    >>> matching("error.class", "App\\Cart'\n")
    "error.class LIKE 'App%Cart%'"
    """
    if len(value) <= LONGEST_VALUE and not any(map(_needs_escape, value)):
        return f"{name} = {literal(value)}"
    more = "%" if len(value) > LONGEST_VALUE else ""
    return _like(name, value[:LONGEST_VALUE] + more)


def keys(event: str, guids: Iterable[str], window: Window) -> str:
    """Which attributes the application's events have."""
    return f"SELECT keyset() FROM {event} WHERE {_of_entities(guids)} {_between(window)}"


def errors(
    guids: Iterable[str], window: Window, attributes: frozenset[str], facets: tuple[str, ...]
) -> str:
    """Unexpected errors counted by `facets`; the count comes first, because it ranks the facets."""
    columns = ["count(*) AS 'n'"]
    columns += [
        f"uniqueCount({name}) AS 'u{at}'" for at, name in enumerate(USERS) if name in attributes
    ]
    columns += ["earliest(timestamp) AS 'first'", "latest(timestamp) AS 'last'"]
    columns += ["latest(error.message) AS 'msg'"]
    for key, names in (("ver", VERSIONS), ("commit", COMMITS), ("inbox", (INBOX_GROUP,))):
        name = first_of(names, attributes)
        columns += [f"latest({name}) AS '{key}'"] if name else []
    host = first_of(HOSTS, attributes)
    columns += [f"uniques({host}, 20) AS 'hosts'"] if host else []
    rest = f"FACET {', '.join(facets)} {_between(window)} LIMIT MAX"
    return _unexpected(", ".join(columns), guids, rest)


def versions(guids: Iterable[str], window: Window, name: str) -> str:
    """Which releases were seen failing, and since when."""
    rest = f"FACET {', '.join(FACETS)}, {name} {_between(window)} LIMIT MAX"
    return _unexpected("count(*) AS 'n', earliest(timestamp) AS 'first'", guids, rest)


def hourly(guids: Iterable[str], window: Window) -> str:
    """Errors by clock hour, of the hundred most frequent.

    The first hour is asked for whole, so that the buckets are clock hours.
    """
    begin = window.since.timestamp() // _HOUR * _HOUR
    whole = Window(since=datetime.fromtimestamp(begin, UTC), until=window.until)
    rest = f"FACET {', '.join(FACETS)} TIMESERIES 1 hour {_between(whole)} LIMIT 100"
    return _unexpected("count(*) AS 'n'", guids, rest)


def count(guids: Iterable[str], window: Window) -> str:
    """How many unexpected errors there are."""
    return _unexpected("count(*) AS 'n'", guids, _between(window))


def traffic(guids: Iterable[str], window: Window) -> str:
    """How many transactions there were; agents send a sample of many, hence EXTRAPOLATE."""
    where = f"WHERE {_of_entities(guids)} {_between(window)} EXTRAPOLATE"
    return _bounded(f"SELECT count(*) AS 'n' FROM Transaction {where}")


def occurrences(
    guids: Iterable[str], window: Window, error_class: str, transaction: str, release: str
) -> str:
    """The newest traced occurrences that may belong to a group, for the caller to choose from."""
    conditions = [_of_entities(guids), matching("error.class", error_class)]
    conditions += [_like_template("transactionName", transaction)] if transaction else []
    columns = ["id", "timestamp", "entityGuid", "error.class", "error.message", "message"]
    columns += ["transactionName", *([release] if release else [])]
    return _bounded(
        f"SELECT {', '.join(columns)} FROM ErrorTrace WHERE {' AND '.join(conditions)} "
        f"{_between(window)} ORDER BY timestamp DESC LIMIT 500"
    )


def applications(account_id: int, name: str = "") -> str:
    """The entity search (not NRQL, but of its shape) for applications, by name where given.

    >>> applications(1, "shop")
    "domain = 'APM' AND type = 'APPLICATION' AND accountId = 1 AND name = 'shop'"
    """
    named = f" AND {matching('name', name)}" if name else ""
    return f"domain = 'APM' AND type = 'APPLICATION' AND accountId = {int(account_id)}{named}"


def first_of(names: Iterable[str], attributes: frozenset[str]) -> str:
    """The first name that is among the attributes; empty where none is.

    >>> first_of(VERSIONS, frozenset({"release", "tags.releaseTag"}))
    'tags.releaseTag'
    """
    return next((name for name in names if name in attributes), "")


def _unexpected(columns: str, guids: Iterable[str], rest: str) -> str:
    where = f"{_of_entities(guids)} AND {NOT_EXPECTED}"
    return _bounded(f"SELECT {columns} FROM TransactionError WHERE {where} {rest}")


def _between(window: Window) -> str:
    since, until = (round(at.timestamp() * 1_000) for at in (window.since, window.until))
    return f"SINCE {since} UNTIL {until}"


def _of_entities(guids: Iterable[str]) -> str:
    return f"entityGuid IN ({', '.join(map(literal, guids))})"


def _like_template(name: str, template: str) -> str:
    """A condition that holds for every row whose attribute has this template, and for more."""
    return _like(name, f"%{_PLACEHOLDER.sub('%', template)[:LONGEST_VALUE]}%")


def _like(name: str, pattern: str) -> str:
    safe = "".join("%" if _needs_escape(character) else character for character in pattern)
    return f"{name} LIKE {literal(_MANY.sub('%', safe))}"


def _needs_escape(character: str) -> bool:
    return character in _ESCAPED or not character.isprintable()


def _bounded(query: str) -> str:
    if len(query.encode()) > LONGEST_QUERY:
        raise ValueError("the query is longer than the service takes")
    return query
