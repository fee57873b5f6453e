"""What is published, told and kept, without secrets: each neighbour behind one wall."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from nightwatch_core.models.knowledge import Index, Lesson, Notes, TaskFile
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.models.proposal import DraftPull, Proposal, PullUpdate, Receipt
from nightwatch_core.models.report import Night, NightKind, NightRecord, RunReport
from nightwatch_core.ports import KnowledgeWriter, Nights, Notifier, Outbox, Records, TaskStore
from nightwatch_core.privacy.values import Scrub, scrubbed, told_scrubbed


class ScrubbedOutbox:
    """An `Outbox`; the files of a draft are what they are, all that is said of them is masked."""

    def __init__(self, outbox: Outbox, scrub: Scrub) -> None:
        """Mask what goes to `outbox`."""
        self._outbox, self._scrub = outbox, scrub

    def publish(self, proposal: Proposal) -> Receipt:
        """Publish once per key."""
        masked = scrubbed(proposal, self._scrub)
        if isinstance(proposal, PullUpdate):
            masked = masked.model_copy(update={"changes": proposal.changes})
        if isinstance(proposal, DraftPull):
            said = ((one, self._scrub(one.message)) for one in proposal.commits)
            commits = tuple(one.model_copy(update={"message": text}) for one, text in said)
            masked = masked.model_copy(update={"changes": proposal.changes, "commits": commits})
        with told_scrubbed(self._scrub):
            return scrubbed(self._outbox.publish(masked), self._scrub)

    def probe(self) -> str:
        """Say what may be written, without writing."""
        return self._outbox.probe()


class ScrubbedNotifier:
    """A `Notifier`."""

    def __init__(self, notifier: Notifier, scrub: Scrub) -> None:
        """Mask what `notifier` tells."""
        self._notifier, self._scrub = notifier, scrub

    def publish(self, report: RunReport) -> str:
        """Tell; returns where the news can be read."""
        with told_scrubbed(self._scrub):
            return self._notifier.publish(scrubbed(report, self._scrub))

    def probe(self) -> str:
        """Say who would be told."""
        return self._notifier.probe()


class ScrubbedKnowledge:
    """A `KnowledgeWriter`."""

    def __init__(self, knowledge: KnowledgeWriter, scrub: Scrub) -> None:
        """Mask what `knowledge` keeps."""
        self._knowledge, self._scrub = knowledge, scrub

    def write(self, lesson: Lesson) -> str:
        """Write or replace one lesson's document; returns its file."""
        return self._knowledge.write(scrubbed(lesson, self._scrub))

    def write_pattern(self, pattern: Pattern) -> str:
        """Write or replace one pattern's document; returns its file."""
        return self._knowledge.write_pattern(scrubbed(pattern, self._scrub))

    def archive(self, files: Sequence[str]) -> tuple[str, ...]:
        """Put lessons into the archive; returns the new names of those that were there."""
        return self._knowledge.archive(files)

    def rebuild_index(self) -> Index:
        """Read all documents, unite those on one error, and write index.yml."""
        return self._knowledge.rebuild_index()


class ScrubbedNights:
    """`Nights` whose reports are masked before they are kept."""

    def __init__(self, nights: Nights, scrub: Scrub) -> None:
        """Mask what `nights` keeps."""
        self._nights, self._scrub = nights, scrub

    def begin(self, name: str, night: Callable[[str, bool], Night]) -> Night:
        """Start, or take up again, the night called `name`."""
        return self._nights.begin(name, night)

    def unfinished(self, kind: NightKind, since: datetime) -> Night | None:
        """Return the last night of this kind that never ended."""
        return self._nights.unfinished(kind, since)

    def watermark(self, key: str) -> datetime | None:
        """Return until when the sources of this key were read."""
        return self._nights.watermark(key)

    def keep(self, report: RunReport) -> str:
        """Write the report; returns the folder."""
        return self._nights.keep(scrubbed(report, self._scrub))

    def finish(self, report: RunReport) -> None:
        """Close the night in the history."""
        self._nights.finish(scrubbed(report, self._scrub))

    def reports(self) -> Iterator[RunReport]:
        """Return reports that were kept, newest first."""
        return self._nights.reports()

    def report(self, night_id: str) -> RunReport | None:
        """Return one of them; None where there is none of that name."""
        return self._nights.report(night_id)

    def history(self) -> tuple[NightRecord, ...]:
        """Return every night, newest first."""
        return self._nights.history()


class ScrubbedTasks:
    """A `TaskStore`; what people wrote into task files is theirs, until it is shown elsewhere."""

    def __init__(self, tasks: TaskStore, scrub: Scrub) -> None:
        """Mask what `tasks` keeps and gives."""
        self._tasks, self._scrub = tasks, scrub

    def tasks(self) -> tuple[TaskFile, ...]:
        """Return every file that can be read, by id."""
        return tuple(scrubbed(one, self._scrub) for one in self._tasks.tasks())

    def complaints(self) -> tuple[str, ...]:
        """Return what cannot be read, and why."""
        return self._tasks.complaints()

    def read(self, id: str) -> TaskFile | None:
        """Return one of them; None where it cannot be read."""
        task = self._tasks.read(id)
        return None if task is None else scrubbed(task, self._scrub)

    def append(self, id: str, notes: Notes, related: tuple[str, ...] = ()) -> str:
        """Put notes at the end of a task's file; returns the file."""
        return self._tasks.append(id, scrubbed(notes, self._scrub), related)

    def mark_promoted(self, id: str, digests: tuple[str, ...]) -> str:
        """Remember in a task's file which of its learnings were promoted; returns the file."""
        return self._tasks.mark_promoted(id, digests)


class ScrubbedRecords:
    """`Records` of JSON whose texts are masked before they are kept."""

    def __init__(self, records: Records, scrub: Scrub) -> None:
        """Mask what `records` keeps."""
        self._records, self._scrub = records, scrub

    def get(self, key: str) -> str | None:
        """Return what was put there and has not expired."""
        return self._records.get(key)

    def put(self, key: str, text: str) -> None:
        """Keep it; what is no JSON is masked as one text."""
        try:
            text = json.dumps(_texts(json.loads(text), self._scrub))
        except ValueError:
            text = self._scrub(text)
        self._records.put(key, text)


def _texts(value: Any, scrub: Scrub) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        return [_texts(one, scrub) for one in value]
    return {k: _texts(v, scrub) for k, v in value.items()} if isinstance(value, dict) else value
