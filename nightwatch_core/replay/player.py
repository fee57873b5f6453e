"""Ports that answer from the record of a night: nothing else is asked, and nothing is written."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from datetime import datetime, timedelta
from itertools import count
from threading import local
from typing import Any

from nightwatch_core.models.code import Commit
from nightwatch_core.models.knowledge import Index
from nightwatch_core.models.proposals import receipt_for
from nightwatch_core.models.report import Night, NightKind, NightRecord, RunReport
from nightwatch_core.ports import CodeReader, Nights
from nightwatch_core.privacy.proxy import Ask, Member, passing
from nightwatch_core.replay.record import Record

_numbers = count(900_001)  # of issues and drafts that a replay publishes and the night did not


class ReplayClock:
    """The time of the recorded night; it passes only while a thread waits for an answer."""

    def __init__(self, began: datetime) -> None:
        self._began, self._waited = began, local()

    def now(self) -> datetime:
        """Return the current time of the replay."""
        return self._began + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Return the seconds that this thread has waited."""
        waited: float = getattr(self._waited, "seconds", 0.0)
        return waited

    def wait(self, seconds: float) -> None:
        """Let time pass for this thread."""
        self._waited.seconds = self.monotonic() + seconds


def player(
    port: type,
    name: str,
    record: Record,
    commit: Commit | None = None,
    wait: Callable[[float], object] = lambda seconds: None,
) -> Any:
    """Return a port that answers from the record; a new question raises `GiveUp`.

    `commit` is that of a code reader; `wait` lets the time pass that an answer took.
    """
    return passing(port, _asking(name, record, commit, wait))


class PlayedNights:
    """`Nights` of a replay: its own night is kept in `own`, earlier ones are in the record."""

    def __init__(self, own: Nights, night: Night, record: Record) -> None:
        self._own, self._night = own, night
        self._recorded: Nights = player(Nights, "nights", record)

    def begin(self, name: str, night: Callable[[str, bool], Night]) -> Night:
        """Begin the recorded night under its name, over its window."""
        return self._own.begin(
            self._night.id, lambda id, resumed: self._night.model_copy(update={"id": id})
        )

    def unfinished(self, kind: NightKind, since: datetime) -> Night | None:
        """Return None: a replay starts from the beginning."""
        return None

    def watermark(self, key: str) -> datetime | None:
        """Return the recorded watermark."""
        return self._recorded.watermark(key)

    def keep(self, report: RunReport) -> str:
        """Write the report; returns the folder."""
        return self._own.keep(report)

    def finish(self, report: RunReport) -> None:
        """Close the night."""
        self._own.finish(report)

    def reports(self) -> Iterator[RunReport]:
        """Return the recorded parts of earlier reports."""
        return self._recorded.reports()

    def report(self, night_id: str) -> RunReport | None:
        """Return the report of the replayed night."""
        return self._own.report(night_id)

    def history(self) -> tuple[NightRecord, ...]:
        """Return the recorded history."""
        return self._recorded.history()


def _asking(
    name: str, record: Record, commit: Commit | None, wait: Callable[[float], object]
) -> Ask:
    def ask(member: Member, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        arguments = member.arguments(given, named)
        if member.holds:
            return nullcontext()
        if member.port:
            at = arguments["commit"] if member.port is CodeReader else None
            return player(member.port, f"{name}@{at.sha if at else ''}", record, at)
        answer = record.answer(name, member, arguments)
        if answer is None and commit and member.name == "commit":
            return commit
        if answer is None:
            return _answer_to_new_write(name, member, arguments, record)
        wait(answer.seconds)
        value = record.value(answer, member)
        return iter(value) if member.streams else value

    return ask


def _answer_to_new_write(
    name: str, member: Member, arguments: Mapping[str, Any], record: Record
) -> Any:
    """Answer a write that the night did not make as if it had succeeded."""
    match f"{name.partition('@')[0]}.{member.name}":
        case "outbox.publish":
            return receipt_for(arguments["proposal"], "done", next(_numbers), "in a replay")
        case "lessons.write":
            return f"errors/{arguments['lesson'].fingerprint.replace(':', '-')}.md"
        case "lessons.write_pattern":
            return f"patterns/{arguments['pattern'].slug}.md"
        case "lessons.archive":
            return ()
        case "lessons.rebuild_index":
            return Index()
        case "batch_store.keep" | "batch_store.drop":
            return None
        case "model.probe":
            return "a night's record"
    raise record.miss(name, member, arguments)
