"""Listens to ports: every question with its answer, as lines of a journal (`sealing.py`)."""

from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Any, TypeVar

from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.errors import DroppedGroup
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns.ignore_suggestions import night_groups
from nightwatch_core.ports import Clock, CodeReader, CountsReads, KeepsFiles
from nightwatch_core.privacy.key_values import Scrub, is_secret_file
from nightwatch_core.replay.players import Writes
from nightwatch_core.replay.record import (
    Ask,
    Cutter,
    Member,
    asking,
    canonical,
    kind_of,
    members,
    named_question,
    passing,
    raised,
)
from nightwatch_core.replay.sealing import PIECE, TOLD

UNHEARD = frozenset(
    ("nights.begin", "nights.keep", "nights.finish", "nights.report", "notifier.publish")
)
"""What is told of the report itself, which the decisions hold."""

LASTING = ("code@", "libraries", "source_maps")  # what is read there once stays as it is
T = TypeVar("T")


class Listener:
    """Listens to as many ports as it is asked to; safe for threads."""

    def __init__(
        self,
        scrub: Scrub,
        write: Callable[[list[str]], None],
        clock: Clock,
        finished: Callable[[RunReport], None] = lambda _: None,
    ) -> None:
        """Put every text through `scrub`, and every line into `write`.

        `finished` is told of the report of the night when it is over.
        """
        self._scrub, self._write, self._clock, self._finished = scrub, write, clock, finished
        self._known = set[str]()
        self._lock = Lock()
        self.writes = Writes()
        self.lost = ""  # why nothing is written any more

    def heard(self, port: type, seam: str, inner: Any) -> Any:
        """Return the port, listened to under the name `seam`; behind an @ is whose it is."""
        kinds = (CountsReads, KeepsFiles) if port is CodeReader else ()
        more = tuple(kind for kind in kinds if isinstance(inner, kind))
        return passing(port, self._asking(seam, inner), *more)

    def lose(self, trouble: Exception) -> None:
        """Write nothing any more: half a record is none."""
        self.lost = self.lost or str(trouble) or type(trouble).__name__

    def _asking(self, seam: str, inner: Any) -> Ask:
        def ask(member: Member, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
            def call() -> Any:
                value = getattr(inner, member.name)
                return value if member.parameters is None else value(*given, **named)

            name = f"{seam.partition('@')[0]}.{member.name}"
            if member.holds or member.name in ("probe", "code_reads"):
                return call()
            arguments = member.arguments(given, named)
            if name in UNHEARD:
                value = call()
                if name == "nights.finish":
                    self._finished(arguments["report"])
                return value
            if member.port:
                whose = arguments["commit"].sha if member.port is CodeReader else ""
                return self.heard(member.port, f"{seam}@{whose}", call())
            if member.name in ("read_files", "remember_files"):
                return self._files_read(seam, call(), arguments)
            self.writes.hear(name, arguments)
            if member.streams:
                return self._streamed(seam, member, arguments, call)
            return self._answered(seam, member, arguments, call)

        return ask

    def _answered(
        self, seam: str, member: Member, arguments: Mapping[str, Any], call: Callable[[], T]
    ) -> T:
        began = self._clock.monotonic()
        try:
            value = call()
        except NightWatchError as trouble:
            self._note(seam, member, arguments, raised(trouble), kind_of(trouble), began)
            raise
        self._note(seam, member, arguments, value, "value", began)
        return value

    def _streamed(
        self,
        seam: str,
        member: Member,
        arguments: Mapping[str, Any],
        call: Callable[[], Iterator[T]],
    ) -> Iterator[T]:
        """Values one by one: those that were asked for are written down."""
        given: list[Any] = []
        try:
            for one in call():
                given.append(_slim(one) if isinstance(one, RunReport) else one)
                yield one
        finally:
            self._note(seam, member, arguments, given)

    def _files_read(self, seam: str, value: T, arguments: Mapping[str, Any]) -> T:
        """What is read of many files, or was read before, as if each had been asked for."""
        texts = value if isinstance(value, dict) else arguments["texts"]
        read = next(one for one in members(CodeReader) if one.name == "read_file")
        for path, text in texts.items():
            self._note(seam, read, {"path": path}, text)
        return value

    def _note(
        self,
        seam: str,
        member: Member,
        arguments: Mapping[str, Any],
        value: Any,
        kind: str = "value",
        began: float | None = None,
    ) -> None:
        if self.lost:
            return
        name, pieces = f"{seam}.{member.name}", dict[str, str]()
        try:
            asked = named_question(seam, member, arguments)
            question = asking(self._scrub, pieces.__setitem__).cut(asked)
            key = f"{name} {question}"
            if seam.startswith(LASTING) and key in self._known:
                return
            is_hidden = member.name == "read_file" and is_secret_file(str(arguments.get("path")))
            answer = Cutter(self._scrub, pieces.__setitem__).cut(None if is_hidden else value)
            is_waited_for = began is not None and member.name == "reply"
            seconds = self._clock.monotonic() - began if began and is_waited_for else 0.0
            row = f"{canonical(name)},{question},{canonical(kind)},{answer},{seconds:.3f}"
            with self._lock:
                new = [text for name, text in pieces.items() if name not in self._known]
                self._known.update((*pieces, key))
                self._write([*(f"{PIECE}{text}" for text in new), f"{TOLD}[{row}]"])
        except (OSError, ValueError, TypeError, RecursionError, NightWatchError) as trouble:
            self.lose(trouble)


def _slim(report: RunReport) -> RunReport:
    """An earlier night's report as far as later ones look at it: which errors there were."""
    dropped = tuple(DroppedGroup(group=group, reason="") for group in night_groups(report).groups)
    return RunReport(
        night=report.night,
        options=report.options,
        status=report.status,
        untold=report.untold,
        dropped=dropped,
        started=report.started,
        finished=report.finished,
    )
