"""Records every question to a port with its answer, as lines of a journal (`sealing.py`)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.errors import DroppedGroup
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns.nights import night_groups
from nightwatch_core.ports import Clock, CodeReader
from nightwatch_core.privacy.proxy import Ask, Member, passing
from nightwatch_core.privacy.rules import is_secret_file
from nightwatch_core.privacy.scrubber import Scrub
from nightwatch_core.replay.decisions import Writes
from nightwatch_core.replay.record import Cutter, asking, canonical, kind_of, named_question, raised
from nightwatch_core.replay.sealing import ANSWER, PIECE

NOT_RECORDED = frozenset(
    ("nights.begin", "nights.keep", "nights.finish", "nights.report", "notifier.publish")
)
"""Calls about the report itself: the decisions hold it."""

# ports whose answers never change in a night
CONSTANT = ("code@", "libraries", "source_maps", "agents")
T = TypeVar("T")


@dataclass(eq=False)
class Recorder:
    """Records any number of ports; safe for threads."""

    scrub: Scrub  # redacts every text
    write: Callable[[list[str]], None]  # takes every line
    clock: Clock
    finished: Callable[[RunReport], None] = lambda _: None  # called when the night is over
    writes: Writes = field(default_factory=Writes, init=False)
    lost: str = field(default="", init=False)  # why recording stopped
    _written: set[str] = field(default_factory=set, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def recorded(self, port: type, port_name: str, inner: Any) -> Any:
        """Return a port that records `inner` as `port_name`, which may end in @ and a commit."""
        return passing(port, self._asking(port_name, inner))

    def lose(self, trouble: Exception) -> None:
        """Stop recording: an incomplete record is useless."""
        self.lost = self.lost or str(trouble) or type(trouble).__name__

    def _asking(self, port_name: str, inner: Any) -> Ask:
        def ask(member: Member, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
            def call() -> Any:
                value = getattr(inner, member.name)
                return value if member.parameters is None else value(*given, **named)

            name = f"{port_name.partition('@')[0]}.{member.name}"
            if member.holds or member.name == "probe":
                return call()
            arguments = member.arguments(given, named)
            if name in NOT_RECORDED:
                value = call()
                if name == "nights.finish":
                    self.finished(arguments["report"])
                return value
            if member.port:
                whose = arguments["commit"].sha if member.port is CodeReader else ""
                return self.recorded(member.port, f"{port_name}@{whose}", call())
            self.writes.add(name, arguments)
            if member.streams:
                return self._streamed(port_name, member, arguments, call)
            return self._answered(port_name, member, arguments, call)

        return ask

    def _answered(
        self, port_name: str, member: Member, arguments: Mapping[str, Any], call: Callable[[], T]
    ) -> T:
        began = self.clock.monotonic()
        try:
            value = call()
        except NightWatchError as trouble:
            self._record(port_name, member, arguments, raised(trouble), kind_of(trouble), began)
            raise
        self._record(port_name, member, arguments, value, "value", began)
        return value

    def _streamed(
        self,
        port_name: str,
        member: Member,
        arguments: Mapping[str, Any],
        call: Callable[[], Iterator[T]],
    ) -> Iterator[T]:
        """Yield the values; those that were asked for are recorded."""
        given: list[Any] = []
        try:
            for value in call():
                given.append(_slim(value) if isinstance(value, RunReport) else value)
                yield value
        finally:
            self._record(port_name, member, arguments, given)

    def _record(
        self,
        port_name: str,
        member: Member,
        arguments: Mapping[str, Any],
        value: Any,
        kind: str = "value",
        began: float | None = None,
    ) -> None:
        if self.lost:
            return
        name, pieces = f"{port_name}.{member.name}", dict[str, str]()
        try:
            asked = named_question(port_name, member, arguments)
            question = asking(self.scrub, pieces.__setitem__).cut(asked)
            key = f"{name} {question}"
            if port_name.startswith(CONSTANT) and key in self._written:
                return
            is_hidden = member.name == "read_file" and is_secret_file(str(arguments.get("path")))
            answer = Cutter(self.scrub, pieces.__setitem__).cut(None if is_hidden else value)
            is_waited_for = began is not None and member.name == "reply"
            seconds = self.clock.monotonic() - began if began and is_waited_for else 0.0
            row = f"{canonical(name)},{question},{canonical(kind)},{answer},{seconds:.3f}"
            with self._lock:
                new = [text for name, text in pieces.items() if name not in self._written]
                self._written.update((*pieces, key))
                self.write([*(f"{PIECE}{text}" for text in new), f"{ANSWER}[{row}]"])
        except (OSError, ValueError, TypeError, RecursionError, NightWatchError) as trouble:
            self.lose(trouble)


def _slim(report: RunReport) -> RunReport:
    """Reduce an earlier report to what later nights read: its errors, and its drafts' checks."""
    dropped = tuple(DroppedGroup(group=group, reason="") for group in night_groups(report).groups)
    return RunReport(
        night=report.night,
        options=report.options,
        status=report.status,
        unsent=report.unsent,
        dropped=dropped,
        commit=report.commit,
        base=report.base,
        ci=report.ci,
        started=report.started,
        finished=report.finished,
    )
