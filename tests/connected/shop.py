"""The application that fails: its code, its history, and the errors it throws in production.

Everything is told relative to `now`, so that a night of today finds it. The release that runs is
`RELEASE`; the branch has moved on since, so that who reads the wrong commit reads wrong lines.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import yaml

REPOSITORY, APPLICATION = "acme/shop", "shop"
RELEASE, EARLIER = "v1.9.0", "v1.8.0"

FIXED = {"line.line_total": "line.line_price", "curency": "currency"}
_DATA = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))


class Merged(NamedTuple):
    """A commit of the branch; with a title it is a pull request's."""

    ago: timedelta
    message: str
    files: Mapping[str, str]
    number: int = 0
    tag: str = ""


HISTORY = tuple(Merged(timedelta(hours=row.pop("hours")), **row) for row in _DATA["history"])
BASKET = HISTORY[2].files["app/models/basket.rb"]
CAUSE = 12  # the pull request that broke the basket


class Failing(NamedTuple):
    """An error group: its failing line is the one that holds `line`; without it there is no trace.

    `callers` are the frames above it, outermost last.
    """

    error_class: str
    transaction: str
    message: str
    path: str = ""
    line: str = ""
    occurrences: int = 10
    callers: tuple[str, ...] = ()


def _failing(row: dict[str, Any]) -> Failing:
    return Failing(**{**row, "callers": tuple(row.get("callers", ()))})


TEN = tuple(map(_failing, _DATA["errors"]))
BROKEN_BASKET, NO_ADDRESS, NO_RATE, TYPO = TEN[:4]
THREE = TEN[:3]
IGNORED, EXPECTED = map(_failing, (_DATA["ignored"], _DATA["expected"]))


def running() -> dict[str, str]:
    """The files of the release that runs, by path."""
    files: dict[str, str] = {}
    for merged in HISTORY:
        files |= merged.files
        if merged.tag == RELEASE:
            return files
    raise AssertionError("no such release")


def frames(error: Failing) -> list[str]:
    """The trace of an error, innermost first, as Ruby prints it."""
    lines = running()[error.path].split("\n")
    (number,) = (at for at, text in enumerate(lines, start=1) if error.line in text)
    above = [re.match(r"\s*def (?:self\.)?(\w+)", text) for text in lines[:number]]
    function = [found[1] for found in above if found][-1]
    inner = f"{error.path}:{number}:in '{function}'"
    library = "/usr/local/bundle/gems/rack-3.1.8/lib/rack/etag.rb:29:in 'Rack::ETag#call'"
    return [inner, *error.callers, library]
