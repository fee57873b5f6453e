"""The shape of a rule."""

import re
from collections.abc import Callable
from typing import NamedTuple

START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"  # where a word may begin, after an escape too


class Rule(NamedTuple):
    """What is taken out: group `v` of the pattern, or all of it, where `accept` agrees.

    The pattern must be linear: what it repeats is bounded, or read once. It is tried only on texts
    that hold one of `needs`, written small; without them on all.
    """

    kind: str  # of the mask, small letters
    pattern: re.Pattern[str]
    needs: tuple[str, ...] = ()
    accept: Callable[[re.Match[str]], bool] = bool
    by_line: bool = False  # it never matches over lines: only lines that hold one of `needs` count


def rule(kind: str, pattern: str, *needs: str, flags: int = 0) -> Rule:
    """Make a rule that accepts whatever its pattern matches."""
    return Rule(kind, re.compile(pattern, flags), needs)
