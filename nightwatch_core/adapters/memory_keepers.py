"""Neighbours made of memory that keep what they are given: for tests and quiet nights."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nightwatch_core.index_text import entry_of
from nightwatch_core.models.knowledge import Index, Lesson, PatternEntry
from nightwatch_core.models.pattern import IgnoreRules, Pattern
from nightwatch_core.models.proposal import DraftPull, OwnItem, Proposal, Receipt
from nightwatch_core.models.report import Night, NightRecord, RunReport
from nightwatch_core.report import record_of


@dataclass
class MemoryKnowledge:
    """KnowledgeReader and KnowledgeWriter over a dict."""

    lessons: dict[str, Lesson] = field(default_factory=dict)
    patterns: dict[str, Pattern] = field(default_factory=dict)
    rules: IgnoreRules = IgnoreRules()

    def index(self) -> Index:
        """Every lesson's line."""
        entries = tuple(entry_of(lesson) for lesson in self.lessons.values())
        patterns = tuple(
            PatternEntry(file=file, title=pattern.title, occurrences=pattern.occurrences)
            for file, pattern in self.patterns.items()
        )
        return Index(solutions=entries, patterns=patterns)

    def read(self, file: str) -> Lesson | None:
        """One lesson."""
        return self.lessons.get(file)

    def ignore_rules(self) -> IgnoreRules:
        """The rules it was told."""
        return self.rules

    def write(self, lesson: Lesson) -> str:
        """Keep it under its fingerprint."""
        file = f"errors/{lesson.fingerprint}.md"
        self.lessons[file] = lesson.model_copy(update={"file": file})
        return file

    def write_pattern(self, pattern: Pattern) -> str:
        """Keep it under its slug."""
        file = f"patterns/{pattern.slug}.md"
        self.patterns[file] = pattern
        return file

    def rebuild_index(self) -> Index:
        """The same as reading it."""
        return self.index()


@dataclass
class MemoryOutbox:
    """Outbox and Tracker: publishes into a list, once per key."""

    published: list[Proposal] = field(default_factory=list)
    items: list[OwnItem] = field(default_factory=list)

    def publish(self, proposal: Proposal) -> Receipt:
        """Keep the proposal, and the item it makes."""
        told = {"key": proposal.key, "kind": proposal.kind, "fingerprint": proposal.fingerprint}
        for item in self.items:
            if item.key == proposal.key:
                return Receipt(**told, status="already there", number=item.number)
        self.published.append(proposal)
        number = getattr(proposal, "number", len(self.items) + 1)
        title = getattr(proposal, "title", "")
        if proposal.kind in ("issue", "pull"):
            self.items.append(
                OwnItem(
                    kind="pull" if isinstance(proposal, DraftPull) else "issue",
                    number=number,
                    fingerprint=proposal.fingerprint,
                    key=proposal.key,
                    title=title,
                )
            )
        return Receipt(**told, status="done", number=number, title=title)

    def own_items(self) -> tuple[OwnItem, ...]:
        """What was published."""
        return tuple(self.items)


class QuietOutbox:
    """An Outbox that publishes nothing: a dry run's."""

    def publish(self, proposal: Proposal) -> Receipt:
        """Say what would have been published."""
        return Receipt(
            key=proposal.key,
            kind=proposal.kind,
            fingerprint=proposal.fingerprint,
            status="refused",
            title=getattr(proposal, "title", ""),
            reason="dry run: would have been published",
        )


@dataclass
class MemoryNotifier:
    """A Notifier that keeps what it was told."""

    told: list[RunReport] = field(default_factory=list)

    def publish(self, report: RunReport) -> str:
        """Keep the report."""
        self.told.append(report)
        return "memory"


@dataclass
class MemoryNights:
    """Nights in a dict."""

    kept: dict[str, RunReport] = field(default_factory=dict)
    running: dict[str, Night] = field(default_factory=dict)
    finished: dict[str, NightRecord] = field(default_factory=dict)

    def begin(self, name: str, night: Callable[[str, bool], Night]) -> Night:
        """Take up the unfinished night of that name, or start one."""
        for number in itertools.count(1):
            id = name if number == 1 else f"{name}-{number}"
            if id not in self.finished:
                self.running[id] = night(id, id in self.running)
                return self.running[id]
        raise AssertionError("itertools.count ended")

    def keep(self, report: RunReport) -> str:
        """Keep the report."""
        self.kept[report.night.id] = report
        return f"memory/{report.night.id}"

    def finish(self, report: RunReport) -> None:
        """Close the night."""
        self.running.pop(report.night.id, None)
        self.finished[report.night.id] = record_of(report)

    def reports(self) -> Sequence[RunReport]:
        """Reports, newest first."""
        return tuple(reversed(self.kept.values()))

    def history(self) -> tuple[NightRecord, ...]:
        """Nights, newest first."""
        return tuple(reversed(self.finished.values()))
