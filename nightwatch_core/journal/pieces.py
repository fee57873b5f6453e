"""Values as canonical JSON, cut into pieces that are named by their content.

A long value is a piece of its own, replaced by its digest, `{"$": "<sha256>"}`: a turn that ten
requests repeat is stored once, and no piece can be changed without breaking its digest.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from nightwatch_core.errors import GiveUp

LONG = 400  # characters of JSON from which a value is a piece
REFERENCE = "$"
JOINED = 64_000_000  # characters that one value may have, put together again


def name_of(text: str) -> str:
    """Return the name of a piece, or of any canonical text.

    >>> name_of("[]")[:12]
    '4f53cda18c2b'
    """
    return hashlib.sha256(text.encode("ascii", "backslashreplace")).hexdigest()


def canonical(value: Any) -> str:
    """Return JSON in plain ASCII, its keys sorted, without spaces: half characters are kept.

    >>> canonical({"b": (1, "ä"), "a": None})
    '{"a":null,"b":[1,"\\\\u00e4"]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def cleaned(value: Any, text: Callable[[str], str], kept: frozenset[str] = frozenset()) -> Any:
    """Return a value as plain JSON, every string through `text`, but for fields named in `kept`.

    >>> cleaned({"a": ("x", {"b": "x"})}, str.upper, frozenset({"b"}))
    {'A': ['X', {'B': 'x'}]}
    """
    return _cleaned(to_jsonable_python(value), text, kept)


def _cleaned(value: Any, text: Callable[[str], str], kept: frozenset[str]) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {
            text(name): item if name in kept else _cleaned(item, text, kept)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_cleaned(item, text, kept) for item in value]
    return value


def blanked(value: Any, names: frozenset[str]) -> Any:
    """Return plain JSON with the fields of these names empty.

    >>> blanked([{"a": "x", "b": "y"}], frozenset({"b"}))
    [{'a': 'x', 'b': ''}]
    """
    if isinstance(value, dict):
        return {name: "" if name in names else blanked(item, names) for name, item in value.items()}
    return [blanked(item, names) for item in value] if isinstance(value, list) else value


class Cutter:
    """Writes values as JSON, and gives what is long to `keep` as pieces: name and text."""

    def __init__(self, text: Callable[[str], str], keep: Callable[[str, str], object]) -> None:
        self._text, self._keep = text, keep

    def cut(self, value: Any) -> str:
        """Return the value's JSON, with the names of pieces in it."""
        return self._inner(to_jsonable_python(value))

    def _inner(self, value: Any) -> str:
        if isinstance(value, str):
            return json.dumps(self._text(value))
        if isinstance(value, dict):
            rows = {}
            for name, item in value.items():
                key = self._text(name)
                escaped = f"{REFERENCE}{key}" if key.startswith(REFERENCE) else key
                rows[escaped] = self._part(item)
            return f"{{{','.join(f'{json.dumps(name)}:{rows[name]}' for name in sorted(rows))}}}"
        if isinstance(value, list):
            return f"[{','.join(map(self._part, value))}]"
        return json.dumps(value)

    def _part(self, value: Any) -> str:
        text = self._inner(value)
        if len(text) < LONG:
            return text
        name = name_of(text)
        self._keep(name, text)
        return canonical({REFERENCE: name})


def references(value: Any) -> Iterator[str]:
    """Return the names of pieces in JSON that was read."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, dict):
        if set(value) == {REFERENCE}:
            yield str(value[REFERENCE])
            return
        for item in value.values():
            yield from references(item)


def reached(start: Iterable[str], pieces: Mapping[str, str]) -> set[str]:
    """Return the names of all pieces reachable from `start`, missing ones included."""
    names: set[str] = set()
    ahead = list(start)
    while ahead:
        name = ahead.pop()
        if name not in names:
            names.add(name)
            ahead.extend(references(json.loads(pieces.get(name, "null"))))
    return names


def joined(value: Any, pieces: Mapping[str, str], most: int = JOINED) -> Any:
    """Return JSON with its pieces filled in.

    Raises `GiveUp` for a missing piece, and beyond `most` characters: pieces that name each other
    could make a small file a huge value.
    """
    return _Joiner(pieces, most).join(value)


class _Joiner:
    def __init__(self, pieces: Mapping[str, str], most: int) -> None:
        self._pieces, self._left = pieces, most

    def join(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.join(item) for item in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {REFERENCE}:
            return self.join(json.loads(self._piece(str(value[REFERENCE]))))
        return {
            name[1:] if name.startswith(REFERENCE * 2) else name: self.join(item)
            for name, item in value.items()
        }

    def _piece(self, name: str) -> str:
        if name not in self._pieces:
            raise GiveUp(f"the bundle lacks a piece, {name[:12]}: it was cut, or changed")
        self._left -= len(self._pieces[name])
        if self._left < 0:
            raise GiveUp("a value of the bundle is larger than any night's: it is not ours")
        return self._pieces[name]
