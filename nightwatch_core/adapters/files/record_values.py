"""Values of records, whatever a source wrote: texts, counts and times."""

import json
import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

from nightwatch_core.adapters.files.limits import MESSAGE_LIMIT, NAME_LIMIT, TIME_REACH

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_ZONED = re.compile(r"(?:Z|[A-Z]{3,4}|[+-]\d\d:?\d\d|^\d{9,})\)?$")
_CLASS_REPR = re.compile(r"<class '([^']{1,300})'>")
_EARLIEST, _LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICKS = ((1e11, 1), (1e14, 1_000), (1e17, 1_000_000), (1e20, 1_000_000_000))  # below: per second

# Where a time stands in a line of a log, most telling first; what `when` reads is the first group.
_OFFSET = r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})(?!\w))?"
_CLOCK = r"\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
TIMES_IN_LOGS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(\d{{4}}[-/]\d{{2}}[-/]\d{{2}}[T ]{_CLOCK}{_OFFSET})",
        rf"(\d{{2}}[/-][A-Z][a-z]{{2}}[/-]\d{{4}}[: ]{_CLOCK}{_OFFSET})",
        rf"((?:[A-Z][a-z]{{2}}, )?\d{{2}} [A-Z][a-z]{{2}} \d{{4}} {_CLOCK}{_OFFSET})",
        rf"([A-Z][a-z]{{2}} [A-Z][a-z]{{2}} {{1,2}}\d{{1,2}} {_CLOCK} \d{{4}})",
    )
)


def text_of(value: object, limit: int = MESSAGE_LIMIT) -> str:
    r"""A text without control characters, cut in its middle where it is longer than `limit`.

    >>> text_of("a\x00b\r\n\x1b[31mc\x1b[0m"), text_of(7.0), text_of(None), text_of({"a": 1})
    ('ab\nc', '7', '', '{"a": 1}')
    """
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, float):
        value = int(value) if value.is_integer() else value
    is_plain = isinstance(value, str | int)
    text = str(value) if is_plain else _json(value)
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
    if not text.isprintable():
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = _CONTROLS.sub("", _COLOUR.sub("", text))
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()  # halves of surrogate pairs become "?"
    return text.strip("\n")


def name_of(value: object) -> str:
    """A text on one line: a class, a transaction, a host.

    >>> name_of("  Orders \\n Controller"), name_of("<class 'shop.Empty'>"), name_of(["a"])
    ('Orders Controller', 'shop.Empty', '')
    """
    if isinstance(value, str):
        return _name_of(value[: 4 * NAME_LIMIT])
    return "" if isinstance(value, list | dict) else _name_of(text_of(value))


@lru_cache(maxsize=4_096)
def _name_of(value: str) -> str:
    text = " ".join(text_of(value).split())[:NAME_LIMIT]
    found = _CLASS_REPR.fullmatch(text)
    return found[1] if found else text


def number_of(value: object) -> int | None:
    """A whole number that is not negative, from a number or its text; None for anything else.

    >>> number_of(3.0), number_of("1,204"), number_of("many"), number_of(True), number_of(-1)
    (3, 1204, None, None, None)
    """
    found = _float(value.replace(",", "") if isinstance(value, str) else value)
    return int(found) if found is not None and 0 <= found < 1e15 else None


def time_of(value: object) -> datetime | None:
    """A time in UTC; None where there is none, or no sane one (years 1990 to 2099).

    Takes RFC 3339, RFC 1123, the common log formats, and seconds, milli-, micro- or nanoseconds
    since 1970 as number or text. A time without a zone is UTC.

    >>> time_of(1_793_700_000).isoformat() == time_of("1793700000000").isoformat()
    True
    >>> time_of("2026-11-03 10:20:30,5"), time_of("soon")
    (datetime.datetime(2026, 11, 3, 10, 20, 30, 500000, tzinfo=datetime.timezone.utc), None)
    """
    seconds = _float(value)
    if seconds is not None and abs(seconds) >= 1e8:
        return _sane(lambda: _from_epoch(seconds, value))
    if not isinstance(value, str):
        return None
    text = value.strip()[:64]
    for read in TIME_READERS:
        found = _sane(lambda read=read: read(text))  # type: ignore[misc]
        if found is not None:
            return found
    return None


def time_in_log(line: str) -> datetime | None:
    """The time near the beginning of a line of a log.

    >>> time_in_log("E, [2026-11-03T10:20:30.000001 #12] ERROR -- : no").minute
    20
    """
    head = line[: TIME_REACH + 40]
    for pattern in TIMES_IN_LOGS:
        found = pattern.search(head)
        if found and found.start() <= TIME_REACH:
            return time_of(found[1])
    return None


def has_zone(value: object) -> bool:
    """Tell a time that says its zone; ticks since 1970 do.

    >>> has_zone("2026-11-03T10:20:30Z"), has_zone(1_793_700_000), has_zone("2026-11-03 10:20:30")
    (True, True, False)
    """
    return not isinstance(value, str) or _ZONED.search(value.strip()[-12:]) is not None


def _from_epoch(seconds: float, value: object) -> datetime:
    per_second = next((ticks for below, ticks in _TICKS if abs(seconds) < below), 0)
    if not per_second:
        raise ValueError
    whole = int(value) if isinstance(value, int | str) and str(value).strip().isdigit() else None
    micros = (whole if whole is not None else seconds) * 1_000_000 // per_second
    return _EPOCH + timedelta(microseconds=int(micros))


def _iso(text: str) -> datetime:
    text = text.replace("/", "-", 2) if text[4:5] == "/" else text
    return datetime.fromisoformat(_zone(text.replace(",", ".")))


def _named_month(form: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(_zone(text), form)  # noqa: DTZ007 (_sane adds UTC)


def _zone(text: str) -> str:
    """Ruby writes ` UTC` and ` +0100`, which `fromisoformat` does not take."""
    for name in (" UTC", " GMT", "UTC", "GMT"):
        text = text.removesuffix(name) + "+00:00" if text.endswith(name) else text
    return re.sub(r" ([+-]\d{2}:?\d{2})$", r"\1", text)


# The first that reads the text wins.
TIME_READERS: tuple[Callable[[str], datetime], ...] = (
    _iso,
    parsedate_to_datetime,
    _named_month("%d/%b/%Y:%H:%M:%S%z"),
    _named_month("%d-%b-%Y %H:%M:%S%z"),
    _named_month("%d-%b-%Y %H:%M:%S"),
    _named_month("%a %b %d %H:%M:%S %Y"),
    _named_month("%a %b %d %H:%M:%S.%f %Y"),
    # Clocks of twelve hours are American, so that the month comes first: Azure's portal.
    *(
        _named_month(f"%m/%d/%Y{comma} %I:%M:%S{fraction} %p{zone}")
        for comma in (",", "")
        for fraction in (".%f", "")
        for zone in ("%z", "")
    ),
)


def _sane(read: Callable[[], datetime]) -> datetime | None:
    try:
        found = read()
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return found if _EARLIEST <= found < _LATEST else None


def _float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and (len(value) > 40 or not value.strip()[:1].isdigit()):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""


def has_lines(text: str) -> bool:
    r"""Tell a text that has line ends, be they escaped.

    >>> has_lines("a\nb\n"), has_lines(r"a\nb"), has_lines("a\n")
    (True, True, False)
    """
    return any(end in text.rstrip() for end in ("\n", "\r", "\\n"))
