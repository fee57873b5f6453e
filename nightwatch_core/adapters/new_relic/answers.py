"""Answers of New Relic: data, and errors named by what to do about them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nightwatch_core.adapters.stores.traffic import refusals
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater


class Throttled(TryLater):
    """New Relic asks for fewer requests."""

    wait = 1.0  # seconds until the next request


class TooSlow(TryLater):
    """A query took longer than it may: ask for less at once."""


class Unwell(TryLater):
    """New Relic, or the way to it, is unwell."""


class BadKey(StopTheNight):
    """The key is not accepted."""


class Denied(StopTheNight):
    """The key may not read this."""


class BadQuery(GiveUp):
    """New Relic does not understand the question."""


KINDS: Mapping[str, type[NightWatchError]] = {
    kind.__name__: kind
    for kind in (BadKey, Denied, Throttled, TooSlow, BadQuery, Unwell, StopTheNight)
}
REFUSALS = refusals("nightwatch_core.adapters.new_relic")
CODES = ("errorClass", "error_code", "errorCode", "code", "classification")


@dataclass(frozen=True)
class Failure:
    """One error of an answer; an empty path means all of it."""

    path: tuple[str, ...]
    error: NightWatchError

    def concerns(self, path: tuple[str, ...]) -> bool:
        """Tell whether what stands at `path` may be missing or incomplete."""
        length = min(len(path), len(self.path))
        return path[:length] == self.path[:length]


@dataclass(frozen=True)
class Answer:
    """The data of an answer, and what is missing from it."""

    data: Mapping[str, Any]
    failures: tuple[Failure, ...] = ()

    def at(self, *path: str) -> Any:
        """Return the value at `path`, None for null; raises the error reported there."""
        for failure in self.failures:
            if failure.concerns(path):
                raise failure.error
        value: Any = self.data
        for name in path:
            if value is None:
                return None
            if not isinstance(value, Mapping) or name not in value:
                raise Unwell("New Relic left out a part of its answer: try again in some minutes")
            value = value[name]
        return value


def failure(error: object, cleaned: Callable[[str], str]) -> Failure:
    """Return the exception for one entry of `errors`; `cleaned` makes its text safe."""
    fields = error if isinstance(error, dict) else {}
    extensions = fields.get("extensions")
    codes = extensions if isinstance(extensions, dict) else {}
    given = [str(codes[name]) for name in CODES if codes.get(name)]
    message = cleaned(str(fields.get("message") or ""))
    # A code says more than a message, which may quote anything.
    words = " ".join(given).upper() or message.upper()
    row = next(row for row in REFUSALS if any(word in words for word in row.words))
    path = tuple(map(str, listed(fields.get("path"))))
    return Failure(path, KINDS[row.error](f"{row.text} ({message})" if message else row.text))


def failed_status(status: int, body: str) -> NightWatchError | None:
    """Return the exception for a status other than 200; `body` is cleaned."""
    if status == 200:
        return None
    known = min(status, 500)  # 500 stands for what comes after it
    row = next((r for r in REFUSALS if status in r.statuses or known in r.statuses), None)
    if row:
        return KINDS[row.error](f"{row.text} (HTTP {status})")
    return BadQuery(f"New Relic refuses a request of ours (HTTP {status}): {body}")


def throttled(seconds: float) -> Throttled:
    """Return the exception for an answer that names the time to wait.

    >>> str(throttled(7)), throttled(7).wait
    ('New Relic asks for fewer requests, and to wait 7 seconds: try again after that (HTTP 429)', 7)
    """
    error = Throttled(
        f"New Relic asks for fewer requests, and to wait {seconds:,.0f} seconds: "
        "try again after that (HTTP 429)"
    )
    error.wait = seconds
    return error


def listed(value: object) -> list[Any]:
    """Return a list; empty for anything else."""
    return value if isinstance(value, list) else []
