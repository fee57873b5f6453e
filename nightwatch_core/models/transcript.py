"""Words for what was said between us and a model, as it is kept and shown."""

from datetime import datetime
from typing import Any, Literal

from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.value import Value


class CallSaid(Value):
    """A tool the model asked for."""

    name: str
    arguments: dict[str, Any] = {}


class ResultSaid(Value):
    """What a tool answered."""

    name: str
    text: str = ""
    is_error: bool = False


class Opening(Value):
    """How a conversation began; `look` is 2 where a first one came to a weak verdict."""

    night: str
    fingerprint: str
    error: str
    model: str = ""
    effort: str = ""
    tools: tuple[str, ...] = ()
    look: int = 1
    system: str = ""


class Entry(Value):
    """One line of a transcript; `at` is set by whoever keeps it."""

    kind: Literal["opening", "user", "results", "assistant", "failure", "full"]
    at: datetime | None = None
    opening: Opening | None = None
    text: str = ""
    calls: tuple[CallSaid, ...] = ()
    results: tuple[ResultSaid, ...] = ()
    stop: str = ""
    detail: str = ""
    usage: Usage = Usage()


class Transcript(Value):
    """Everything that was kept of one error in one night, its last run only."""

    night: str
    fingerprint: str
    entries: tuple[Entry, ...]
    unread: int = 0  # lines that could not be read
