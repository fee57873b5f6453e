"""Fingerprints as people type them: whole, without their version ("v1:"), or as a beginning."""

from collections.abc import Iterable

SHORTEST = 4  # characters of a beginning, without the version


def is_name(typed: str, names: Iterable[str]) -> bool:
    """Whether one of the names was typed, with or without its version.

    >>> is_name("v1:ab12", ["v1:ab12"]), is_name(" AB12", ["v1:ab12"]), is_name("ab", ["v1:ab12"])
    (True, True, False)
    """
    return any(typed.strip().lower() in (name.lower(), bare(name.lower())) for name in names)


def is_beginning(typed: str, names: Iterable[str], shortest: int = SHORTEST) -> bool:
    """Whether one of the names begins as typed; less than `shortest` characters mean nothing.

    >>> is_beginning("v1:ab12", ["v1:ab12cd"]), is_beginning("ab12", ["v1:ab12cd"])
    (True, True)
    >>> is_beginning("v1:ab1", ["v1:ab12cd"]), is_beginning("", ["v1:ab12cd"])
    (False, False)
    """
    start = typed.strip().lower()
    lowered = [name.lower() for name in names]
    begins = any(name.startswith(start) or bare(name).startswith(start) for name in lowered)
    return begins and len(bare(start)) >= shortest


def bare(name: str) -> str:
    """Cut off the version.

    >>> bare("v1:ab12"), bare("ab12")
    ('ab12', 'ab12')
    """
    return name.partition(":")[2] or name
