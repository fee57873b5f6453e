"""Neighbours that nobody hears: what a dry run writes to, and the news without a service."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.lessons.index_text import entry_of, index_over
from nightwatch_core.models.knowledge import Index, Lesson, PatternEntry
from nightwatch_core.models.pattern import IgnoreRules, Pattern
from nightwatch_core.models.proposal import Proposal, Receipt, receipt_for
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns import merge_pattern


class QuietOutbox:
    """An Outbox that publishes nothing: a dry run's."""

    def publish(self, proposal: Proposal) -> Receipt:
        """Say what would have been published."""
        return receipt_for(proposal, "held back")

    def probe(self) -> str:
        """Say that it is one."""
        return "nothing is published in a dry run"


@dataclass
class MemoryKnowledge:
    """KnowledgeReader and KnowledgeWriter over a dict."""

    lessons: dict[str, Lesson] = field(default_factory=dict)
    patterns: dict[str, Pattern] = field(default_factory=dict)
    rules: IgnoreRules = IgnoreRules()
    put_away: dict[str, Lesson] = field(default_factory=dict)  # the archive

    def index(self) -> Index:
        """Every document's line."""
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
        """One lesson, archived or not."""
        return self.lessons.get(file) or self.put_away.get(file)

    def archived(self) -> Index:
        """Every archived lesson's line."""
        return index_over(tuple(map(entry_of, self.put_away.values())), ())

    def archived_lesson(self, names: frozenset[str]) -> Lesson | None:
        """The archived lesson of one of these names."""
        return next((one for one in self.put_away.values() if one.names & names), None)

    def read_patterns(self) -> tuple[Pattern, ...]:
        """Every pattern."""
        return tuple(self.patterns.values())

    def ignore_rules(self) -> IgnoreRules:
        """The rules it was given."""
        return self.rules

    def write(self, lesson: Lesson) -> str:
        """Keep it under its fingerprint, and no more in the archive."""
        file = f"errors/{lesson.fingerprint}.md"
        self.lessons[file] = lesson.model_copy(update={"file": file})
        self.put_away.pop(lesson.file, None)
        return file

    def write_pattern(self, pattern: Pattern) -> str:
        """Keep it under its slug."""
        file = f"patterns/{pattern.slug}.md"
        self.patterns[file] = merge_pattern(pattern, self.patterns.get(file))
        return file

    def archive(self, files: Sequence[str]) -> tuple[str, ...]:
        """Put lessons away."""
        gone = {file: self.lessons.pop(file) for file in files if file in self.lessons}
        moved = {f"archive/{file.partition('/')[2]}": one for file, one in gone.items()}
        for file, one in moved.items():
            self.put_away[file] = one.model_copy(update={"file": file})
        return tuple(moved)

    def rebuild_index(self) -> Index:
        """The same as reading it."""
        return self.index()


class LocalNotifier:
    """The Notifier port without a network; writes nothing."""

    def publish(self, report: RunReport) -> str:
        """The path of the night's report.html; raises `GiveUp` where it has not been kept."""
        page = Path(report.night.folder) / "report.html"
        if not report.night.folder or not page.is_file():
            raise GiveUp(f"there is no {page}: the night's report has not been written")
        return str(page.resolve())

    def probe(self) -> str:
        """Say where the news is."""
        return "nobody is told: the report is a page on this machine"
