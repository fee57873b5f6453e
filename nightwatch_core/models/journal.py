"""A night's journal: what was asked of its ports and answered, and what left the machine."""

from datetime import datetime
from typing import Any, Literal

from nightwatch_core.models.answer import Usage
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.models.value import Value

Kind = Literal["value", "TryLater", "MayHaveArrived", "GiveUp", "StopTheNight", "NotTonight"]


class RunHeader(Value):
    """The first line of a process's file: the run that it works for, and how it was set up."""

    run: str  # all processes of one run of a flow have the same
    began: datetime  # the run, not the process
    process: str = ""  # host and process id
    program: str = ""  # version of NightWatch
    options: NightOptions = NightOptions()
    settings: dict[str, str] = {}  # a secret is only "set"


class Event(Value):
    """One line of a journal: a call of a port with its answer, or a request that left the machine.

    Digests are SHA-256 of canonical JSON, and name texts of the journal (`journal/pieces.py`).
    """

    at: datetime
    port: str  # "model@claude-opus-5-5", "code@<sha>", "tracker"; of a request, the service
    call: str  # the method of the port, or of HTTP
    step: str = ""  # the step that asked, as Prefect names its run
    case: str = ""  # fingerprint
    asked: str = ""  # digest of the arguments, or of a request's body, masked
    exact: str = ""  # the same with the masks' numbers; of a request, of the bytes that were sent
    ordinal: int = 0  # the same question asked again by the same step is another event
    answer: str = ""  # digest; of a failure, of its fields
    kind: Kind = "value"
    ms: int = 0
    usage: Usage | None = None
    to: str = ""  # the address of a request
    sent: int = 0  # bytes of its body
    masked: bool = False  # what is kept differs from what was given or sent
    again: bool = False  # answered by an earlier event of the night: nothing was asked or paid


class SentRequest(Value):
    """One request as it was about to leave; headers, which hold tokens, are never noted."""

    at: datetime
    service: str
    method: str  # of HTTP, or "git fetch"
    to: str  # the address, with its query
    bytes: int  # of the body
    sha256: str = ""  # of the body; empty where there was none
    masked: bool = False  # the text that is kept has masks where the body had none
    text: str = ""  # name of the kept text


class Told(Value):
    """An answer: a value, or what was raised in its place with `text` and `usage`.

    JSON in which names stand for pieces (`journal/pieces.py`).
    """

    kind: Kind = "value"
    json_value: Any = None
    seconds: float = 0.0  # that it took, where an analysis waited for it


class Asked(Value):
    """A question to a port, and its answers in their order; the last one is given ever after."""

    name: str  # as "code@<sha>.read_file"
    step: str = ""  # the step that asked
    arguments: Any = None
    answers: tuple[Told, ...]


class Manifest(Value):
    """The first line of a bundle, whose digest names it."""

    made: datetime
    program: str  # the version of NightWatch
    night: Night
    began: datetime
    options: NightOptions
    settings: dict[str, str] = {}  # a secret is only "set"
    ports: tuple[str, ...] = ()  # that the night had
    runs: int = 1  # more where the night was interrupted or retried
    missing: tuple[str, ...] = ()  # what a replay will lack, and why
    decided: str  # digest of the decisions
    decisions: Any = None
    asked: tuple[Asked, ...] = ()


class Bundle(Value):
    """A sealed night that was read: every piece is what its name says."""

    root: str
    manifest: Manifest
    pieces: dict[str, str]
    bytes: int = 0  # of the file
    text: int = 0  # characters that were packed in it
