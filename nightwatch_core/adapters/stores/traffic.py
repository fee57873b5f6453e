"""Network traffic: counted, listed, and limited per answer."""

import hashlib
import json
import re
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from queue import Empty, Queue
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx

from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.journal.pieces import canonical, name_of
from nightwatch_core.journal.requests import Outcome, destinations
from nightwatch_core.models.journal import Event
from nightwatch_core.models.options import Destination, ServiceCalls
from nightwatch_core.models.value import Value
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import data_table

T = TypeVar("T")


@dataclass
class Traffic:
    """Result of a request: whether it failed."""

    failed: bool = False


_watched: ContextVar[Traffic | None] = ContextVar("watched", default=None)


@contextmanager
def watched() -> Iterator[Traffic]:
    """Watch what this thread sends within the block, and nothing of it for blocks around it."""
    traffic = Traffic()
    before = _watched.set(traffic)
    try:
        yield traffic
    finally:
        _watched.reset(before)


@contextmanager
def sending() -> Iterator[None]:
    """Note a request that raises as failed."""
    try:
        yield
    except Exception:
        if traffic := _watched.get():
            traffic.failed = True
        raise


# What leaves the machine is written into the journal before it is sent.

_MASKED_BEFORE = "Claude"  # and too large to be looked through for every turn
Add = Callable[[Event, Mapping[str, str]], object]  # takes an event, and the texts that it names


class Outgoing:
    """Notes what one process sends, and how services answer; safe for threads."""

    def __init__(self) -> None:
        """Count only, until there is a journal."""
        self._guard = threading.Lock()
        self._add: Add = lambda event, texts: None
        self._scrub: Callable[[str], str] = str
        self._events: list[Event] = []

    def begin(self, add: Add, scrub: Callable[[str], str]) -> None:
        """Give events to `add` from now on; what holds files of the code goes through `scrub`."""
        with self._guard:
            self._add, self._scrub = add, scrub
            self._events.clear()

    def sent(self, service: str, method: str, address: str, body: bytes = b"") -> None:
        """Note a request that is about to be sent."""
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2]
        text, to = body, urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
        if service != _MASKED_BEFORE:
            # Files of a draft, and what is looked up, are sent as they are.
            plain = self._scrub(body.decode("utf-8", "surrogateescape"))
            text, to = plain.encode("utf-8", "surrogateescape"), self._scrub(to)
        kept = canonical(text.decode("utf-8", "surrogateescape")) if body else ""
        event = Event(
            at=datetime.now(UTC),
            port=service,
            call=method,
            to=to,
            sent=len(body),
            asked=name_of(kept) if body else "",
            exact=hashlib.sha256(body).hexdigest() if body else "",
            masked=text != body,
        )
        self.note(event, {name_of(kept): kept} if body else {})

    def outcome(self, service: str, call: Outcome, text: str = "", seconds: float = 0.0) -> None:
        """Note how a service answered."""
        kept = canonical(text)
        event = Event(
            at=datetime.now(UTC),
            port=service,
            call=call,
            answer=name_of(kept) if text else "",
            ms=round(seconds * 1_000),
        )
        self.note(event, {name_of(kept): kept} if text else {})

    def note(self, event: Event, texts: Mapping[str, str]) -> None:
        """Add an event."""
        with self._guard:
            self._events.append(event)
        self._add(event, texts)

    def destinations(self) -> tuple[Destination, ...]:
        """Return the bytes that this process sent to each host."""
        with self._guard:
            return destinations(self._events)


MANIFEST = Outgoing()
"""Of this process, in which every adapter notes what it sends."""


@cache
def certificates() -> ssl.SSLContext:
    """Return the certificates to trust; reading them takes longer than asking a service."""
    return httpx.create_ssl_context()


def note(service: str) -> Callable[[Any], None]:
    """Return a hook for requests of an HTTP client: what they are is noted."""

    def hook(request: Any) -> None:
        MANIFEST.sent(service, request.method, str(request.url), request.read())

    return hook


# Counts requests to services, and limits what a night waits for one of them.

LONGEST_TROUBLE = 200  # characters
PATIENCE = 900.0  # seconds of pauses that a night makes for one service
LOST = 900.0  # seconds of requests without an answer in a row, then it is hardly asked
SELDOM = 60.0  # seconds between two such requests from then on


class ServiceMeter:
    """Counts of requests by service since the last reset; safe for threads."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing sent; `now` in seconds since some moment."""
        self._guard = threading.Lock()
        self._calls: dict[str, ServiceCalls] = {}
        self._lost: dict[str, float] = {}  # seconds since the last answer, by service
        self._asked: dict[str, float] = {}  # when it was asked last
        self._now = now

    def reset(self) -> None:
        """Forget everything: a night begins."""
        with self._guard:
            self._calls.clear()
            self._lost.clear()

    def calls(self) -> Mapping[str, ServiceCalls]:
        """Return the requests of this process so far by service."""
        with self._guard:
            return dict(self._calls)

    @contextmanager
    def request(
        self, service: str, refusals: tuple[type[Exception], ...] = (StopTheNight,)
    ) -> Iterator[None]:
        """Count the block as one request; raises `TryLater` if the service has long been silent."""
        began = self.begin(service)
        try:
            yield
        except Exception as error:
            self.count(service, error, refusals, began=began)
            raise
        self.count(service)

    def begin(self, service: str) -> float:
        """Return when a request begins; raises `TryLater` where nothing came of so many before."""
        with self._guard:
            now, lost = self._now(), self._lost.get(service, 0.0)
            if lost >= LOST and now - self._asked[service] < SELDOM:
                raise TryLater(
                    f"{service} did not answer for {lost:,.0f} s; now one request a "
                    "minute is sent. The next night tries again"
                )
            self._asked[service] = now
            return now

    def count(
        self,
        service: str,
        error: Exception | None = None,
        refusals: tuple[type[Exception], ...] = (StopTheNight,),
        *,
        began: float | None = None,
    ) -> None:
        """Count a request that was answered, or that ended with `error`; `began` is its start.

        One of `refusals` is a refusal, another `GiveUp` an answer, anything else no answer.
        """
        refused = isinstance(error, refusals)
        failed = refused or (error is not None and not isinstance(error, GiveUp))
        # of a vendor's exception the name alone: its text may hold anything
        shown = str(error) if isinstance(error, NightWatchError) else type(error).__name__
        trouble = line(shown, LONGEST_TROUBLE)
        call: Outcome = "refused" if refused else "unanswered" if failed else "answered"
        MANIFEST.outcome(service, call, trouble if failed else "")
        with self._guard:
            if not failed:
                self._lost.pop(service, None)
            elif began is not None:
                self._lost[service] = self._lost.get(service, 0.0) + self._now() - began
            before = self._before(service)
            self._set(
                before,
                requests=before.requests + 1,
                unanswered=before.unanswered + (failed and not refused),
                refused=before.refused + refused,
                trouble=trouble if failed else before.trouble,
                is_last_well=not failed,
            )

    def wait(self, service: str, seconds: float) -> None:
        """Count a pause; raises `TryLater` where the night has waited long enough."""
        with self._guard:
            before = self._before(service)
            if before.waited + seconds > PATIENCE:
                raise TryLater(
                    f"{service} asks to wait {seconds:,.0f} s more, after "
                    f"{before.waited:,.0f} s this night: the next night tries again"
                )
            self._set(before, waits=before.waits + 1, waited=before.waited + max(seconds, 0.0))
        MANIFEST.outcome(service, "waited", seconds=max(seconds, 0.0))

    def expires(self, service: str, at: datetime) -> None:
        """Note when the service says that its sign-in ends."""
        with self._guard:
            self._set(self._before(service), expires=at)
        MANIFEST.outcome(service, "expires", at.isoformat())

    def _before(self, service: str) -> ServiceCalls:
        return self._calls.get(service) or ServiceCalls(service=service)

    def _set(self, before: ServiceCalls, **changes: Any) -> None:
        self._calls[before.service] = before.model_copy(update=changes)


METER = ServiceMeter()
"""Of this process, which the adapters count in unless they are given another one."""


class Refusal(Value):
    """An error that a service answers with, what it means, and what helps."""

    error: str  # name of our exception
    text: str
    kind: str = ""  # the service's own name
    statuses: tuple[int, ...] = ()
    words: tuple[str, ...] = ()


def refusals(package: str) -> tuple[Refusal, ...]:
    """Read a refusals.toml; raises `ValidationError` where it is wrong."""
    return data_table(package, "refusals.toml", dict[str, tuple[Refusal, ...]])["refusals"]


# Services that ask for fewer requests, or are unwell for a moment, are asked once more.

LONGEST_WAIT = 60.0  # seconds; asked to come back later than that, we do not wait at all


class Throttled(TryLater):
    """A service asks for fewer requests, and to wait that many seconds."""

    wait = 1.0


class Unwell(TryLater):
    """A service, or the way to it, is unwell."""


def throttled(service: str, status: int, wait: float) -> Throttled:
    """Return the exception for a service that asks to wait: a second at least, at most a day."""
    wait = min(max(wait, 1.0), 86_400.0)
    error = Throttled(
        f"{service} asks for fewer requests, and to wait {wait:,.0f} seconds: try again after that "
        f"(HTTP {status})"
    )
    error.wait = wait
    return error


def asked_twice(
    service: str,
    ask: Callable[[], T],
    pause: Callable[[float], None],
    is_well: Callable[[T], bool] = lambda _: True,
) -> T:
    """Ask, and once more where the service is throttled or unwell, or its answer is not well.

    Raises what the second one raises, and `Throttled` for more than `LONGEST_WAIT` seconds.
    """
    wait = 1.0
    try:
        answer = ask()
        if is_well(answer):
            return answer
    except Throttled as error:
        wait = error.wait
        if wait > LONGEST_WAIT:
            raise
    except Unwell:
        pass
    METER.wait(service, wait)
    pause(wait)
    return ask()


# Answers of services, limited in bytes and seconds. HTTP libraries unpack a piece whole, a
# thousandfold if it is made so: here 64 KiB are unpacked at a time and counted.

VALUES = 2_000_000  # of one JSON document; an empty one takes 64 bytes of memory and 3 of text
_PIECE = 65_536  # bytes unpacked at once
_PACKED = ("gzip", "x-gzip", "deflate")


class Bounds(NamedTuple):
    """Limits of a service's answer, and the errors raised beyond them."""

    service: str
    bytes: int
    seconds: float
    too_large: Callable[[str], NightWatchError] = GiveUp
    too_slow: Callable[[str], NightWatchError] = TryLater


class _Sync(httpx.SyncByteStream):
    def __init__(self, stream: Any, pieces: "Pieces") -> None:
        self._stream, self._pieces = stream, pieces

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            yield from self._pieces.of(chunk)

    def close(self) -> None:
        self._stream.close()


class Pieces:
    """Pieces of an answer, unpacked within its bounds."""

    def __init__(self, bounds: Bounds, packed: str, damaged: Callable[[str], Exception]) -> None:
        self._bounds, self._damaged, self._size = bounds, damaged, 0
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None
        self._end = time.monotonic() + bounds.seconds

    def of(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the next pieces; raises what the bounds say, or that the answer is `damaged`."""
        for piece in self._unpacked(chunk) if self._unpacker else (chunk,):
            self._size += len(piece)
            if self._size > self._bounds.bytes:
                what = f"{self._bounds.service}'s answer has more than {self._bounds.bytes:,} bytes"
                raise self._bounds.too_large(f"{what}: check the address and the proxy")
            if time.monotonic() > self._end:
                name = self._bounds.service
                raise self._bounds.too_slow(f"{name}'s answer came too slowly: try again later")
            yield piece

    def _unpacked(self, chunk: bytes) -> Iterator[bytes]:
        assert self._unpacker is not None
        try:
            while piece := self._unpacker.decompress(chunk, _PIECE):
                yield piece
                chunk = self._unpacker.unconsumed_tail
        except zlib.error:
            raise self._damaged(f"{self._bounds.service}'s answer cannot be unpacked") from None


def bounded(bounds: Bounds) -> Callable[[httpx.Response], None]:
    """Return a hook for responses: their bodies are read within the bounds, redirects' too."""

    def hook(response: httpx.Response) -> None:
        packed = how_packed(response.headers, bounds)
        stream = _Sync(response.stream, Pieces(bounds, packed, httpx.RemoteProtocolError))
        response.stream = stream

    return hook


def http_client(
    bounds: Bounds,
    address: str,
    timeout: httpx.Timeout | float,
    headers: Mapping[str, str] | None = None,
) -> httpx.Client:
    """Return a client that follows no redirect; its requests are noted, its answers bounded.

    What is sent to an `address` without https goes through no proxy, which would read along.
    """
    return _Client(
        bounds,
        base_url=address,
        headers=headers,
        timeout=timeout,
        verify=certificates(),
        trust_env=address.startswith("https:"),
        event_hooks={"request": [note(bounds.service)], "response": [bounded(bounds)]},
    )


class _Client(httpx.Client):
    """Waits as long for the head of an answer as for the rest: httpx limits single reads only."""

    def __init__(self, bounds: Bounds, **settings: Any) -> None:
        super().__init__(**settings)
        self._bounds = bounds

    def send(self, request: httpx.Request, *, stream: bool = False, **given: Any) -> httpx.Response:
        """Send in a thread, which is left alone when the time is over."""
        heads: Queue[httpx.Response | BaseException] = Queue()
        is_late = threading.Event()
        sent = partial(super().send, request, stream=True, **given)

        def send() -> None:
            try:
                head: httpx.Response | BaseException = sent()
                if isinstance(head, httpx.Response) and is_late.is_set():
                    head.close()
            except BaseException as error:  # noqa: BLE001 - raised again by who waits
                head = error
            heads.put(head)

        threading.Thread(target=copy_context().run, args=(send,), daemon=True).start()
        try:
            head = heads.get(timeout=self._bounds.seconds)
        except Empty:
            is_late.set()
            name = self._bounds.service
            raise self._bounds.too_slow(
                f"{name}'s answer came too slowly: try again later"
            ) from None
        if isinstance(head, BaseException):
            raise head
        try:
            if not stream:
                head.read()
        except BaseException:
            head.close()
            raise
        return head


def is_private(address: str) -> bool:
    """Tell whether a secret may be sent there: encrypted, or to this machine.

    >>> is_private("https://a.example/x"), is_private("http://[::1]:80"), is_private("http://a")
    (True, True, False)
    """
    try:
        parts = urlsplit(address)
        is_here = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
        return bool(parts.hostname) and (is_here or parts.scheme == "https")
    except ValueError:
        return False


def words_of(text: str, secret: str) -> str:
    r"""Make a vendor's words one short line without our secret.

    >>> words_of("no\x00 token  abc", "abc")
    'no token …'
    """
    line = " ".join(re.sub(r"[^\x20-\x7e\xa0-\uffff]", " ", text[:2_000]).split())
    return line.replace(secret, "…")[:LONGEST_TROUBLE]


def json_of(content: bytes) -> Any:
    """Return a JSON document; raises `ValueError` for none, and for one too deep or too long."""
    if content.count(b",") > VALUES:
        raise ValueError(f"more than {VALUES:,} values")
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def how_packed(headers: Any, bounds: Bounds) -> str:
    """Take the packing out of the headers; raises what the bounds say for an unknown one."""
    packed = headers.pop("content-encoding", "").strip().lower()
    if packed in ("", "identity"):
        return ""
    if packed not in _PACKED:
        what = f"{bounds.service}'s answer is packed in a way that was not asked for"
        raise bounds.too_large(f"{what}: check the address and the proxy")
    return str(packed)
