"""NerdGraph over HTTP: every failure typed, also those that New Relic puts inside a 200."""

import json
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import httpx

from nightwatch_core.adapters.new_relic.answers import (
    Answer,
    BadKey,
    Failure,
    Throttled,
    TooSlow,
    Unwell,
    failed_status,
    failure,
    listed,
    throttled,
)
from nightwatch_core.adapters.stores.traffic import (
    METER,
    Bounds,
    ServiceMeter,
    bounded,
    certificates,
    json_of,
    note,
)
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.errors import Window
from nightwatch_core.text.plain_text import graphql_texts, retry_after

AT_ONCE = 4  # requests; New Relic advises at most 5 complex queries of one user at a time
QUERY_SECONDS = 60  # the longest that NRQL may run on every plan; its default is 5
DEADLINE = QUERY_SECONDS + 30.0  # seconds of one request, however slowly its bytes drip
LONGEST_WAIT = 60.0  # seconds; told to come back later than that, we do not wait at all
LONGEST_BODY = 16_000_000  # bytes of an answer
LONGEST_QUERY = 4_000  # bytes; the service refuses 4 KB
LONGEST_VALUE = 255  # characters of a name that are compared by the service
LONGEST_TITLE = 500  # of an entity, a function, a row that cannot be read
LONGEST_LABEL = 200  # of a host, a release, an id, New Relic's words in a message
LONGEST_LANGUAGE = 40
LAG = timedelta(minutes=3)  # agents send once a minute, and New Relic needs its time
AROUND = timedelta(seconds=100)  # traces stand a little beside the events they belong to
LONGEST_TRACE_WINDOW = timedelta(days=8)  # New Relic keeps traces about so long
RELEASES_SINCE = timedelta(days=30)

REGIONS: Mapping[str, str] = {
    "US": "https://api.newrelic.com/graphql",
    "EU": "https://api.eu.newrelic.com/graphql",
    "JP": "https://api.jp.newrelic.com/graphql",
    "FEDRAMP": "https://gov-api.newrelic.com/graphql",
}
TIMES = httpx.Timeout(connect=5.0, read=QUERY_SECONDS + 10.0, write=10.0, pool=120.0)
_DAY = 86_400.0  # seconds
SERVICE = "New Relic"
QUERIES = graphql_texts("nightwatch_core.adapters.new_relic")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class NerdGraph:
    """Asks NerdGraph; safe to share between threads."""

    def __init__(
        self,
        api_key: str,
        url: str,
        times: httpx.Timeout | float = TIMES,
        deadline: float = DEADLINE,
        pause: Callable[[float], None] = time.sleep,
        meter: ServiceMeter = METER,
    ) -> None:
        """Ask at `url`, a region's name or an address; nothing is asked yet."""
        self._key = api_key.strip()
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise BadKey("NEW_RELIC_API_KEY is empty or no key: make a user key (NRAK-…)")
        self._url = address(url)
        self._pause = pause
        self._meter = meter
        self._gate = threading.BoundedSemaphore(AT_ONCE)
        bounds = Bounds(SERVICE, LONGEST_BODY, deadline, too_large=_too_large, too_slow=TooSlow)
        self._client = httpx.Client(
            headers={"Api-Key": self._key, "Accept": "application/json"},
            timeout=times,
            verify=certificates(),
            trust_env=self._url.startswith("https:"),  # else a proxy would read along
            event_hooks={"request": [note(SERVICE)], "response": [bounded(bounds)]},
        )
        weakref.finalize(self, self._client.close)

    def ask(self, query: str, **variables: object) -> Answer:
        """Ask once, and once more where New Relic is throttled or unwell.

        Told to wait for more than `LONGEST_WAIT` seconds it gives up at once. Raises `TryLater` or
        `StopTheNight` where there is no answer, or none of its parts came.
        """
        try:
            answer, wait = self._counted(query, variables), 1.0
            if not any(isinstance(f.error, Throttled | Unwell) for f in answer.failures):
                return answer
        except (Throttled, Unwell) as error:
            wait = error.wait if isinstance(error, Throttled) else 1.0
            if wait > LONGEST_WAIT:
                raise
        self._meter.wait(SERVICE, wait)
        self._pause(wait)
        return self._counted(query, variables)

    def _counted(self, query: str, variables: Mapping[str, object]) -> Answer:
        with self._meter.request(SERVICE):
            return self._asked(query, variables)

    def _asked(self, query: str, variables: Mapping[str, object]) -> Answer:
        status, headers, body = self._exchange(json.dumps({"query": query, "variables": variables}))
        error = failed_status(status, self._clean(body[:500].decode("utf-8", "replace")))
        asked = retry_after(headers.get("Retry-After", ""), time.time())
        if isinstance(error, Throttled) and asked is not None:
            raise throttled(min(max(asked, 1.0), _DAY))
        if error:
            raise error
        try:
            document = json_of(body)
        except ValueError:
            raise Unwell("New Relic's answer is cut off or no JSON: try again") from None
        if not isinstance(document, dict) or not isinstance(document.get("data", {}), dict | None):
            raise Unwell("New Relic's answer is not of GraphQL's shape: check NEW_RELIC_API_URL")
        failures = tuple(failure(item, self._clean) for item in listed(document.get("errors")))
        final = next((f.error for f in failures if isinstance(f.error, BadKey)), None)
        if final:
            raise final
        data = document.get("data")
        if data is None and not failures:
            raise Unwell("New Relic answered nothing: try again in some minutes")
        pathless = tuple(Failure((), f.error) for f in failures) if data is None else failures
        return Answer(data or {}, pathless)

    def _exchange(self, content: str) -> tuple[int, httpx.Headers, bytes]:
        headers = {"Content-Type": "application/json"}
        with self._gate:
            try:
                with self._client.stream(
                    "POST", self._url, content=content.encode(), headers=headers
                ) as answer:
                    return answer.status_code, answer.headers, answer.read()
            except httpx.TimeoutException:
                raise TooSlow(
                    "New Relic did not answer in time: try again, or shorten the window"
                ) from None
            except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
                raise Unwell(
                    f"New Relic cannot be reached ({type(error).__name__}): check the network and "
                    "NEW_RELIC_API_URL"
                ) from None

    def _clean(self, text: str) -> str:
        """A vendor's words for a message of ours: one line, short, without the key."""
        line = " ".join(re.sub(r"[^\x20-\x7e\xa0-\uffff]", " ", text[:2_000]).split())
        return line.replace(self._key, "…")[:LONGEST_LABEL]


def address(url: str) -> str:
    """Return the address for a region's name or an address.

    Raises `StopTheNight` for anything else: the key is sent there, so it must be https, or this
    machine.

    >>> address("eu"), address("http://127.0.0.1:8080/graphql")
    ('https://api.eu.newrelic.com/graphql', 'http://127.0.0.1:8080/graphql')
    """
    region = REGIONS.get(url.strip().upper() or "US")
    if region:
        return region
    try:
        parts = urlsplit(url.strip())
        safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    except ValueError:
        safe = False
    if not safe or not parts.hostname:
        names = ", ".join(REGIONS)
        raise StopTheNight(
            f"NEW_RELIC_REGION must be one of {names}, and NEW_RELIC_API_URL an https address"
        )
    return url.strip()


def _too_large(_: str) -> TooSlow:
    """Half a window has a smaller answer."""
    return TooSlow("New Relic's answer is too large: shorten the window with --since")


# Texts of NRQL queries: the only place where a value becomes part of one.
#
# Attributes are named here alone, values go through `literal`, and the whole is sent as a GraphQL
# variable. NRQL's escape rule is not documented, so names that would need it are asked for by a
# pattern that is safe without it (`matching`); the caller compares the rows' names itself.

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


def keys(event: str, guids: Iterable[str], window: Window) -> str:
    """Query the attributes of the application's events."""
    return f"SELECT keyset() FROM {event} WHERE {_of_entities(guids)} {_between(window)}"


def errors(
    guids: Iterable[str], window: Window, attributes: frozenset[str], facets: tuple[str, ...]
) -> str:
    """Query unexpected errors counted by `facets`; the count comes first, because it ranks them."""
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
    """Query the failing releases and their first time."""
    rest = f"FACET {', '.join(FACETS)}, {name} {_between(window)} LIMIT MAX"
    return _unexpected("count(*) AS 'n', earliest(timestamp) AS 'first'", guids, rest)


def hourly(guids: Iterable[str], window: Window) -> str:
    """Query errors by clock hour, of the hundred most frequent.

    The first hour is asked for whole, so that the buckets are clock hours.
    """
    begin = window.since.timestamp() // _HOUR * _HOUR
    whole = Window(since=datetime.fromtimestamp(begin, UTC), until=window.until)
    rest = f"FACET {', '.join(FACETS)} TIMESERIES 1 hour {_between(whole)} LIMIT 100"
    return _unexpected("count(*) AS 'n'", guids, rest)


def count(guids: Iterable[str], window: Window) -> str:
    """Query the number of unexpected errors."""
    return _unexpected("count(*) AS 'n'", guids, _between(window))


def traffic(guids: Iterable[str], window: Window) -> str:
    """Query the number of transactions; agents send a sample, hence EXTRAPOLATE."""
    where = f"WHERE {_of_entities(guids)} {_between(window)} EXTRAPOLATE"
    return _bounded(f"SELECT count(*) AS 'n' FROM Transaction {where}")


def occurrences(
    guids: Iterable[str], window: Window, error_class: str, transaction: str, release: str
) -> str:
    """Query the newest traced occurrences that may belong to a group."""
    conditions = [_of_entities(guids), matching("error.class", error_class)]
    conditions += (
        [_like("transactionName", f"%{_PLACEHOLDER.sub('%', transaction)[:LONGEST_VALUE]}%")]
        if transaction
        else []
    )
    columns = ["id", "timestamp", "entityGuid", "error.class", "error.message", "message"]
    columns += ["transactionName", *([release] if release else [])]
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


def first_of(names: Iterable[str], attributes: frozenset[str]) -> str:
    """Return the first name among the attributes; empty where there is none.

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


def _like(name: str, pattern: str) -> str:
    safe = "".join("%" if _needs_escape(character) else character for character in pattern)
    return f"{name} LIKE {literal(_MANY.sub('%', safe))}"


def _needs_escape(character: str) -> bool:
    return character in _ESCAPED or not character.isprintable()


def _bounded(query: str) -> str:
    if len(query.encode()) > LONGEST_QUERY:
        raise ValueError("the query is longer than the service takes")
    return query
