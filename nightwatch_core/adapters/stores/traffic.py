"""Network traffic: counted, listed, and limited per answer."""

import hashlib
import json
import logging
import os
import re
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from queue import Empty, Queue
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx
from pydantic import ValidationError

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.options import Destination, SentRequest, ServiceCalls
from nightwatch_core.models.value import Value
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import data_table

T = TypeVar("T")

UNNAMED_DAYS = 30  # lists of what was sent outside nights


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


# What left the machine: `sent/<night>~<run>.jsonl`, or `sent/<run>.jsonl` outside nights. A line is
# written before its request is sent. Bodies are in `sent/texts/`, compressed, once for each hash.

_MASKED_BEFORE = "Claude"  # and too large to be looked through for every turn
_log = logging.getLogger(__name__)


class Manifest:
    """Lists what one process sends; safe for threads. Before `open` it only counts."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._folder: Path | None = None
        self._scrub: Callable[[str], str] = str
        self._lost = False
        self.night, self._run = "", _new_run()
        self._totals: dict[tuple[str, str], tuple[int, int]] = {}

    def open(self, folder: Path, scrub: Callable[[str], str]) -> None:
        """Keep lines in `folder` from now on; what holds files of the code goes through `scrub`."""
        with self._guard:
            self._folder, self._scrub = folder, scrub

    def reset(self) -> None:
        """Begin another run: what comes belongs to no night until `belongs_to` names one."""
        with self._guard:
            self.night, self._run = "", _new_run()
            self._totals.clear()

    def belongs_to(self, night: str) -> None:
        """Give the lines of this run, those that are written and those to come, to a night."""
        with self._guard:
            if self.night == night:
                return
            before, self.night = self._file(), night
            with suppress(OSError):  # nothing was sent yet
                if before is not None:
                    before.rename(before.with_name(f"{night}~{self._run}.jsonl"))

    def sent(self, service: str, method: str, address: str, body: bytes = b"") -> None:
        """Note a request that is about to be sent; a full disk is logged once and stops nothing."""
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2]
        text, to = body, urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
        if service != _MASKED_BEFORE:
            # Files of a draft, and what is looked up, are sent as they are.
            plain = self._scrub(body.decode("utf-8", "surrogateescape"))
            text, to = plain.encode("utf-8", "surrogateescape"), self._scrub(to)
        line = SentRequest(
            at=datetime.now(UTC),
            service=service,
            method=method,
            to=to,
            bytes=len(body),
            sha256=hashlib.sha256(body).hexdigest() if body else "",
            masked=text != body,
        )
        with self._guard:
            count, size = self._totals.get((service, host), (0, 0))
            self._totals[service, host] = (count + 1, size + len(body))
            try:
                self._append(line, text)
            except OSError as trouble:
                if not self._lost:
                    _log.warning("what is sent cannot be listed: %s", trouble.strerror)
                self._lost = True

    def destinations(self) -> tuple[Destination, ...]:
        """Return the bytes sent to each destination; other processes' lists are read for them."""
        with self._guard:
            totals, own = dict(self._totals), self._file()
            mark = f"{self.night}~"
            files = self._folder.glob(f"{mark}*") if self._folder and self.night else ()
            others = [file for file in files if file != own and file.stem > f"{mark}{self._run}"]
        for sent in (sent for file in others for sent in _lines(file)):
            key = sent.service, urlsplit(sent.to).netloc
            count, size = totals.get(key, (0, 0))
            totals[key] = (count + 1, size + sent.bytes)
        return tuple(
            Destination(service=service, host=host, requests=count, bytes=size)
            for (service, host), (count, size) in sorted(totals.items())
        )

    def _file(self) -> Path | None:
        name = f"{self.night}~{self._run}" if self.night else self._run
        return self._folder / f"{name}.jsonl" if self._folder else None

    def _append(self, line: SentRequest, text: bytes) -> None:
        file = self._file()
        if file is None:
            return
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = _text_file(file.parent, line.sha256)
        if line.sha256 and not kept.exists():
            atomic_files.write(kept, zlib.compress(text), sync=lambda _: None)
        atomic_files.append(file, line.model_dump_json(exclude_defaults=True).encode() + b"\n")


class SentRequests:
    """Sent requests, read again from `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, night: str) -> tuple[SentRequest, ...]:
        """Return the requests of a night, or those outside nights where that is empty, in order."""
        runs = sorted(
            (run, file)
            for file in self._folder.glob("*.jsonl")
            for name, _, run in [file.stem.rpartition("~")]
            if name == night
        )
        return tuple(line for _, file in runs for line in _lines(file))

    def text(self, request: SentRequest) -> bytes | None:
        """Return the body of a request; None where it is not kept."""
        try:
            return zlib.decompress(_text_file(self._folder, request.sha256).read_bytes())
        except (OSError, zlib.error):
            return None

    def forget_old(self, nights: Path) -> None:
        """Delete lists of nights whose folders are gone, old ones of no night, and their texts."""
        now = datetime.now(UTC)
        oldest, settled = now - timedelta(days=UNNAMED_DAYS), now - timedelta(days=1)
        with suppress(OSError):
            gone = []
            for file in self._folder.glob("*.jsonl"):
                night = file.stem.rpartition("~")[0]
                is_over = not (nights / night).is_dir() if night else _changed(file) < oldest
                gone += [file] if is_over else []
            for file in gone:
                file.unlink(missing_ok=True)
            if gone:
                files = self._folder.glob("*.jsonl")
                referenced = {line.sha256 for file in files for line in _lines(file)}
                for text in (self._folder / "texts").iterdir():
                    if text.stem not in referenced and _changed(text) < settled:
                        text.unlink(missing_ok=True)


def _new_run() -> str:
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{os.getpid()}"


def _text_file(folder: Path, digest: str) -> Path:
    return folder / "texts" / f"{digest}.z"


def _lines(file: Path) -> Iterator[SentRequest]:
    """The whole lines of a list; a process that was killed may have left half of one."""
    try:
        written = file.read_bytes().splitlines()
    except OSError:
        return
    for row in written:
        with suppress(ValidationError):
            yield SentRequest.model_validate_json(row)


def _changed(file: Path) -> datetime:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)


MANIFEST = Manifest()
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
        self._elsewhere: dict[str, tuple[ServiceCalls, ...]] = {}  # by process
        self._lost: dict[str, float] = {}  # seconds since the last answer, by service
        self._asked: dict[str, float] = {}  # when it was asked last
        self._now = now

    def reset(self) -> None:
        """Forget everything: a night begins."""
        with self._guard:
            self._calls.clear()
            self._elsewhere.clear()
            self._lost.clear()

    def calls(self) -> Mapping[str, ServiceCalls]:
        """Return the requests so far by service, those of other processes too."""
        with self._guard:
            found = dict(self._calls)
            for calls in (one for every in self._elsewhere.values() for one in every):
                ours = found.get(calls.service) or ServiceCalls(service=calls.service)
                found[calls.service] = ours + calls
            return found

    def count_elsewhere(self, process: str, calls: tuple[ServiceCalls, ...]) -> None:
        """Count what another process has sent so far, in whatever order it is told."""
        with self._guard:
            both = calls, self._elsewhere.get(process, ())
            self._elsewhere[process] = max(both, key=lambda all: sum(one.requests for one in all))

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

    def expires(self, service: str, at: datetime) -> None:
        """Note when the service says that its sign-in ends."""
        with self._guard:
            self._set(self._before(service), expires=at)

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
