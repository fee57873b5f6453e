"""Names of record fields by meaning, and how a record's fields are looked up."""

import json
import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from nightwatch_core.adapters.files.limits import MAX_DEPTH, MAX_FIELDS, MESSAGE_LIMIT, NAME_LIMIT
from nightwatch_core.text.plain_text import data_table

FIELDS = data_table("nightwatch_core.adapters.files", "fields.toml", dict[str, tuple[str, ...]])

LOGGED = "logged error"  # stands for a class where a record names none; no class is called so
_ODD = re.compile(r"[^a-z0-9]")
_NOT_OURS = ("@version", "@type", "_type")  # of formats, not of applications and exceptions


@lru_cache(maxsize=8_192)
def squeezed(name: str) -> str:
    """Return a field name without what sources disagree about.

    >>> squeezed("error.stack_trace"), squeezed("errorStackTrace")
    ('errorstacktrace', 'errorstacktrace')
    """
    plain = _ODD.sub("", name[:200].lower())
    return plain if name not in _NOT_OURS else f"at{plain}"


_PREFIXES = ("", "latest.", "around.")
_SOUGHT = {
    field: tuple(dict.fromkeys(squeezed(prefix + n) for prefix in _PREFIXES for n in names))
    for field, names in FIELDS.items()
}


def flat(record: Mapping[str, object]) -> dict[str, object]:
    """Return all fields of a record by squeezed dotted names; the first of equal names counts."""
    fields: dict[str, object] = {}
    _flatten(record, "", fields, 0)
    return fields


def _flatten(
    record: Mapping[str, object], prefix: str, fields: dict[str, object], depth: int
) -> None:
    for key, value in record.items():
        name = prefix + squeezed(str(key))
        if key == "values" and isinstance(value, list) and value and isinstance(value[-1], dict):
            name, value = prefix, value[-1]  # Sentry: the exception that was reported is the last
        if isinstance(value, Mapping) and depth < MAX_DEPTH:
            _flatten(value, name, fields, depth + 1)
        elif value not in (None, "", [], {}) and len(fields) < MAX_FIELDS:
            fields.setdefault(name, value)


def first(
    fields: Mapping[str, object], field: str, fits: Callable[[object], bool] = lambda _: True
) -> object:
    """Return the best field of a meaning whose value fits; None where there is none."""
    for name in present(tuple(fields))[field]:
        if fits(fields[name]):
            return fields[name]
    return None


@lru_cache(maxsize=256)
def present(names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the sought names that a record has: records of one file have the same fields."""
    given = frozenset(names)
    return {field: tuple(n for n in sought if n in given) for field, sought in _SOUGHT.items()}


# Values of records, whatever a source wrote: texts and counts.

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_CLASS_REPR = re.compile(r"<class '([^']{1,300})'>")


def text_of(value: object, limit: int = MESSAGE_LIMIT) -> str:
    r"""Return a text without control characters, cut in its middle where it is longer than `limit`.

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
    """Return a text on one line: a class, a transaction, a host.

    >>> name_of("  Orders \\n Controller"), name_of("<class 'shop.Empty'>"), name_of(["a"])
    ('Orders Controller', 'shop.Empty', '')
    """
    if isinstance(value, str):
        return _name_of(value[: 4 * NAME_LIMIT])
    return "" if isinstance(value, list | dict) else _name_of(text_of(value))


@lru_cache(maxsize=4_096)
def _name_of(value: str) -> str:
    text = " ".join(text_of(value).split())[:NAME_LIMIT]
    printed = _CLASS_REPR.fullmatch(text)
    return printed[1] if printed else text


def number_of(value: object) -> int | None:
    """Return a whole number, 0 or more, from a number or its text; None for anything else."""
    number = float_of(value.replace(",", "") if isinstance(value, str) else value)
    return int(number) if number is not None and 0 <= number < 1e15 else None


def float_of(value: object) -> float | None:
    """Return a number from a number or its text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and (len(value) > 40 or not value.strip()[:1].isdigit()):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""


def has_lines(text: str) -> bool:
    r"""Tell a text that has line ends, be they escaped."""
    bare = text.rstrip()
    return "\n" in bare or "\r" in bare or "\\n" in bare


# Levels of records: which say that nothing failed, and which say that something did.

# A record without class and trace that says one of these is no error, and no broken record.
QUIET_LEVELS = frozenset(
    ("trace", "debug", "info", "information", "informational", "notice", "verbose", "warn",
     "warning", "ok", "unset", "unspecified")
)  # fmt: skip
LOUD_LEVELS = frozenset(
    ("error", "err", "eror", "critical", "crit", "fatal", "alert", "emergency", "emerg", "panic",
     "dpanic", "severe", "exception")
)  # fmt: skip
# Of OpenTelemetry (1 to 24), pino and bunyan (10 to 60).
_QUIET_NUMBERS = frozenset((*range(1, 17), 20, 30, 40))
_LOUD_NUMBERS = frozenset((*range(17, 25), 50, 60)) - _QUIET_NUMBERS


def is_quiet(level: object) -> bool:
    """Tell whether a level says that nothing failed.

    >>> is_quiet("INFO"), is_quiet(30), is_quiet("error"), is_quiet(None)
    (True, True, False, False)
    """
    return _is_level(level, QUIET_LEVELS, _QUIET_NUMBERS)


def is_loud(level: object) -> bool:
    """Tell whether a level says that something failed.

    >>> is_loud("ERROR"), is_loud(50), is_loud("DEFAULT"), is_loud(None)
    (True, True, False, False)
    """
    return _is_level(level, LOUD_LEVELS, _LOUD_NUMBERS)


def _is_level(level: object, words: frozenset[str], numbers: frozenset[int]) -> bool:
    if isinstance(level, str) and not level.isdigit():
        return level.strip().lower() in words
    return number_of(level) in numbers


def is_answered(status: object) -> bool:
    """Tell whether the status of an answer says that the server did not fail.

    >>> is_answered(200), is_answered("404"), is_answered(500), is_answered(1), is_answered(None)
    (True, True, False, False, False)
    """
    number = number_of(status)
    return number is not None and 100 <= number < 500
