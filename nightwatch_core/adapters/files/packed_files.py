"""Files as they lie on disk: opened, unpacked member by member, decoded; told by their content."""

import bz2
import codecs
import gzip
import io
import lzma
import re
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import IO, Any, NamedTuple, TextIO, cast

from nightwatch_core.adapters.files.limits import (
    CHUNK,
    HEAD,
    MAX_MEMBERS,
    MAX_PACKING,
    SPOOL,
)
from nightwatch_core.adapters.files.meter import Meter
from nightwatch_core.adapters.files.record_values import name_of
from nightwatch_core.errors import GiveUp

DAMAGE = (  # while reading; gzip.BadGzipFile is an OSError
    EOFError, OSError, UnicodeError, NotImplementedError, zlib.error, lzma.LZMAError,
    zipfile.BadZipFile, tarfile.TarError,
)  # fmt: skip
CUT_OFF = "the file is cut off or damaged from here on"
GIVE = "give JSON, CSV or a log, packed with gzip, bzip2, xz, zip or tar or not"

_ODD = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f\ufffd]")  # what text holds seldom
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_AT, _TAR = 257, b"ustar"
_COMPRESSED: tuple[tuple[bytes, Callable[[IO[bytes]], IO[bytes]]], ...] = (
    (b"\x1f\x8b", lambda raw: cast(IO[bytes], gzip.GzipFile(fileobj=raw))),
    (b"BZh", lambda raw: cast(IO[bytes], bz2.BZ2File(raw))),
    (b"\xfd7zXZ\x00", lambda raw: cast(IO[bytes], lzma.LZMAFile(raw))),  # noqa: SIM115
)
_REFUSED = (
    (b"\x28\xb5\x2f\xfd", "is packed with zstd: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive: unpack it first"),
    (b"Rar!", "is a rar archive: unpack it first"),
    (b"PAR1", "is a Parquet table: export it as JSON or CSV"),
    (b"SQLite format 3", "is a SQLite database: export it as JSON or CSV"),
    (b"%PDF-", "is a PDF: export it as JSON or CSV"),
    (b"\xd0\xcf\x11\xe0", "is an Office document: save it as CSV"),
)
_WORKBOOK = "[Content_Types].xml"  # a member of every Office document
_HIDDEN = (".", "__MACOSX")


class Content(NamedTuple):
    """A text that was packed somewhere, valid until the next one is asked for."""

    label: str  # where it stands: logs.zip/app/production.log
    text: TextIO


class _Unpacked(io.RawIOBase):
    """What a file unpacks to, counted; damage is raised when what came before it was read."""

    def __init__(self, inner: IO[bytes], meter: Meter) -> None:
        self._inner = cast(io.BufferedIOBase, inner)
        self._meter = meter
        self._damage: BaseException | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        view, at = memoryview(buffer), 0
        while at < len(view) and self._damage is None:
            try:
                data = self._inner.read1(len(view) - at)
            except (*DAMAGE, RuntimeError) as damage:
                self._damage = damage
                break
            if not data:
                break
            view[at : at + len(data)] = data
            at += len(data)
        if not at and self._damage is not None:
            raise EOFError from self._damage
        self._meter.count_bytes(at)
        return at


def contents_of(path: Path, label: str, meter: Meter) -> Iterator[Content | str]:
    """Every text in a file, and sentences about members that cannot be read.

    Raises `GiveUp` with what to do where nothing of the file can be.
    """
    name = name_of(str(path))
    with ExitStack() as opened:
        try:
            if path.exists() and not path.is_file():
                raise GiveUp(f"{name} is neither a file nor a folder")
            file = opened.enter_context(path.open("rb"))
            meter.begin(label, path.stat().st_size, file.tell)
            file.peek(1)
        except (FileNotFoundError, ValueError):
            raise GiveUp(f"{name} does not exist: check the name") from None
        except OSError as error:
            raise GiveUp(f"{name} cannot be read ({error.strerror}): check permissions") from None
        for content in _inside(file, label, meter, 0):
            if isinstance(content, _Refused):
                raise GiveUp(f"{name} {content}")
            yield content


class _Refused(str):
    """Why a whole file or member cannot be read; begins with its verb."""


def _inside(
    stream: IO[bytes], label: str, meter: Meter, depth: int
) -> Iterator[Content | str | _Refused]:
    """What a stream holds; its refusal comes alone."""
    buffered: Any = io.BufferedReader(_Unpacked(stream, meter), HEAD)
    try:
        head = buffered.peek(HEAD)
    except DAMAGE:
        yield _Refused("is damaged from its beginning: export it again")
        return
    reason = next((reason for mark, reason in _REFUSED if head.startswith(mark)), "")
    unpack = next((unpack for mark, unpack in _COMPRESSED if head.startswith(mark)), None)
    is_tar = head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR
    packed = unpack is not None or is_tar or head.startswith(_ZIP)
    if reason or (packed and depth >= MAX_PACKING):
        yield _Refused(reason or f"is packed more than {MAX_PACKING} times: unpack it first")
    elif unpack is not None:
        yield from _inside(unpack(buffered), label, meter, depth + 1)
    elif head.startswith(_ZIP):
        with nullcontext(stream) if depth == 0 else _spooled(buffered) as archive:
            yield from _zipped(archive, label, meter, depth)
    elif is_tar:
        yield from _tarred(buffered, label, meter, depth)
    else:
        yield from _text(buffered, head, label)


def _text(buffered: Any, head: bytes, label: str) -> Iterator[Content | _Refused]:
    encoding = next((name for mark, name in _BOMS if head.startswith(mark)), "utf-8")
    if encoding == "utf-8" and _is_binary(head):
        yield _Refused(f"is binary: {GIVE}")
    else:
        yield Content(label, io.TextIOWrapper(buffered, encoding=encoding, errors="replace"))


def _is_binary(head: bytes) -> bool:
    """Zero bytes alone do not tell: logs that were cut while written to begin with them."""
    if b"\0" not in head:
        return False
    text = head.replace(b"\0", b"").decode("utf-8", "replace")
    return len(_ODD.findall(text)) * 10 >= len(text)


def _zipped(
    stream: IO[bytes], label: str, meter: Meter, depth: int
) -> Iterator[Content | str | _Refused]:
    try:
        archive = zipfile.ZipFile(stream)
        members = [one for one in archive.infolist() if not one.is_dir()]
    except (*DAMAGE, ValueError):
        yield _Refused("is a damaged zip archive: export it again")
        return
    if any(one.filename == _WORKBOOK for one in members):
        yield _Refused("is an Office document: save it as CSV")
        return
    for member in members[:MAX_MEMBERS]:
        if _is_hidden(member.filename):
            continue
        inner = f"{label}/{name_of(member.filename)}"
        if member.flag_bits & 1:
            yield f"{inner} is encrypted: unpack it first"
            continue
        try:
            opened = archive.open(member)
        except (*DAMAGE, ValueError, RuntimeError):
            yield f"{inner} is damaged, or packed in a way that is not known: unpack it first"
            continue
        yield from _member(opened, inner, meter, depth)
    yield from _left_out(label, len(members))


def _tarred(stream: IO[bytes], label: str, meter: Meter, depth: int) -> Iterator[Content | str]:
    count = 0
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=HEAD) as archive:
            for count, member in enumerate(archive, 1):
                if count > MAX_MEMBERS:
                    break
                opened = archive.extractfile(member) if member.isreg() else None
                if opened is not None and not _is_hidden(member.name):
                    inner = f"{label}/{name_of(member.name)}"
                    yield from _member(opened, inner, meter, depth)
                cast(Any, archive).members = []  # it keeps them all
    except (*DAMAGE, ValueError):
        yield f"{label}: the archive is cut off or damaged after {count} members"
    yield from _left_out(label, count)


def _member(opened: IO[bytes], label: str, meter: Meter, depth: int) -> Iterator[Content | str]:
    with opened:
        for content in _inside(opened, label, meter, depth + 1):
            yield f"{label} {content}" if isinstance(content, _Refused) else content


def _spooled(stream: IO[bytes]) -> IO[bytes]:
    """A copy to go back and forth in, as the index of a zip archive needs it."""
    copy = cast(IO[bytes], tempfile.SpooledTemporaryFile(SPOOL))  # noqa: SIM115 (ZipFile keeps it)
    shutil.copyfileobj(stream, copy, CHUNK)
    copy.seek(0)
    return copy


def _is_hidden(name: str) -> bool:
    return any(part.startswith(_HIDDEN) for part in name.split("/") if part not in (".", ".."))


def _left_out(label: str, members: int) -> Iterator[str]:
    if members > MAX_MEMBERS:
        yield f"{label}: members after the first {MAX_MEMBERS:,} are left out"
