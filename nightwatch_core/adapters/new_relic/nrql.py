"""Texts of NRQL queries: the only place where a value becomes part of one.

Attributes are named here alone, values go through `literal`, and the whole is sent as a GraphQL
variable. NRQL's escape rule is not documented, so names that would need it are asked for by a
pattern that is safe without it (`matching`); the caller compares the rows' names itself.
"""

import re
from collections.abc import Iterable

from nightwatch_core.models.error import Window

LONGEST_QUERY = 4_000  # bytes; the service refuses 4 KB
LONGEST_VALUE = 255  # characters of a name that are compared by the service
MAX_HOURS = 168
_HOUR = 3_600

USERS = ("enduser.id", "userId", "userEmail", "user", "email")
VERSIONS = ("service.version", "tags.service.version", "tags.releaseTag", "appVersion", "release")
COMMITS = ("tags.commit", "commit")
HOSTS = ("host", "hostname", "host.name", "tags.host")
INBOX_GROUP = "error.group.guid"
NOT_EXPECTED = "(error.expected IS NULL OR error.expected IS FALSE)"
FACETS = ("error.class", "transactionName")
DETAIL = (*FACETS, "error.message")
_NEEDS_ESCAPE = "'\"`\\%"
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
    if len(value) <= LONGEST_VALUE and not any(map(_odd, value)):
        return f"{name} = {literal(value)}"
    more = "%" if len(value) > LONGEST_VALUE else ""
    return _like(name, value[:LONGEST_VALUE] + more)


def like_template(name: str, template: str) -> str:
    """A condition that holds for every row whose attribute has this template, and for more.

    >>> like_template("transactionName", "GET /orders/<n>")
    "transactionName LIKE '%GET%/orders/%'"
    """
    return _like(name, f"%{_PLACEHOLDER.sub('%', template)[:LONGEST_VALUE]}%")


def between(window: Window) -> str:
    """SINCE and UNTIL, in milliseconds since 1970.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 11, 3, tzinfo=UTC)
    >>> between(Window(since=day, until=day))
    'SINCE 1793664000000 UNTIL 1793664000000'
    """
    since, until = (round(at.timestamp() * 1_000) for at in (window.since, window.until))
    return f"SINCE {since} UNTIL {until}"


def of_entities(guids: Iterable[str]) -> str:
    """The condition that an event belongs to one of the applications.

    >>> of_entities(("MTIzfEFQTQ",))
    "entityGuid IN ('MTIzfEFQTQ')"
    """
    return f"entityGuid IN ({', '.join(literal(guid) for guid in guids)})"


def keys(event: str, guids: Iterable[str], window: Window) -> str:
    """Which attributes the application's events have."""
    return f"SELECT keyset() FROM {event} WHERE {of_entities(guids)} {between(window)}"


def errors(
    guids: Iterable[str], window: Window, known: frozenset[str], facets: tuple[str, ...]
) -> str:
    """Unexpected errors counted by `facets`; the count comes first, because it ranks the facets."""
    columns = ["count(*) AS 'n'"]
    columns += [f"uniqueCount({name}) AS 'u{at}'" for at, name in enumerate(USERS) if name in known]
    columns += ["earliest(timestamp) AS 'first'", "latest(timestamp) AS 'last'"]
    columns += ["latest(error.message) AS 'msg'"]
    for key, names in (("ver", VERSIONS), ("commit", COMMITS), ("inbox", (INBOX_GROUP,))):
        name = first_of(names, known)
        columns += [f"latest({name}) AS '{key}'"] if name else []
    host = first_of(HOSTS, known)
    columns += [f"uniques({host}, 20) AS 'hosts'"] if host else []
    return _query(
        f"SELECT {', '.join(columns)} FROM TransactionError",
        f"WHERE {of_entities(guids)} AND {NOT_EXPECTED}",
        f"FACET {', '.join(facets)} {between(window)} LIMIT MAX",
    )


def versions(guids: Iterable[str], window: Window, name: str) -> str:
    """Which releases were seen failing, and since when."""
    return _query(
        "SELECT count(*) AS 'n', earliest(timestamp) AS 'first' FROM TransactionError",
        f"WHERE {of_entities(guids)} AND {NOT_EXPECTED}",
        f"FACET {', '.join(FACETS)}, {name} {between(window)} LIMIT MAX",
    )


def hourly(guids: Iterable[str], window: Window) -> str:
    """Errors by clock hour, of the hundred most frequent.

    The first hour is asked for whole, so that the buckets are clock hours.
    """
    begin = int(window.since.timestamp()) // _HOUR * _HOUR * 1_000
    until = round(window.until.timestamp() * 1_000)
    return _query(
        "SELECT count(*) AS 'n' FROM TransactionError",
        f"WHERE {of_entities(guids)} AND {NOT_EXPECTED}",
        f"FACET {', '.join(FACETS)} TIMESERIES 1 hour SINCE {begin} UNTIL {until} LIMIT 100",
    )


def occurrences(
    guids: Iterable[str], window: Window, error_class: str, transaction: str, version: str
) -> str:
    """The newest traced occurrences that may belong to a group, for the caller to choose from."""
    conditions = [of_entities(guids), matching("error.class", error_class)]
    conditions += [like_template("transactionName", transaction)] if transaction else []
    release = f", {version}" if version else ""
    return _query(
        "SELECT id, timestamp, entityGuid, error.class, error.message, message, transactionName"
        f"{release} FROM ErrorTrace",
        f"WHERE {' AND '.join(conditions)}",
        f"{between(window)} ORDER BY timestamp DESC LIMIT 500",
    )


def count(guids: Iterable[str], window: Window) -> str:
    """How many unexpected errors there are."""
    return _query(
        "SELECT count(*) AS 'n' FROM TransactionError",
        f"WHERE {of_entities(guids)} AND {NOT_EXPECTED} {between(window)}",
    )


def traffic(guids: Iterable[str], window: Window) -> str:
    """How many transactions there were; agents send a sample of many, hence EXTRAPOLATE."""
    return _query(
        "SELECT count(*) AS 'n' FROM Transaction",
        f"WHERE {of_entities(guids)} {between(window)} EXTRAPOLATE",
    )


def applications(account_id: int, name: str = "") -> str:
    """The entity search (not NRQL, but of its shape) for applications, by name where given.

    >>> applications(1, "shop")
    "domain = 'APM' AND type = 'APPLICATION' AND accountId = 1 AND name = 'shop'"
    """
    named = f" AND {matching('name', name)}" if name else ""
    return f"domain = 'APM' AND type = 'APPLICATION' AND accountId = {int(account_id)}{named}"


def first_of(names: Iterable[str], known: frozenset[str]) -> str:
    """The first name that is known, or nothing.

    >>> first_of(VERSIONS, frozenset({"release", "tags.releaseTag"}))
    'tags.releaseTag'
    """
    return next((name for name in names if name in known), "")


def _like(name: str, pattern: str) -> str:
    safe = "".join("%" if _odd(character) else character for character in pattern)
    return f"{name} LIKE {literal(_MANY.sub('%', safe))}"


def _odd(character: str) -> bool:
    return character in _NEEDS_ESCAPE or not character.isprintable()


def _query(*parts: str) -> str:
    text = " ".join(parts)
    if len(text.encode()) > LONGEST_QUERY:
        raise ValueError("the query is longer than the service takes")
    return text
