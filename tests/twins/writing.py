"""Neighbours made of memory that keep what they are given."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nightwatch_core.intake.windows import read_until
from nightwatch_core.memory.index import entry_of, index_over
from nightwatch_core.models.code import CiRun, OtherPull
from nightwatch_core.models.knowledge import IgnoreRules, Index, Lesson, Pattern, PatternEntry
from nightwatch_core.models.proposals import (
    Answer,
    Close,
    Comment,
    DraftPull,
    OpenIssue,
    OwnItem,
    Proposal,
    Receipt,
    Reopen,
)
from nightwatch_core.models.report import Night, NightKind, NightRecord, RunReport
from nightwatch_core.patterns import merge_pattern
from nightwatch_core.report.view import record_of
from nightwatch_core.text.markers import read_marker


@dataclass
class MemoryOutbox:
    """Outbox and Tracker: publishes into a list, once per key."""

    published: list[Proposal] = field(default_factory=list)
    items: list[OwnItem] = field(default_factory=list)
    pulls: tuple[OtherPull, ...] = ()  # everybody's
    runs: list[dict[int, CiRun]] = field(default_factory=lambda: [{}])  # by number, poll by poll

    def publish(self, proposal: Proposal) -> Receipt:
        told: dict[str, Any] = {
            "key": proposal.key,
            "kind": proposal.kind,
            "fingerprint": proposal.fingerprint,
            "also": proposal.also,
            "fix": getattr(proposal, "fix", ""),
            "on": "pull" if isinstance(proposal, Answer) else getattr(proposal, "on", "issue"),
        }
        if any(entry.key == proposal.key for entry in (*self.published, *self.items)):
            return Receipt(**told, status="already there", number=self._number(proposal))
        if isinstance(proposal, OpenIssue | DraftPull):
            self.items.append(_item(proposal, len(self.items) + 1))
        elif all(item.number != proposal.number for item in self.items):
            return Receipt(**told, status="refused", reason=f"there is no #{proposal.number}")
        changed: dict[str, Any] = {}
        if isinstance(proposal, Reopen):
            changed = {"state": "open", "state_reason": "reopened", "closed_at": None}
        if isinstance(proposal, Close) and proposal.closes:
            changed = {"state": "closed", "state_reason": "completed"}
        if changed and not isinstance(proposal, OpenIssue | DraftPull):
            self.items = [
                item.model_copy(update=changed) if item.number == proposal.number else item
                for item in self.items
            ]
        if isinstance(proposal, Comment | Reopen) and proposal.also:
            names = (proposal.fingerprint, *proposal.also)
            self.items = [
                item.model_copy(update={"also": tuple(sorted({*item.also, *names}))})
                if item.number == proposal.number
                else item
                for item in self.items
            ]
        self.published.append(proposal)
        title = getattr(proposal, "title", "")
        return Receipt(**told, status="done", number=self._number(proposal), title=title)

    def own_items(self) -> tuple[OwnItem, ...]:
        return tuple(self.items)

    def ci(self, numbers: tuple[int, ...]) -> tuple[CiRun, ...]:
        now = self.runs.pop(0) if len(self.runs) > 1 else self.runs[0]
        return tuple(now.get(number, CiRun(state="none")) for number in numbers)

    def pulls_changing(self, paths: tuple[str, ...], since: datetime) -> tuple[OtherPull, ...]:
        return tuple(
            entry for entry in self.pulls if {file.path for file in entry.files} & {*paths}
        )

    def probe(self) -> str:
        return f"{len(self.items)} own items in memory"

    def _number(self, proposal: Proposal) -> int | None:
        if isinstance(proposal, Answer | Close | Comment | Reopen):
            return proposal.number
        return next((item.number for item in self.items if item.key == proposal.key), None)


def _item(proposal: OpenIssue | DraftPull, number: int) -> OwnItem:
    mark = read_marker(proposal.body)
    return OwnItem(
        kind=proposal.kind,
        number=number,
        fingerprint=proposal.fingerprint,
        also=proposal.also,
        key=proposal.key,
        title=proposal.title,
        labels=proposal.labels,
        branch=getattr(proposal, "branch", ""),
        night=mark.night if mark else "",
    )


@dataclass
class MemoryKnowledge:
    """KnowledgeReader and KnowledgeWriter over a dict."""

    lessons: dict[str, Lesson] = field(default_factory=dict)
    patterns: dict[str, Pattern] = field(default_factory=dict)
    rules: IgnoreRules = IgnoreRules()
    put_away: dict[str, Lesson] = field(default_factory=dict)  # the archive

    def index(self) -> Index:
        entries = tuple(entry_of(lesson) for lesson in self.lessons.values())
        patterns = tuple(
            PatternEntry(
                file=file,
                title=pattern.title,
                occurrences=pattern.occurrences,
                modules=pattern.modules,
                tags=pattern.tags,
            )
            for file, pattern in self.patterns.items()
        )
        return index_over(entries, patterns)

    def read(self, file: str) -> Lesson | None:
        return self.lessons.get(file) or self.put_away.get(file)

    def archived(self) -> Index:
        return index_over(tuple(map(entry_of, self.put_away.values())), ())

    def archived_lesson(self, names: frozenset[str]) -> Lesson | None:
        return next((item for item in self.put_away.values() if item.names & names), None)

    def read_patterns(self) -> tuple[Pattern, ...]:
        return tuple(self.patterns.values())

    def ignore_rules(self) -> IgnoreRules:
        return self.rules

    def write(self, lesson: Lesson) -> str:
        file = f"errors/{lesson.fingerprint}.md"
        self.lessons[file] = lesson.model_copy(update={"file": file})
        self.put_away.pop(lesson.file, None)
        return file

    def write_pattern(self, pattern: Pattern) -> str:
        file = f"patterns/{pattern.slug}.md"
        self.patterns[file] = merge_pattern(pattern, self.patterns.get(file))
        return file

    def archive(self, files: Sequence[str]) -> tuple[str, ...]:
        gone = {file: self.lessons.pop(file) for file in files if file in self.lessons}
        moved = {f"archive/{file.partition('/')[2]}": item for file, item in gone.items()}
        for file, item in moved.items():
            self.put_away[file] = item.model_copy(update={"file": file})
        return tuple(moved)

    def rebuild_index(self) -> Index:
        return self.index()


@dataclass
class MemoryNotifier:
    """A Notifier that keeps what it was told."""

    told: list[RunReport] = field(default_factory=list)
    address: str = "memory"

    def publish(self, report: RunReport) -> str:
        self.told.append(report)
        return self.address

    def probe(self) -> str:
        return "nobody: the report is kept in memory"


@dataclass
class MemoryNights:
    """Nights in a dict."""

    kept: dict[str, RunReport] = field(default_factory=dict)
    running: dict[str, Night] = field(default_factory=dict)
    finished: dict[str, NightRecord] = field(default_factory=dict)

    def begin(self, name: str, night: Callable[[str, bool], Night]) -> Night:
        for number in itertools.count(1):
            id = name if number == 1 else f"{name}-{number}"
            if id not in self.finished:
                self.running[id] = night(id, id in self.running)
                return self.running[id]
        raise AssertionError("itertools.count ended")

    def unfinished(self, kind: NightKind, since: datetime) -> Night | None:
        alike = (n for n in reversed(self.running.values()) if n.kind == kind and n.now >= since)
        return next((n for n in alike if n.window.since < n.window.until), None)

    def watermark(self, key: str) -> datetime | None:
        return next(filter(None, (read_until(entry, key) for entry in self.history())), None)

    def keep(self, report: RunReport) -> str:
        self.kept[report.night.id] = report
        return f"memory/{report.night.id}"

    def finish(self, report: RunReport) -> None:
        if report.status != "failed":  # a failed night is taken up again
            self.running.pop(report.night.id, None)
            self.finished[report.night.id] = record_of(report)

    def reports(self) -> Iterator[RunReport]:
        return reversed(tuple(self.kept.values()))

    def report(self, night_id: str) -> RunReport | None:
        return self.kept.get(night_id)

    def history(self) -> tuple[NightRecord, ...]:
        return tuple(reversed(self.finished.values()))
