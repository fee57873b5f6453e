"""The record of a night: the same question gets the same answers in the same order."""

import json
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from nightwatch_core import errors
from nightwatch_core.errors import GiveUp, NightWatchError
from nightwatch_core.journal.pieces import canonical, joined
from nightwatch_core.journal.questions import asking, named_question
from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.journal import Asked, Bundle, Told
from nightwatch_core.privacy.proxy import Member
from nightwatch_core.privacy.scrubber import Scrub, without_numbers


class Record:
    """The answers of a bundle; safe for threads."""

    def __init__(self, bundle: Bundle, scrub: Scrub, step: Callable[[], str] = str) -> None:
        """`step` names the step that asks now."""
        self._asked = {(a.name, a.step, canonical(a.arguments)): a for a in bundle.manifest.asked}
        self._scrub, self._step = scrub, step
        self._pieces = bundle.pieces
        self._cutter = asking(scrub)
        self._given: dict[tuple[str, str, str], int] = {}
        self._lock = Lock()
        self.missed: list[str] = []

    def answer(self, port: str, member: Member, arguments: Mapping[str, Any]) -> Told | None:
        """Return the next answer to a question; None for a new question."""
        question = self._cutter.cut(named_question(port, member, arguments))
        name, step = f"{port}.{member.name}", without_numbers(self._scrub(self._step()))
        for key in ((name, step, question), (name, "", question)):  # the second never changes
            if asked := self._asked.get(key):
                return self._next(key, asked)
        return None

    def miss(self, port: str, member: Member, arguments: Mapping[str, Any]) -> GiveUp:
        """Note a new question; returns the exception to raise."""
        small = {name: item for name, item in arguments.items() if isinstance(item, str | int)}
        what = f"{port.partition('@')[0]}.{member.name} {json.dumps(small)[:120] if small else ''}"
        self.missed.append(what.strip())
        return GiveUp(f"the record ends here: that night never asked {what.strip()}")

    def value(self, answer: Told, member: Member) -> Any:
        """Return the answer, or raise the recorded exception."""
        plain = joined(answer.json_value, self._pieces)
        if answer.kind == "value":
            return member.value(plain)
        trouble: NightWatchError = getattr(errors, answer.kind)(str(plain["text"]))
        if plain["usage"]:
            trouble.usage = Usage.model_validate(plain["usage"])
        if plain["ending"]:
            trouble.ending = Ending.model_validate(plain["ending"])
        raise trouble

    def _next(self, key: tuple[str, str, str], asked: Asked) -> Told:
        with self._lock:
            number = self._given.get(key, 0)
            self._given[key] = number + 1
        return asked.answers[min(number, len(asked.answers) - 1)]
