"""What left the machine: a line for every request, and its body, once for each hash.

`sent/<night>~<run>.jsonl` in the state folder; of what was sent outside nights, or before its night
had a name, `sent/<run>.jsonl`. A line is written before the request is sent, so that neither a
failing service nor a kill leaves one out. Bodies are in `sent/texts/`, compressed.
"""

import hashlib
import logging
import os
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import ValidationError

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.limits import UNNAMED_DAYS
from nightwatch_core.models.manifest import Destination, SentRequest

_OPEN = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
_MASKED_BEFORE = "Claude"  # and too large to be looked through for every turn
_log = logging.getLogger(__name__)


class Manifest:
    """Lists what one process sends; safe for threads. Before `open` it only counts."""

    def __init__(self) -> None:
        """Begin with nothing sent."""
        self._guard = threading.Lock()
        self._folder: Path | None = None
        self._scrub: Callable[[str], str] = str
        self._lost = False
        self._night, self._run = "", _new_run()
        self._totals: dict[tuple[str, str], tuple[int, int]] = {}

    def open(self, folder: Path, scrub: Callable[[str], str]) -> None:
        """Keep lines in `folder` from now on; what holds files of the code goes through `scrub`."""
        with self._guard:
            self._folder, self._scrub = folder, scrub

    def reset(self) -> None:
        """Begin another run: what comes belongs to no night until `belongs_to` names one."""
        with self._guard:
            self._night, self._run = "", _new_run()
            self._totals.clear()

    def belongs_to(self, night: str) -> None:
        """Give the lines of this run, those that are written and those to come, to a night."""
        with self._guard:
            if self._night == night:
                return
            before, self._night = self._file(), night
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
        """How much this run sent to whom so far."""
        with self._guard:
            return tuple(
                Destination(service=service, host=host, requests=count, bytes=size)
                for (service, host), (count, size) in sorted(self._totals.items())
            )

    def _file(self) -> Path | None:
        name = f"{self._night}~{self._run}" if self._night else self._run
        return self._folder / f"{name}.jsonl" if self._folder else None

    def _append(self, line: SentRequest, text: bytes) -> None:
        file = self._file()
        if file is None:
            return
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = _text_file(file.parent, line.sha256)
        if line.sha256 and not kept.exists():
            atomic_files.write(kept, zlib.compress(text), sync=lambda _: None)
        handle = os.open(file, _OPEN, atomic_files.OWNERS)
        try:
            os.write(handle, line.model_dump_json(exclude_defaults=True).encode() + b"\n")
        finally:
            os.close(handle)


class SentRequests:
    """What was sent, read again from `folder`."""

    def __init__(self, folder: Path) -> None:
        """Read nothing yet."""
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
            gone = [file for file in self._folder.glob("*.jsonl") if _is_over(file, nights, oldest)]
            for file in gone:
                file.unlink(missing_ok=True)
            if gone:
                files = self._folder.glob("*.jsonl")
                known = {line.sha256 for file in files for line in _lines(file)}
                for text in (self._folder / "texts").iterdir():
                    if text.stem not in known and _changed(text) < settled:
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
    for line in written:
        with suppress(ValidationError):
            yield SentRequest.model_validate_json(line)


def _is_over(file: Path, nights: Path, oldest: datetime) -> bool:
    night = file.stem.rpartition("~")[0]
    is_there = bool(night) and (nights / night).is_dir()
    return not is_there and (bool(night) or _changed(file) < oldest)


def _changed(file: Path) -> datetime:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)


PROCESS = Manifest()
"""Of this process, in which every adapter notes what it sends."""


def note(service: str) -> Callable[[Any], None]:
    """Return a hook for requests of an HTTP client: what they are is noted."""

    def hook(request: Any) -> None:
        PROCESS.sent(service, request.method, str(request.url), request.read())

    return hook
