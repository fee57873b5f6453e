"""Answers of services, read within bounds: so many bytes once unpacked, so many seconds, no more.

HTTP libraries unpack a piece whole, a thousandfold if it is made so and a millionfold where it was
packed twice. Here 64 KiB are unpacked at a time, counted, and what was packed otherwise than was
asked for is not read.
"""

import json
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, NamedTuple

import httpx
import httpx2

from nightwatch_core.errors import GiveUp, NightWatchError, TryLater

VALUES = 2_000_000  # of one JSON document; an empty one takes 64 bytes of memory and 3 of text
_PIECE = 65_536  # bytes unpacked at once
_PACKED = ("gzip", "x-gzip", "deflate")


class Bounds(NamedTuple):
    """How much of a service's answer is read, and what is raised for more."""

    service: str
    bytes: int
    seconds: float
    too_large: Callable[[str], NightWatchError] = GiveUp
    too_slow: Callable[[str], NightWatchError] = TryLater


class _Sync(httpx.SyncByteStream):
    def __init__(self, stream: Any, pieces: "_Pieces") -> None:
        self._stream, self._pieces = stream, pieces

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            yield from self._pieces.of(chunk)

    def close(self) -> None:
        self._stream.close()


class _Async(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, pieces: "_Pieces") -> None:
        self._stream, self._pieces = stream, pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            for piece in self._pieces.of(chunk):
                yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Pieces:
    """What comes, unpacked and counted."""

    def __init__(self, bounds: Bounds, packed: str, damaged: Callable[[str], Exception]) -> None:
        self._bounds, self._damaged, self._size = bounds, damaged, 0
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None
        self._end = time.monotonic() + bounds.seconds

    def of(self, chunk: bytes) -> Iterator[bytes]:
        """The next pieces; raises what the bounds say, or that the answer is `damaged`."""
        for piece in self._unpacked(chunk) if self._unpacker else (chunk,):
            self._size += len(piece)
            if self._size > self._bounds.bytes:
                raise too_large(self._bounds)
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
        packed = _how_packed(response.headers, bounds)
        stream = _Sync(response.stream, _Pieces(bounds, packed, httpx.RemoteProtocolError))
        response.stream = stream

    return hook


def bounded_async(
    bounds_of: Callable[[httpx2.Response], Bounds],
) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Return the same for an asynchronous client, with bounds by response."""

    async def hook(response: httpx2.Response) -> None:
        bounds = bounds_of(response)
        packed = _how_packed(response.headers, bounds)
        pieces = _Pieces(bounds, packed, httpx2.RemoteProtocolError)
        response.stream = _Async(response.stream, pieces)

    return hook


def json_of(content: bytes) -> Any:
    """Return a JSON document; raises `ValueError` for none, and for one too deep or too long.

    >>> json_of(b'{"a": [1]}')
    {'a': [1]}
    """
    if content.count(b",") > VALUES:
        raise ValueError(f"more than {VALUES:,} values")
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def too_large(bounds: Bounds) -> NightWatchError:
    """What is raised for an answer that is longer than the bounds."""
    what = f"{bounds.service}'s answer has more than {bounds.bytes:,} bytes"
    return bounds.too_large(f"{what}: no honest one has; check the address and the proxy")


def _how_packed(headers: Any, bounds: Bounds) -> str:
    """How the body is packed, empty for plain; the header is taken away, as it is unpacked here."""
    packed = headers.pop("content-encoding", "").strip().lower()
    if packed in ("", "identity"):
        return ""
    if packed not in _PACKED:
        what = f"{bounds.service}'s answer is packed in a way that was not asked for"
        raise bounds.too_large(f"{what}: check the address and the proxy")
    return str(packed)
