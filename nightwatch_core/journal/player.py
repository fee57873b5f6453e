"""Ports that answer from the record of a night: nothing else is asked, and nothing is written."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import datetime, timedelta
from itertools import count
from threading import local
from typing import Any

from nightwatch_core.journal.record import Record
from nightwatch_core.models.code import Commit
from nightwatch_core.models.knowledge import Index
from nightwatch_core.models.proposals import receipt_for
from nightwatch_core.models.report import Night, NightKind
from nightwatch_core.ports import CodeReader, Nights
from nightwatch_core.privacy.proxy import Ask, Member, passing, proxied

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


def played_nights(own: Nights, night: Night, record: Record) -> Nights:
    """Return `Nights` of a replay: its own `night` is kept in `own`, earlier ones are recorded."""

    def begin(name: str, made: Callable[[str, bool], Night]) -> Night:
        return own.begin(night.id, lambda id, resumed: night.model_copy(update={"id": id}))

    def unfinished(kind: NightKind, since: datetime) -> None:
        """Begin at the beginning."""

    replaced: dict[str, Callable[..., Any]] = {"begin": begin, "unfinished": unfinished}
    replaced |= {"keep": own.keep, "finish": own.finish, "report": own.report}
    recorded: Nights = player(Nights, "nights", record)
    return proxied(recorded, Nights, replaced=replaced)


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
