"""The record of a night, asked again: the same question has the same answers in the same order."""

import json
from collections.abc import Mapping
from threading import Lock
from typing import Any, get_args

from nightwatch_core import errors
from nightwatch_core.errors import GiveUp, NightWatchError
from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.bundle import Asked, Bundle, Kind, Told
from nightwatch_core.models.usage import Usage
from nightwatch_core.privacy.masks import without_numbers
from nightwatch_core.privacy.values import Scrub
from nightwatch_core.replay.pieces import Cutter, canonical, joined
from nightwatch_core.replay.seams import Member

LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "errors.window": ("lookback", "now"),
    "model.reply": ("timeout",),
    "nights.unfinished": ("kind", "since"),
    "batches.ask_one": ("timeout",),
    "batches.intents": ("now",),
    "batches.newest": ("since",),
}
"""Arguments that differ from run to run though the question is the same."""


def named_question(port: str, member: Member, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a question is known by: its arguments, or of what is written its name alone.

    `port` may name whose it is behind an @, as "code@1a2b".
    """
    name = f"{port.partition('@')[0]}.{member.name}"
    match name:
        case "outbox.publish":
            return {"kind": arguments["proposal"].kind, "key": arguments["proposal"].key}
        case "lessons.write":
            return {"fingerprint": arguments["lesson"].fingerprint}
        case "lessons.write_pattern":
            return {"slug": arguments["pattern"].slug}
        case "sandbox.run" | "sandbox.prepare":  # the same commit has several reasons
            return {**arguments, "commit": arguments["commit"].sha}
    left_out = LEFT_OUT.get(name, ())
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in arguments.items()
        if name not in left_out
    }


def asking(scrub: Scrub, keep: Any = lambda name, text: None) -> Cutter:
    """Return what writes questions down: masks without their numbers, which differ by machine."""
    return Cutter(lambda text: without_numbers(scrub(text)), keep)


class Record:
    """The answers of a bundle; safe for threads."""

    def __init__(self, bundle: Bundle, scrub: Scrub) -> None:
        """Answer from `bundle`, and nothing from elsewhere."""
        self._asked = {(a.name, canonical(a.arguments)): a for a in bundle.manifest.asked}
        self._pieces = bundle.pieces
        self._cutter = asking(scrub)
        self._given: dict[tuple[str, str], int] = {}
        self._lock = Lock()
        self.missed: list[str] = []

    def answer(self, port: str, member: Member, arguments: Mapping[str, Any]) -> Told | None:
        """Return the next answer to a question; None where the night never asked it."""
        question = self._cutter.cut(named_question(port, member, arguments))
        key = f"{port}.{member.name}", question
        asked = self._asked.get(key)
        return self._next(key, asked) if asked else None

    def miss(self, port: str, member: Member, arguments: Mapping[str, Any]) -> GiveUp:
        """Write down that the night never asked this; returns what to raise."""
        small = {name: one for name, one in arguments.items() if isinstance(one, str | int)}
        what = f"{port.partition('@')[0]}.{member.name} {json.dumps(small)[:120] if small else ''}"
        self.missed.append(what.strip())
        return GiveUp(f"the record ends here: that night never asked for {what.strip()}")

    def value(self, told: Told, member: Member) -> Any:
        """Return what was answered, or raise what was raised."""
        plain = joined(told.json_value, self._pieces)
        if told.kind == "value":
            return member.value(plain)
        raise _raised(told.kind, plain)

    def _next(self, key: tuple[str, str], asked: Asked) -> Told:
        with self._lock:
            number = self._given.get(key, 0)
            self._given[key] = number + 1
        return asked.answers[min(number, len(asked.answers) - 1)]


def raised(trouble: NightWatchError) -> dict[str, Any]:
    """Return what is kept of an error that a port raised."""
    return {"text": str(trouble), "usage": trouble.usage, "ending": trouble.ending}


def kind_of(trouble: NightWatchError) -> str:
    """Return what it is named by; of an adapter's own error what it is a kind of."""
    names = [one.__name__ for one in type(trouble).__mro__]
    return next((name for name in names if name in get_args(Kind)), "GiveUp")


def _raised(kind: str, plain: Mapping[str, Any]) -> NightWatchError:
    trouble: NightWatchError = getattr(errors, kind)(str(plain["text"]))
    if plain["usage"]:
        trouble.usage = Usage.model_validate(plain["usage"])
    if plain["ending"]:
        trouble.ending = Ending.model_validate(plain["ending"])
    return trouble
