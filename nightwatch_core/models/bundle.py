"""Words for a night's bundle: what it was told, by question, and what it decided."""

from datetime import datetime
from typing import Any, Literal

from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.models.value import Value

Kind = Literal["value", "TryLater", "MayHaveArrived", "GiveUp", "StopTheNight", "NotTonight"]


class Told(Value):
    """An answer: a value, or what was raised in its place with `text` and `usage`.

    JSON in which names stand for pieces (`replay/pieces.py`).
    """

    kind: Kind = "value"
    json_value: Any = None
    seconds: float = 0.0  # that it took, where an analysis waited for it


class Asked(Value):
    """A question to a port, and its answers in their order; the last one is given ever after."""

    name: str  # as "code@<sha>.read_file"
    arguments: Any = None
    answers: tuple[Told, ...]


class Manifest(Value):
    """The first line of a bundle, whose digest names it."""

    made: datetime
    program: str  # the version of NightWatch
    night: Night
    began: datetime
    options: NightOptions
    settings: dict[str, str] = {}  # without secrets, of which is told only whether they were set
    ports: tuple[str, ...] = ()  # that were there
    runs: int = 1  # more where the night was interrupted
    missing: tuple[str, ...] = ()  # what a replay will lack, and why
    decided: str  # digest of the decisions
    decisions: Any = None
    asked: tuple[Asked, ...] = ()


class Bundle(Value):
    """A bundle that was read: every piece is what its name says."""

    root: str
    manifest: Manifest
    pieces: dict[str, str]
    bytes: int = 0  # of the file
    text: int = 0  # characters that were packed in it
