"""Ports that answer from a night's record: nothing else is asked, and nothing is written."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from datetime import datetime, timedelta
from itertools import count
from threading import local
from typing import Any

from nightwatch_core.models.code import Commit
from nightwatch_core.models.conversation import Capabilities, Conversation, Reply
from nightwatch_core.models.knowledge import Index
from nightwatch_core.models.proposal import receipt_for
from nightwatch_core.models.report import Night, NightKind, NightRecord, RunReport
from nightwatch_core.ports import CodeReader, Model, Nights
from nightwatch_core.replay.record import Record
from nightwatch_core.replay.seams import Ask, Member, members, passing

FIRST_NUMBER = 900_001  # of what a replay publishes and the night did not


class ReplayClock:
    """The night's own time: it passes while an answer is awaited, for who awaits it."""

    def __init__(self, began: datetime) -> None:
        """Stand at the moment when the night began."""
        self._began, self._waited = began, local()

    def now(self) -> datetime:
        """Return that moment, and what was waited since."""
        return self._began + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Return the seconds that this thread has waited."""
        waited: float = getattr(self._waited, "seconds", 0.0)
        return waited

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self._waited.seconds = self.monotonic() + seconds


def player(port: type, seam: str, record: Record, commit: Commit | None = None) -> Any:
    """Return a port that answers from the record; what was not asked raises `GiveUp`.

    `commit` is the one that a reader was asked for.
    """
    return passing(port, _asking(seam, record, commit))


class PlayedModel:
    """A `Model`; where the record ends `live` is asked, if that was allowed."""

    def __init__(
        self, name: str, record: Record, clock: ReplayClock, live: Callable[[], Model] | None
    ) -> None:
        """Answer what the model called `name` was asked."""
        self._seam, self._record, self._clock, self._live = f"model@{name}", record, clock, live
        self._members = {one.name: one for one in members(Model)}

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """Return what was answered to this very conversation, after as long a time."""
        asked = {"conversation": conversation, "timeout": timeout}
        told = self._record.answer(self._seam, self._members["reply"], asked)
        if told:
            self._clock.wait(told.seconds)
            reply: Reply = self._record.value(told, self._members["reply"])
            return reply
        missed = self._record.miss(
            self._seam, self._members["reply"], {"error": conversation.case.leader.title}
        )
        if self._live:
            return self._live().reply(conversation, timeout)
        raise missed

    def capabilities(self) -> Capabilities:
        """Return what it could do that night."""
        told = self._record.answer(self._seam, self._members["capabilities"], {})
        if told:
            able: Capabilities = self._record.value(told, self._members["capabilities"])
            return able
        if self._live:
            return self._live().capabilities()
        raise self._record.miss(self._seam, self._members["capabilities"], {})

    def probe(self) -> str:
        """Say that nobody is asked."""
        return "a night's record"


class PlayedNights:
    """`Nights`: this one is kept in a place of its own, earlier ones are in the record."""

    def __init__(self, own: Nights, night: Night, record: Record) -> None:
        """Keep what comes of `night` in `own`."""
        self._own, self._night = own, night
        self._there: Nights = player(Nights, "nights", record)

    def begin(self, name: str, night: Callable[[str, bool], Night]) -> Night:
        """Begin the night that was, under its name, over its window."""

        def same(id: str, resumed: bool) -> Night:
            return self._night.model_copy(update={"id": id})

        return self._own.begin(self._night.id, same)

    def unfinished(self, kind: NightKind, since: datetime) -> Night | None:
        """Return none: it is begun anew."""
        return None

    def watermark(self, key: str) -> datetime | None:
        """Return what it was."""
        return self._there.watermark(key)

    def keep(self, report: RunReport) -> str:
        """Write the report; returns the folder."""
        return self._own.keep(report)

    def finish(self, report: RunReport) -> None:
        """Close the night."""
        self._own.finish(report)

    def reports(self) -> Iterator[RunReport]:
        """Return what was looked at of earlier reports."""
        return self._there.reports()

    def report(self, night_id: str) -> RunReport | None:
        """Return this night's report."""
        return self._own.report(night_id)

    def history(self) -> tuple[NightRecord, ...]:
        """Return every night that was."""
        return self._there.history()


def _asking(seam: str, record: Record, commit: Commit | None) -> Ask:
    def ask(member: Member, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        arguments = member.arguments(given, named)
        if member.holds:
            return nullcontext()
        if member.port:
            at = arguments["commit"] if member.port is CodeReader else None
            return player(member.port, f"{seam}@{at.sha if at else ''}", record, at)
        told = record.answer(seam, member, arguments)
        if told is None and commit and member.name == "commit":
            return commit
        if told is None:
            return _unwritten(seam, member, arguments, record)
        value = record.value(told, member)
        return iter(value) if member.streams else value

    return ask


_numbers = count(FIRST_NUMBER)


def _unwritten(seam: str, member: Member, arguments: Mapping[str, Any], record: Record) -> Any:
    """What comes of a write that the night did not make: it is taken as done."""
    match f"{seam}.{member.name}":
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
        case "recall.refresh" | "batch_store.keep" | "batch_store.drop":
            return None
    raise record.miss(seam, member, arguments)
