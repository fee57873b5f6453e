"""What a call to a reader sends over the network, counted where it is sent."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Traffic:
    """Requests that were sent, the files they brought, and whether one of them failed."""

    requests: int = 0
    files: int = 0
    failed: bool = False


_watched: ContextVar[Traffic | None] = ContextVar("watched", default=None)


@contextmanager
def watched() -> Iterator[Traffic]:
    """Count what this thread sends within the block, and nothing of it for blocks around it."""
    traffic = Traffic()
    before = _watched.set(traffic)
    try:
        yield traffic
    finally:
        _watched.reset(before)


@contextmanager
def sending(files: int = 0) -> Iterator[None]:
    """Count a request for that many files; one that raises has failed."""
    traffic = _watched.get() or Traffic()
    traffic.requests += 1
    try:
        yield
    except Exception:
        traffic.failed = True
        raise
    traffic.files += files
