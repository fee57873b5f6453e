"""Looks an error class up in a table of names, the same way wherever classes are told apart.

The order: full name, last segment, namespace, whole-word suffix; never a substring, so that
`PrototypeError` is not taken for a `TypeError`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

_T = TypeVar("_T")
_LONGEST = 500  # characters of a class name that are looked at
_SEPARATORS = re.compile(r"::|[.\\/]")
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def segments(error_class: str) -> tuple[str, ...]:
    r"""The parts of a qualified class name.

    >>> segments("ActiveRecord::RecordNotFound"), segments(r"\App\Oops"), segments("*net.OpError")
    (('ActiveRecord', 'RecordNotFound'), ('App', 'Oops'), ('net', 'OpError'))
    """
    parts = _SEPARATORS.split(error_class[:_LONGEST])
    return tuple(part for part in (raw.strip(" \t\r\n*&:;") for raw in parts) if part)


def last_segment(error_class: str) -> str:
    """The class name without its namespace; empty for an empty name.

    >>> last_segment("java.lang.NullPointerException")
    'NullPointerException'
    """
    return segments(error_class)[-1] if segments(error_class) else ""


def words(name: str) -> tuple[str, ...]:
    """The words of a name in camel case or snake case.

    >>> words("PGNotAuthorizedError"), words("not_found")
    (('PG', 'Not', 'Authorized', 'Error'), ('not', 'found'))
    """
    return tuple(_WORDS.findall(name[:_LONGEST]))


class ClassTable(Generic[_T]):
    """Values by class name and by namespace; names of two or more words also match as a suffix."""

    def __init__(self, names: Mapping[str, _T], namespaces: Mapping[str, _T]) -> None:
        """Take the two visible tables apart once."""
        self._names = {segments(name): value for name, value in names.items()}
        self._namespaces = {segments(name): value for name, value in namespaces.items()}
        single = {words(name[0]): value for name, value in self._names.items() if len(name) == 1}
        self._suffixes = {key: value for key, value in single.items() if len(key) > 1}

    def find(self, error_class: str) -> _T | None:
        """The value for a class; None where nothing matches.

        >>> table = ClassTable({"TypeError": 1, "db.Error": 2}, {"db": 3})
        >>> [table.find(c) for c in ("x.TypeError", "db.Error", "db.sql.Oops", "MyTypeError")]
        [1, 2, 3, 1]
        >>> [table.find(c) for c in ("PrototypeError", "", "dbx.Oops")]
        [None, None, None]
        """
        parts = segments(error_class)
        for found in (
            self._names.get(parts),
            self._names.get(parts[-1:]),
            _longest(self._namespaces, (parts[:n] for n in range(len(parts) - 1, 0, -1))),
            _suffix(self._suffixes, parts),
        ):
            if found is not None:
                return found
        return None


def _longest(table: Mapping[tuple[str, ...], _T], keys: Iterable[tuple[str, ...]]) -> _T | None:
    return next((table[key] for key in keys if key in table), None)


def _suffix(table: Mapping[tuple[str, ...], _T], parts: tuple[str, ...]) -> _T | None:
    name = words(parts[-1]) if parts else ()
    return _longest(table, (name[start:] for start in range(len(name))))
