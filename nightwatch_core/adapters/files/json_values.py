"""Files as texts, and texts as values: unpacked, decoded, and parted into JSON, rows or lines."""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, TextIO, cast

from nightwatch_core.adapters.files import limits
from nightwatch_core.adapters.files.records import FIELDS, name_of, squeezed
from nightwatch_core.adapters.files.shapes.table import records_of
from nightwatch_core.adapters.files.shapes.values import DECODER
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.errors import ReadingProgress

# How much one reading of all files has taken, and where it has to end.

Listener = Callable[[ReadingProgress], None]


class Enough(Exception):  # noqa: N818 (not an error: what was read counts)
    """A bound is reached: what was read counts, what follows is left out; the text says why."""


@dataclass
class Meter:
    """Counts bytes and records of a reading; raises `Enough` at a bound."""

    listener: Listener | None = None
    total: int = 0  # bytes of all files on disk
    bytes: int = 0  # read and unpacked, of all files
    records: int = 0
    _done: int = 0  # bytes on disk of the files before this one
    _reached: int = 0  # bytes on disk of all files
    _file: str = ""
    _size: int = 0
    _begun_at: int = 0
    _position: Callable[[], int] = lambda: 0

    def begin(self, file: str, size: int, position: Callable[[], int]) -> None:
        """Go on with another file; `position` says how far it is read."""
        self._done += self._size
        self._file, self._size, self._position = file, size, position
        self._begun_at = self.bytes

    def count_bytes(self, count: int) -> None:
        self.bytes += count
        if self.listener:
            # Archives are read back and forth; what was reached stays reached.
            self._reached = max(self._reached, self._done + min(self._position(), self._size))
            self.listener(
                ReadingProgress(
                    file=self._file, bytes=self._reached, of_bytes=self.total, records=self.records
                )
            )
        if self.bytes > limits.MOST_BYTES:
            raise Enough(f"{limits.MOST_BYTES / 1e6:,.0f} MB are read")
        unpacked = self.bytes - self._begun_at
        if unpacked > max(limits.RATIO_FROM, limits.MOST_RATIO * self._size):
            raise Enough(f"it unpacks to more than {limits.MOST_RATIO} times its size")

    def count_record(self) -> None:
        self.records += 1
        if self.records > limits.MOST_RECORDS:
            raise Enough(f"{limits.MOST_RECORDS:,} records are read")


# Files as they lie on disk: opened, unpacked member by member, decoded; told by their content.

DAMAGE = (  # while reading; gzip.BadGzipFile is an OSError
    EOFError, OSError, UnicodeError, NotImplementedError, zlib.error, lzma.LZMAError,
    zipfile.BadZipFile, tarfile.TarError,
)  # fmt: skip
CUT_OFF = "the file is cut off or damaged from here on"
NO_END = "it has no end: the JSON is cut off"
GIVE = "give JSON, CSV or a log, packed with gzip, bzip2, xz, zip or tar or not"

_ODD = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f\ufffd]")  # what text holds seldom
_ENCODINGS = (  # what their texts begin with: a byte order mark, or ASCII
    (re.compile(rb"\xef\xbb\xbf"), "utf-8-sig"),
    (re.compile(rb"\xff\xfe\0\0|\0\0\xfe\xff"), "utf-32"),
    (re.compile(rb"\xff\xfe|\xfe\xff"), "utf-16"),
    (re.compile(rb"(?:[\t-\r -~]\0){8}"), "utf-16-le"),
    (re.compile(rb"(?:\0[\t-\r -~]){8}"), "utf-16-be"),
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
    """Yield every text in a file, and sentences about members that cannot be read.

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
    buffered: Any = io.BufferedReader(_Unpacked(stream, meter), limits.HEAD)
    try:
        head = buffered.peek(limits.HEAD)
    except DAMAGE:
        yield _Refused("is damaged from its beginning: export it again")
        return
    reason = next((reason for mark, reason in _REFUSED if head.startswith(mark)), "")
    unpack = next((unpack for mark, unpack in _COMPRESSED if head.startswith(mark)), None)
    is_tar = head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR
    packed = unpack is not None or is_tar or head.startswith(_ZIP)
    if reason or (packed and depth >= limits.MAX_PACKING):
        yield _Refused(reason or f"is packed more than {limits.MAX_PACKING} times: unpack it first")
    elif unpack is not None:
        yield from _inside(unpack(buffered), label, meter, depth + 1)
    elif head.startswith(_ZIP):
        with nullcontext(stream) if depth == 0 else _spooled(buffered) as archive:
            yield from _zipped(archive, label, meter, depth)
    elif is_tar:
        yield from _tarred(buffered, label, meter, depth)
    else:
        encoding = next((name for mark, name in _ENCODINGS if mark.match(head)), "utf-8")
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
        members = [item for item in archive.infolist() if not item.is_dir()]
    except (*DAMAGE, ValueError):
        yield _Refused("is a damaged zip archive: export it again")
        return
    if any(member.filename == _WORKBOOK for member in members):
        yield _Refused("is an Office document: save it as CSV")
        return
    for member in members[: limits.MAX_MEMBERS]:
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
        with tarfile.open(fileobj=stream, mode="r|", bufsize=limits.HEAD) as archive:
            for count, member in enumerate(archive, 1):
                if count > limits.MAX_MEMBERS:
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
    copy = cast(IO[bytes], tempfile.SpooledTemporaryFile(limits.SPOOL))  # noqa: SIM115 (closed there)
    shutil.copyfileobj(stream, copy, limits.CHUNK)
    copy.seek(0)
    return copy


def _is_hidden(name: str) -> bool:
    return any(part.startswith(_HIDDEN) for part in name.split("/") if part not in (".", ".."))


def _left_out(label: str, members: int) -> Iterator[str]:
    if members > limits.MAX_MEMBERS:
        yield f"{label}: members after the first {limits.MAX_MEMBERS:,} are left out"


# JSON: the values of a document, one behind the other.

_BETWEEN_ITEMS, _BLANK = re.compile(r"[\s,]*"), re.compile(r"\s*")
_BETWEEN = re.compile(r"[\s,:]*")  # items, names and their values
_LAST_WORD = re.compile(r"[\w\\-]{0,8}\s*\Z")  # of a text that ends within a value
_NEXT = re.compile(r"\n(?=\{)")  # where a further document of a broken file begins


class Part(NamedTuple):
    """A value and the line it begins at; a problem says why it is only a text."""

    number: int
    value: object
    problem: str = ""


def parts_of(read: Callable[[int], str], most: int = limits.DOCUMENT_LIMIT) -> Iterator[Part]:
    """Yield every JSON value of a text that `read` gives a number of characters of.

    Items of an array come one by one. A problem ends a document behind its whole records: what
    follows broken JSON cannot be told apart. A text of more than `most` characters is not read.
    """
    pieces, ending, is_broken = list[str](), NO_END, False
    try:
        while (piece := read(limits.CHUNK)) and most >= 0:
            pieces.append(piece)
            most -= len(piece)
    except DAMAGE:
        ending = CUT_OFF
    text = "".join(pieces)
    if most < 0:
        problem = f"longer than {len(text) / 1e6:,.0f} MB: export it in parts, or a record a line"
        yield Part(1, text[: limits.EXCERPT], problem)
        return
    at = counted = _after(_BLANK, text, 0)
    number = 1 + text.count("\n", 0, at)
    while at < len(text):
        is_array = text[at] == "["
        at += is_array
        try:
            while True:
                at = _after(_BETWEEN_ITEMS if is_array else _BLANK, text, at)
                number, counted = number + text.count("\n", counted, at), at
                if is_array and text.startswith("]", at):
                    at += 1
                    break
                if at == len(text):
                    raise EOFError
                value, at = DECODER.raw_decode(text, at)
                yield Part(number, value)
                if not is_array:
                    break
        except (EOFError, ValueError, RecursionError) as error:
            is_end = isinstance(error, EOFError) or ending == CUT_OFF
            whole, broken_at = (None, at) if is_broken else _whole_records(text, at)
            is_broken = True  # once is enough: broken documents in each other would take hours
            if whole:
                yield Part(number, whole)
            problem = ending if is_end else json_problem(error, text)
            yield Part(number, text[at : at + limits.EXCERPT], problem)
            further = _NEXT.search(text, broken_at)
            at = further.end() if further else len(text)
        at = _after(_BLANK, text, at)


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _whole_records(text: str, at: int) -> tuple[object, int]:
    """Return a broken value without its broken records, and where it breaks; None of one record."""
    whole, broken_at = _whole_of(text, at, limits.MAX_DEPTH)
    return (whole, broken_at) if _holds_several(whole) else (None, at)


def _whole_of(text: str, at: int, depth: int) -> tuple[object, int]:
    is_object, whole = text.startswith("{", at), dict[str, object]()
    if not depth or not text.startswith(("{", "["), at):
        return None, at
    at += 1
    with suppress(ValueError, RecursionError):
        while True:
            name, at = str(len(whole)), _after(_BETWEEN, text, at)
            if is_object:
                name, at = DECODER.raw_decode(text, at)
                at = _after(_BETWEEN, text, at)
            value, at = DECODER.raw_decode(text, at)
            whole[str(name)] = value
    inner, at = _whole_of(text, at, depth - 1)
    if inner is not None and (is_object or _holds_several(inner)):
        whole[str(name)] = inner
    return whole if is_object else list(whole.values()), at


def _holds_several(value: object) -> bool:
    """Tell a list of records from one record: a part of that would mislead."""
    return len(list(islice(records_of(value), 2))) > 1


def json_problem(error: Exception, text: str) -> str:
    """Return a sentence about a JSON text that cannot be read."""
    if not isinstance(error, json.JSONDecodeError):
        return "nested too deeply" if isinstance(error, RecursionError) else "no JSON"
    is_cut = error.msg.startswith("Unterminated") or _LAST_WORD.match(text, error.pos)
    return NO_END if is_cut and error.msg != "Extra data" else f"no JSON ({error.msg})"


# Tables as text with a line of names: CSV, with tabs, semicolons or bars, and what Excel makes.

DELIMITERS = ",;\t|"
# Columns that say what happened.
TELLING = frozenset(
    squeezed(name)
    for field in ("error_class", "message", "stacktrace")
    for name in (
        *FIELDS[field],
        *("@message", "title", "details", "content", "log", "line", "_raw", "textPayload"),
        *("jsonPayload.message", "outerMessage"),
    )
)
_KNOWN = TELLING.union(squeezed(name) for names in FIELDS.values() for name in names)
# Cells of these are texts whatever they look like.
_TEXTS = frozenset(map(squeezed, ("message", "msg", "log", "line", "content", "_raw", "body")))
_SEPARATOR = re.compile(r"\ufeff?\"?sep=(.)\"?\s*$", re.IGNORECASE)  # Excel's first line
_NAME = re.compile(r"[A-Za-z_@#$.][^\x00-\x1f\"{}]{0,79}$")
_QUOTED = re.compile(r'"[^"]*(?:"|$)')  # it may end on a later line
_ZONE = re.compile(r"\s*\[(UTC|GMT)\]$")  # behind the name of a column of times
_MOST_WORDS = 4  # of a column's name


def is_table(firsts: list[str]) -> bool:
    r"""Tell by its first lines whether a text is a table of records with a line of names."""
    if not firsts or len(firsts[0]) > limits.HEAD or firsts[0].startswith(("{", "[")):
        return False
    if _SEPARATOR.match(firsts[0]):
        return True
    second = (firsts[1:] or [""])[0][: limits.HEAD]
    head, body = _delimiters(firsts[0], second)
    names = _names(firsts[0], head)
    if names is None:
        return False
    cells = next(csv.reader([second], delimiter=body), [])
    return not second or len(cells) == len(names) or second.count('"') % 2 == 1


def _names(line: str, delimiter: str) -> list[str] | None:
    cells = [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    if not 2 <= len(cells) <= limits.MAX_FIELDS:
        return None
    if not all(_NAME.match(cell) and len(cell.split()) <= _MOST_WORDS for cell in cells if cell):
        return None
    names = {squeezed(_ZONE.sub("", cell)) for cell in cells}
    return cells if names & TELLING and len(names & _KNOWN) > 1 else None


def _delimiters(first: str, second: str) -> tuple[str, str]:
    """Return the delimiter of the names and that of the rows, which is another one now and then."""
    names, cells = (_QUOTED.sub("", line) for line in (first, second))
    head, body = (max(DELIMITERS, key=bare.count) for bare in (names, cells))
    differ = head not in cells and 1 < cells.count(body) <= names.count(head)
    return head, body if differ else head


def rows_of(pieces: Iterator[str]) -> Iterator[Part]:
    r"""Yield every row as a record with the names of the columns; empty cells are left out.

    >>> rows = rows_of(iter(["type;message\n", 'KeyError;"a ""b""\n', 'c"\n']))
    >>> [(row.number, row.value) for row in rows]
    [(2, {'type': 'KeyError', 'message': 'a "b"\nc'})]
    """
    csv.field_size_limit(limits.LINE_LIMIT)
    before, first, delimiter = -1, "", ""
    while not first.strip():
        before, first = before + 1, next(pieces, "")
        if not first:
            return
        if separator := _SEPARATOR.match(first):
            first, delimiter = "", separator[1]
    seconds = [] if delimiter else list(islice(pieces, 1))
    head, body = (delimiter,) * 2 if delimiter else _delimiters(first, "".join(seconds))
    lines = chain([first], seconds, pieces)
    names, reader = csv.reader(lines, delimiter=head), csv.reader(lines, delimiter=body)
    columns = [_column(name.strip()) for name in next(names, [])]
    number, before = 0, before + names.line_num
    try:
        while True:
            number = before + reader.line_num + 1
            try:
                cells = next(reader)
            except csv.Error as error:
                yield Part(number, "", f"a row that cannot be read ({error})")
                continue
            if any(cells):
                yield _row(number, cells, columns)
    except StopIteration:
        return
    except DAMAGE:
        yield Part(number, "", CUT_OFF)


def _row(number: int, cells: list[str], columns: list[tuple[str, str, bool]]) -> Part:
    if any(cells[len(columns) :]):
        problem = f"{len(cells)} cells below {len(columns)} names: quotes are missing"
        return Part(number, " ".join(cells)[: limits.EXCERPT], problem)
    record: dict[str, object] = {}
    for (name, zone, may_be_json), cell in zip(columns, cells, strict=False):
        if cell and not cell.isspace():
            record.setdefault(name, _cell(cell) if may_be_json else cell + zone)
    return Part(number, record)


def _column(name: str) -> tuple[str, str, bool]:
    """Its name, the zone of its times, and whether its cells may be JSON."""
    zone = _ZONE.search(name)
    plain = _ZONE.sub("", name)
    return plain, f" {zone[1]}" if zone else "", not zone and squeezed(plain) not in _TEXTS


def _cell(cell: str) -> object:
    if cell[0] not in "{[" or cell[-1] not in "}]":
        return cell
    try:
        return DECODER.decode(cell)
    except (ValueError, RecursionError):
        return cell


# Texts that can be looked into before they are read: lines, and what kind of text they make.

_OPENS_DOCUMENT = re.compile(r"(?:.*[{\[,:])?\s*$")
_ARRAY = re.compile(r"\[\s*(?:[{\[\]]|$)")

Kind = Literal["empty", "lines", "document", "log", "table"]


class TextFile:
    """A text that is read once, from its beginning, in lines or in pieces."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._taken: deque[str] = deque()  # looked at, not yet read

    def firsts(self, count: int = 2) -> list[str]:
        """Look at the first lines that are not blank, with their ends; longer ones are cut."""
        firsts: list[str] = []
        while len(firsts) < count and (piece := self._stream.readline(limits.LINE_LIMIT)):
            self._taken.append(piece)
            if piece.strip():
                firsts.append(piece)
            if is_cut(piece):
                break
        return firsts

    def pieces(self) -> Iterator[str]:
        """Yield the lines with their ends; lines longer than `LINE_LIMIT` come in parts."""
        while self._taken:
            yield self._taken.popleft()
        yield from iter(partial(self._stream.readline, limits.LINE_LIMIT), "")

    def read(self, size: int) -> str:
        """About `size` characters; nothing at the end."""
        return self._taken.popleft() if self._taken else self._stream.read(size)


def is_cut(piece: str) -> bool:
    """Tell whether it is the beginning of a line that is too long."""
    return len(piece) >= limits.LINE_LIMIT and not piece.endswith("\n")


def lines_of(text: TextFile) -> Iterator[Part]:
    """Yield the lines without their ends; where the file is damaged, the last has a problem."""
    number, pieces = 0, text.pieces()
    try:
        for number, piece in enumerate(pieces, 1):  # noqa: B007 (its last value is used)
            if not is_cut(piece):
                yield Part(number, piece.rstrip("\n"))
                continue
            while (rest := next(pieces, "")) and not rest.endswith("\n"):
                pass
            problem = f"longer than {limits.LINE_LIMIT} characters"
            yield Part(number, piece[: limits.EXCERPT], problem)
    except DAMAGE:
        yield Part(number + 1, "", CUT_OFF)


def json_lines_of(text: TextFile) -> Iterator[Part]:
    """Yield the values of lines that are JSON each; blank ones are left out."""
    for line in lines_of(text):
        words = str(line.value).strip()
        if line.problem or not words:
            yield from (line,) if line.problem else ()
            continue
        try:
            yield Part(line.number, DECODER.decode(words))
        except (ValueError, RecursionError) as error:
            whole, _ = _whole_records(words, 0)
            if whole:
                yield Part(line.number, whole)
            yield Part(line.number, line.value, json_problem(error, words))


def kind_of(text: TextFile) -> Kind:
    r"""Tell what a text holds by its first two lines that are not blank.

    >>> import io
    >>> texts = ('{"a": 1}\n{"a"', '{\n"a": 1', "[2026-11-03 10:00:00] no")
    >>> [kind_of(TextFile(io.StringIO(text))) for text in texts]
    ['lines', 'document', 'log']
    """
    try:
        firsts = text.firsts()
    except DAMAGE:
        return "log"
    if not firsts:
        return "empty"
    if is_cut(firsts[-1]) and firsts[0].lstrip().startswith(("{", "[")):
        return "document"
    if is_table(firsts):
        return "table"
    first, second = (line[: limits.LINE_LIMIT].strip() for line in (*firsts, "")[:2])
    if _ARRAY.match(first):
        return "document"
    if not first.startswith("{"):
        return "log"
    opens = bool(_OPENS_DOCUMENT.match(first[-limits.EXCERPT :])) and not second.startswith("{")
    return "document" if second and opens else "lines"
