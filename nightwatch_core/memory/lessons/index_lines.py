"""The plain lines of index.yml written and read without a YAML library, where they are plain.

A library takes a millisecond for a document's line, and there may be 50,000. What is written here
is what `frontmatter.dumped` writes, and an entry that is not plain goes through it: text, true,
false, null, whole numbers and lists of text, each on a line of its own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby

import yaml

from nightwatch_core.text.frontmatter import StrictLoader, dumped

_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?:(?:::?|#| )[A-Za-z0-9_./][A-Za-z0-9_./-]*)*")
_QUOTED = re.compile(r"'([^'\n\\]*)'")
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_PAIR = re.compile(r"[- ] ([a-z_]{1,40}):(?: (.+))?")
_KNOWN: Mapping[str, object] = {"true": True, "false": False, "null": None}


class NotPlain(ValueError):
    """An entry that a YAML library has to read."""


def rendered(entries: Iterable[Mapping[str, object]]) -> str:
    """The entries of a list as YAML, in the form of `dumped`.

    >>> print(rendered([{"file": "errors/a.md", "has_fix": True, "tags": ["a", "404"]}]), end="")
    - file: errors/a.md
      has_fix: true
      tags:
      - a
      - '404'
    """
    return "".join(map(_entry, entries))


def entries_in(text: str) -> list[dict[str, object]]:
    """The entries of such a list; raises what a YAML library does where one is wrong.

    >>> entries_in(rendered([{"title": "A: b", "occurrences": 3}]))
    [{'title': 'A: b', 'occurrences': 3}]
    """
    return [_read(chunk) for chunk in _chunks(text)]


def _entry(entry: Mapping[str, object]) -> str:
    rows = [row for key, value in entry.items() for row in _rows(key, value)]
    if any("\n" in row for row in rows):
        return dumped({"a": [dict(entry)]}).partition("\n")[2].removesuffix("...\n")
    return "- " + "\n  ".join(rows) + "\n"


def _rows(key: str, value: object) -> Iterator[str]:
    if isinstance(value, list) and value:
        yield f"{key}:"
        yield from (f"- {_scalar(one)}" for one in value)
    else:
        yield f"{key}: {_scalar(value)}"


def _scalar(value: object) -> str:
    if isinstance(value, str):
        plain = _TEXT.fullmatch(value) and value.lower() not in _WORDS
        return value if plain and len(value) < 1_000 else _other(value)
    if value is None:
        return "null"
    return "[]" if isinstance(value, list) else str(value).lower()


@lru_cache(maxsize=4_096)
def _other(value: str) -> str:
    return dumped({"a": value})[3:-1]


def _chunks(text: str) -> Iterator[list[str]]:
    """The lines of each entry."""
    number = 0

    def entry(row: str) -> int:
        nonlocal number
        number += row.startswith("- ")
        return number

    for _, rows in groupby(text.removesuffix("\n").split("\n") if text else (), entry):
        yield list(rows)


def _read(rows: list[str]) -> dict[str, object]:
    try:
        return _plain(rows)
    except NotPlain:
        found = yaml.load("\n".join((*rows, "")), StrictLoader)
    if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], dict):
        raise ValueError("an entry is no mapping")
    return found[0]


def _plain(rows: list[str]) -> dict[str, object]:
    entry: dict[str, object] = {}
    items: list[object] | None = None
    for number, row in enumerate(rows):
        if items is not None and row.startswith("  - "):
            items.append(_value(row[4:]))
            continue
        pair = _PAIR.fullmatch(row)
        if not pair or (row[0] == "-") != (number == 0) or pair[1] in entry:
            raise NotPlain
        items = [] if pair[2] is None else None
        entry[pair[1]] = items if items is not None else _value(pair[2])
    if any(value == [] for value in entry.values()):
        raise NotPlain  # written as "[]", and null where nothing follows
    return {key: [] if value is _EMPTY else value for key, value in entry.items()}


_EMPTY = object()


def _value(text: str) -> object:
    if text in _KNOWN:
        return _KNOWN[text]
    if _TEXT.fullmatch(text) and text.lower() not in _WORDS:
        return text
    if quoted := _QUOTED.fullmatch(text):
        return quoted[1]
    if _NUMBER.fullmatch(text):
        return int(text)
    if text == "[]":
        return _EMPTY
    raise NotPlain
