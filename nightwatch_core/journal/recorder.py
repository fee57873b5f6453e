"""Ports that write every question and its answer into the journal, and pay for none twice."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, get_args

from nightwatch_core.errors import NightWatchError
from nightwatch_core.journal.decisions import Writes
from nightwatch_core.journal.pieces import Cutter, blanked, cleaned, name_of
from nightwatch_core.journal.questions import named_question
from nightwatch_core.journal.resuming import RESUMED, EarlierAnswers, failed_usage
from nightwatch_core.journal.writer import UNWRITABLE, Journal
from nightwatch_core.models.errors import DroppedGroup
from nightwatch_core.models.journal import Event, Kind
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns.nights import night_groups
from nightwatch_core.ports import Clock, CodeReader
from nightwatch_core.privacy.proxy import Ask, Member, passing
from nightwatch_core.privacy.rules import is_secret_file
from nightwatch_core.privacy.scrubber import Scrub, without_numbers

NOT_RECORDED = frozenset(
    ("nights.begin", "nights.keep", "nights.finish", "nights.report", "notifier.publish")
)
"""Calls about the report itself: the decisions hold it."""

# ports whose answers never change in a night
CONSTANT = ("code@", "libraries", "source_maps", "agents")
OPAQUE = frozenset({"opaque"})
"""What a model's service wants back as it was: it is not masked, and no bundle has it."""
T = TypeVar("T")


@dataclass(eq=False)
class Recorder:
    """Records any number of ports; safe for threads."""

    journal: Journal
    scrub: Scrub  # redacts every text
    clock: Clock
    step: Callable[[], str] = str  # the step that asks now
    earlier: EarlierAnswers | None = None  # None: everything is asked
    finished: Callable[[RunReport], None] = lambda _: None  # called when the night is over
    paid: Callable[[], object] = lambda: None  # called when an answer that costs was written
    writes: Writes = field(default_factory=Writes, init=False)

    def recorded(self, port: type, port_name: str, inner: Any) -> Any:
        """Return a port that records `inner` as `port_name`, which may end in @ and a commit."""
        return passing(port, self._asking(port_name, inner))

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
            return self._answered(name, port_name, member, arguments, call)

        return ask

    def _answered(
        self,
        name: str,
        port_name: str,
        member: Member,
        arguments: Mapping[str, Any],
        call: Callable[[], T],
    ) -> T:
        question = self._question(port_name, member, arguments)
        began, resumed = self.clock.monotonic(), RESUMED.get(name)
        found = before = None
        if resumed and self.earlier and question:
            before = self.earlier.of(question.event)
            found = resumed.answer(before, member, arguments)
        if found is not None and question:
            self._record(question, found, again=True)
            return cast(T, found)
        lost = failed_usage(before) if before else None
        try:
            value = call()
        except NightWatchError as trouble:
            paid = trouble.usage
            if lost:
                trouble.usage = lost + (paid or type(lost)())
            self._record(question, raised(trouble), kind_of(trouble), began, usage=paid)
            raise
        paid = getattr(value, "usage", None) if resumed else None
        if lost:
            value = value.model_copy(update={"usage": lost + value.usage})  # type: ignore[attr-defined]
        self._record(question, value, "value", began, usage=paid)
        if resumed:
            self.paid()
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
            self._record(self._question(port_name, member, arguments), given)

    def _question(
        self, port_name: str, member: Member, arguments: Mapping[str, Any]
    ) -> "Question | None":
        """Return what is asked, masked; None where the journal is lost or cannot hold it."""
        if self.journal.lost:
            return None
        try:
            plain = cleaned(named_question(port_name, member, arguments), self.scrub, OPAQUE)
            texts: dict[str, str] = {}
            text = Cutter(without_numbers, texts.__setitem__).cut(blanked(plain, OPAQUE))
            is_resumed = f"{port_name.partition('@')[0]}.{member.name}" in RESUMED
            exact = name_of(Cutter(str, lambda *_: None).cut(plain)) if is_resumed else ""
        except UNWRITABLE as trouble:
            self.journal.lose(trouble)
            return None
        event = Event(
            at=self.clock.now(),
            port=port_name,
            call=member.name,
            step="" if port_name.startswith(CONSTANT) else without_numbers(self.scrub(self.step())),
            case=_case(arguments),
            asked=name_of(text),
            exact=exact,
        )
        is_hidden = member.name == "read_file" and is_secret_file(str(arguments.get("path")))
        return Question(event, {**texts, name_of(text): text}, is_hidden)

    def _record(
        self,
        question: "Question | None",
        value: Any,
        kind: Kind = "value",
        began: float | None = None,
        again: bool = False,
        usage: Any = None,
    ) -> None:
        if question is None:
            return
        event = question.event
        if event.port.startswith(CONSTANT) and self.journal.holds(event):
            return
        try:
            changed: list[str] = []
            texts = dict(question.texts)
            plain = cleaned(None if question.is_hidden else value, self._noting(changed), OPAQUE)
            text = Cutter(str, texts.__setitem__).cut(plain)
            texts[name_of(text)] = text
            update = {
                "answer": name_of(text),
                "kind": kind,
                "ms": round((self.clock.monotonic() - began) * 1_000) if began is not None else 0,
                "usage": usage,
                "masked": bool(changed),
                "again": again,
            }
        except UNWRITABLE as trouble:
            self.journal.lose(trouble)
            return
        self.journal.add(event.model_copy(update=update), texts)

    def _noting(self, changed: list[str]) -> Scrub:
        def scrub(text: str) -> str:
            masked = self.scrub(text)
            if masked != text:
                changed.append("")
            return masked

        return scrub


@dataclass(frozen=True)
class Question:
    """A question as it is written: its event without an answer, and the texts that it names."""

    event: Event
    texts: Mapping[str, str]
    is_hidden: bool  # a file that is secret by its name: its content is not written


def raised(trouble: NightWatchError) -> dict[str, Any]:
    """Return the recorded fields of an exception."""
    return {"text": str(trouble), "usage": trouble.usage, "ending": trouble.ending}


def kind_of(trouble: NightWatchError) -> Kind:
    """Return the name of an exception, or of its nearest base class among `Kind`."""
    names = [base.__name__ for base in type(trouble).__mro__]
    return cast(Kind, next((name for name in names if name in get_args(Kind)), "GiveUp"))


def _case(arguments: Mapping[str, Any]) -> str:
    """Return the fingerprint of the error that a call is about; empty where it says none."""
    for value in arguments.values():
        for holder in (value, getattr(value, "case", None)):
            fingerprint = getattr(holder, "fingerprint", "")
            if isinstance(fingerprint, str) and fingerprint:
                return fingerprint
    return ""


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
