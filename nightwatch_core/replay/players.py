"""Ports that answer from a night's record: nothing else is asked, and nothing is written."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from datetime import datetime, timedelta
from itertools import count
from threading import local
from typing import Any

from pydantic import BaseModel

from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.code import Commit
from nightwatch_core.models.conversation import Capabilities, Conversation, Reply
from nightwatch_core.models.knowledge import Index, Lesson, Pattern
from nightwatch_core.models.proposals import Proposal, receipt_for
from nightwatch_core.models.report import Night, NightKind, NightRecord, RunReport
from nightwatch_core.ports import CodeReader, Model, Nights
from nightwatch_core.replay.record import Ask, Member, Record, members, passing
from nightwatch_core.text.escaping import line

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


# Two nights' decisions side by side, for people.

SECTIONS = ("errors", "failures", "dropped", "proposals", "lessons", "patterns")  # by name
SINGLE = ("status", "commit", "base", "not proposed")
FIRST = ("root_cause", "confidence", "fix", "title", "body", "changes", "reason", "ending")
FIELDS = 4  # of one error or proposal
SHOWN = 160  # characters of a value
NAMES = {
    "errors": "error",
    "failures": "failure",
    "dropped": "dropped",
    "proposals": "proposal",
    "lessons": "lesson",
    "patterns": "pattern",
}


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the second decided in another way, a line each; empty where they are equal."""
    return tuple((*_single(before, after), *_named(before, after), *_taken(before, after)))


def counts(decisions: Mapping[str, Any]) -> str:
    """Return in one line what came of a night."""
    proposals = [_mapping(one).get("kind") for one in _of(decisions, "proposals").values()]
    taken = _of(decisions, "took")
    cost = taken.get("USD")
    parts = (
        f"{len(_of(decisions, 'errors'))} verdicts",
        f"{proposals.count('issue')} issues",
        f"{proposals.count('pull')} drafts",
        f"{proposals.count('comment') + proposals.count('reopen')} comments",
        f"{_number(taken.get('requests'), ',')} requests",
        f"{_number(taken.get('new tokens'), ',')} new tokens",
        "cost unknown" if cost is None else f"${_number(cost, '.2f')}",
    )
    return ", ".join(parts)


def _single(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name in SINGLE:
        if before.get(name) != after.get(name):
            yield f"{name}: {_shown(before.get(name))} → {_shown(after.get(name))}"


def _named(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for section in SECTIONS:
        old, new = _of(before, section), _of(after, section)
        for name in sorted(old.keys() | new.keys()):
            what = f"{NAMES[section]} {_title(name, new.get(name) or old[name])}"
            if name not in new:
                yield f"- {what}"
            elif name not in old:
                yield f"+ {what}"
            elif old[name] != new[name]:
                yield from (
                    f"~ {what}: {text}"
                    for text in _fields(_mapping(old[name]), _mapping(new[name]))
                )


def _fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What differs, what matters most first; the rest is counted."""
    names = [name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    names.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    for name in names[:FIELDS]:
        yield f"{line(name, 40)}: {_parted(old.get(name), new.get(name))}"
    if rest := names[FIELDS:]:
        yield f"and {len(rest)} more: {line(', '.join(rest), SHOWN)}"


def _parted(old: Any, new: Any) -> str:
    """Both values from where they begin to differ."""
    first, second = _text(old), _text(new)
    same = next(
        (at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]),
        min(len(first), len(second)),
    )
    start = max(0, same - 20)
    more = "…" if start else ""
    return f"{more}{_shown(first[start:])} → {more}{_shown(second[start:])}"


def _taken(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if _of(before, "took") != _of(after, "took"):
        yield f"took: {_shown(before.get('took'))} → {_shown(after.get('took'))}"


def _of(decisions: Mapping[str, Any], section: str) -> Mapping[str, Any]:
    return _mapping(decisions.get(section))


def _mapping(value: Any) -> Mapping[str, Any]:
    """What is one; a bundle of a stranger may hold anything there."""
    return value if isinstance(value, Mapping) else {}


def _number(value: Any, form: str) -> str:
    return format(value, form) if isinstance(value, int | float) else "?"


def _title(name: str, value: Any) -> str:
    told = _mapping(value)
    title = told.get("error") or told.get("title") or ""
    kind = f"{told.get('kind')} " if "key" in told else ""
    return line(f"{kind}{name} {title}".strip(), SHOWN)


def _shown(value: Any) -> str:
    return line(_text(value), SHOWN) or "nothing"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# What a night decided, as one document with one digest: equal nights have equal bytes.

TAKEN = {"usage", "code_reads", "case", "second_look"}  # of an analysis: accounts and inputs


class Writes:
    """What a night meant to write, as it asked for it; of what it wrote twice the last."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.proposals: dict[str, Proposal] = {}
        self.lessons: dict[str, Lesson] = {}
        self.patterns: dict[str, Pattern] = {}

    def hear(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Remember what is written, whatever comes of it; `name` is "port.method"."""
        match name:
            case "outbox.publish":
                self.proposals[arguments["proposal"].key] = arguments["proposal"]
            case "lessons.write":
                self.lessons[arguments["lesson"].fingerprint] = arguments["lesson"]
            case "lessons.write_pattern":
                self.patterns[arguments["pattern"].slug] = arguments["pattern"]


def decisions(report: RunReport, writes: Writes) -> dict[str, Any]:
    """Return verdicts with their reasons, what was dropped and why, and everything to be written.

    Left out is what differs from run to run though nothing was decided: moments, and where code
    was read from.
    """
    return {
        "status": report.status,
        "commit": report.commit.sha if report.commit else "",
        "base": report.base.sha if report.base else "",
        "errors": _by_name((one.fingerprint, _verdict(one)) for one in report.analyses),
        "failures": _by_name((one.case.fingerprint, _failure(one)) for one in report.failures),
        "dropped": _by_name(
            (one.group.fingerprint, {"error": one.group.title, "reason": one.reason})
            for one in report.dropped
        ),
        "not proposed": [_dump(one) for one in report.skips],
        "proposals": _by_name(
            (key, {"kind": one.kind, **_dump(one)}) for key, one in writes.proposals.items()
        ),
        "lessons": _by_name(_dumped(writes.lessons)),
        "patterns": _by_name(_dumped(writes.patterns)),
        "took": {
            "requests": report.usage.calls,
            "new tokens": report.usage.new_tokens,
            "USD": report.usage.cost,
        },
    }


def _verdict(analysis: Analysis) -> dict[str, Any]:
    case, look = analysis.case, analysis.second_look
    return {
        "error": case.leader.title,
        "groups": [group.fingerprint for group in case.groups],
        "commit read": case.commit.sha if case.commit else "",
        **_dump(analysis, TAKEN),
        "second_look": _dump(look, {"usage"}) if look else None,
    }


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "error": failure.case.leader.title,
        "reason": failure.reason,
        "ending": failure.ending.kind,
    }


def _dump(value: BaseModel, without: set[str] | None = None) -> dict[str, Any]:
    return value.model_dump(mode="json", exclude=without or set(), exclude_defaults=True)


def _dumped(values: Mapping[str, BaseModel]) -> Iterable[tuple[str, dict[str, Any]]]:
    return ((name, _dump(one)) for name, one in values.items())


def _by_name(rows: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    return dict(sorted(rows, key=lambda row: row[0]))
