"""Files of records: opened, unpacked, decoded and cut into lines, whatever wrote them."""

import codecs
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, TextIO

from nightwatch_core.adapters.files.limits import (
    DOCUMENT_LIMIT,
    EXCERPT,
    HEAD,
    LINE_LIMIT,
    PASTE_LIMIT,
)
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import GiveUp, StopTheNight

_ODD = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f\ufffd]")  # what text holds seldom
_GZIP = b"\x1f\x8b"
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OPENS_DOCUMENT = re.compile(r"(?:.*[{\[,:])?\s*$")
_ARRAY = re.compile(r"\[\s*(?:[{\[\]]|$)")

DAMAGE = (EOFError, zlib.error, OSError, UnicodeError)  # while reading; BadGzipFile is an OSError
Kind = Literal["empty", "lines", "document", "log"]


@dataclass(frozen=True)
class Line:
    """A line and its number from 1; `problem` says why the text is only its beginning."""

    number: int
    text: str
    problem: str = ""


def files_below(path: Path) -> tuple[Path, ...]:
    """The file itself, or all files in the folder, sorted; hidden ones are left out."""
    if not path.is_dir():
        return (path,)
    below = sorted(child for child in path.rglob("*") if child.is_file())
    return tuple(
        child
        for child in below
        if not any(p.startswith(".") for p in child.relative_to(path).parts)
    )


def keep_pasted(text: str, folder: Path) -> Path:
    """Write what a person pasted to a file of its own.

    Raises `StopTheNight` where it is empty or huge, or cannot be written.
    """
    if not text.strip() or len(text) > PASTE_LIMIT:
        raise StopTheNight("paste one record: JSON, or a log excerpt with its stack trace")
    content = text.encode(errors="replace")
    path = folder / f"{hashlib.sha256(content).hexdigest()[:16]}.txt"
    try:
        atomic_files.write(path, content)
    except OSError as error:
        raise StopTheNight(
            f"cannot write {path}: {error}; name another state folder with NIGHTWATCH_STATE"
        ) from error
    return path


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """The file as text, unpacked where it is gzip; raises `GiveUp` with what to do."""
    with ExitStack() as opened:
        yield _opened(path, opened)


def _opened(path: Path, opened: ExitStack) -> TextIO:
    if path.exists() and not path.is_file():
        raise GiveUp(f"{path} is neither a file nor a folder")
    try:
        raw = opened.enter_context(path.open("rb"))
        is_gzip = raw.peek(2)[:2] == _GZIP
        plain = opened.enter_context(gzip.GzipFile(fileobj=raw)) if is_gzip else raw
        buffered = io.BufferedReader(plain, HEAD)
        head = buffered.peek(HEAD)
    except FileNotFoundError:
        raise GiveUp(f"{path} does not exist: check the name") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise GiveUp(f"{path} is damaged gzip from its beginning: export it again") from None
    except OSError as error:
        raise GiveUp(f"{path} cannot be read ({error.strerror}): check permissions") from None
    encoding = next((name for mark, name in _BOMS if head.startswith(mark)), "utf-8")
    if encoding == "utf-8" and _is_binary(head):
        raise GiveUp(f"{path} is binary: give JSON, a log, or either of them packed with gzip")
    return io.TextIOWrapper(buffered, encoding=encoding, errors="replace")


def _is_binary(head: bytes) -> bool:
    """Zero bytes alone do not tell: logs that were cut while written to begin with them."""
    if b"\0" not in head:
        return False
    text = head.replace(b"\0", b"").decode("utf-8", "replace")
    return len(_ODD.findall(text)) * 10 >= len(text)


def lines_of(text: TextIO) -> Iterator[Line]:
    """The lines without their ends; a damaged end of the file is a last line with a problem."""
    number = 0
    try:
        while line := text.readline(LINE_LIMIT):
            number += 1
            cut = len(line) >= LINE_LIMIT and not line.endswith("\n")
            while cut and (rest := text.readline(LINE_LIMIT)) and not rest.endswith("\n"):
                pass
            if cut:
                yield Line(number, line[:EXCERPT], f"longer than {LINE_LIMIT} characters")
            else:
                yield Line(number, line.rstrip("\n"))
    except DAMAGE:
        yield Line(number + 1, "", "the file is cut off or damaged from here on")


def kind_of(lines: Iterator[Line]) -> tuple[Kind, Iterator[Line]]:
    """What the file holds, told by its first two lines that are not blank; and all its lines."""
    taken: list[Line] = []
    firsts: list[str] = []
    for line in lines:
        taken.append(line)
        if line.text.strip():
            firsts.append(line.text.strip())
        if len(firsts) == 2:
            break
    is_one_long_line = len(firsts) == 1 and bool(taken[-1].problem)
    return "document" if is_one_long_line else _kind(firsts), chain(taken, lines)


def _kind(firsts: list[str]) -> Kind:
    """The kind of a file that begins with these lines.

    >>> _kind(['{"a": 1}', '{"a"']), _kind(["{", '"a": 1']), _kind(["[2026-11-03 10:00:00] no"])
    ('lines', 'document', 'log')
    """
    if not firsts:
        return "empty"
    first, second = firsts[0], (firsts[1:] or [""])[0]
    if _ARRAY.match(first):
        return "document"
    if not first.startswith("{"):
        return "log"
    opens = bool(_OPENS_DOCUMENT.match(first[-EXCERPT:])) and not second.startswith("{")
    return "document" if second and opens else "lines"


class Document(NamedTuple):
    """The text of a JSON document; only its beginning where it is too long."""

    text: str
    problem: str = ""
    is_too_long: bool = False


def document_of(text: TextIO) -> Document:
    """Read a whole JSON document."""
    parts: list[str] = []
    try:
        while len(parts) <= DOCUMENT_LIMIT // LINE_LIMIT and (part := text.read(LINE_LIMIT)):
            parts.append(part)
    except DAMAGE:
        return Document("".join(parts), "the file is cut off or damaged")
    whole = "".join(parts)
    if len(whole) <= DOCUMENT_LIMIT:
        return Document(whole)
    problem = f"longer than {DOCUMENT_LIMIT} characters: export JSON Lines instead"
    return Document(whole[:EXCERPT], problem, is_too_long=True)


def values_of(text: str) -> Iterator[tuple[int, object, str]]:
    """Line, value and problem of every JSON value in a text, or of every item of its array.

    A problem ends it: what follows broken JSON cannot be told apart.

    >>> [value for _, value, _ in values_of('[{"a": 1}, {"b": 2}')][:2]
    [{'a': 1}, {'b': 2}]
    """
    decoder = json.JSONDecoder(strict=False)
    at = _skip(text, 0, "")
    in_array = text[at : at + 1] == "["
    at = _skip(text, at + 1, "") if in_array else at
    number, counted = 1, 0
    while at < len(text) and not (in_array and text[at] == "]"):
        number += text.count("\n", counted, at)
        counted = at
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield number, text[at : at + EXCERPT], json_problem(error)
            return
        yield number, value, ""
        at = _skip(text, end, "," if in_array else "")
    if in_array and at >= len(text):
        yield number, text[-EXCERPT:], "the array has no end: the file is cut off"


def json_problem(error: Exception) -> str:
    """A sentence about JSON that cannot be read.

    >>> json_problem(RecursionError())
    'nested too deeply'
    """
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return f"no JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else "no JSON"


_BLANK = re.compile(r"[\s]*")


def _skip(text: str, at: int, separator: str) -> int:
    found = _BLANK.match(text, at)
    at = found.end() if found else at
    if separator and text[at : at + 1] == separator:
        return _skip(text, at + 1, "")
    return at
