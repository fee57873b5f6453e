"""The code as everybody but a draft's maker sees it: masked, and without secret files."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from nightwatch_core.models.batch import Batch, BatchState, ItemResult, ListedBatch, TriageItem
from nightwatch_core.models.code import (
    Blame,
    ChangedFile,
    CodeReads,
    Commit,
    CommitDiff,
    FolderEntry,
    LoggedCommit,
    MergedPull,
    Release,
    SearchHit,
)
from nightwatch_core.models.conversation import AssistantTurn, Capabilities, Conversation, Reply
from nightwatch_core.models.errors import ErrorGroup, Fetched, FileContents, Trace, Window
from nightwatch_core.models.knowledge import IgnoreRules, Index, Lesson, Notes, Pattern, TaskFile
from nightwatch_core.models.proposals import (
    Command,
    DraftPull,
    FileChange,
    Preparation,
    Prepared,
    Proposal,
    PullUpdate,
    Receipt,
    Run,
    receipt_for,
)
from nightwatch_core.models.report import Night, NightKind, NightRecord, RunReport
from nightwatch_core.ports import (
    BatchModel,
    CodeHost,
    CodeReader,
    CountsReads,
    ErrorSource,
    FileSource,
    KeepsFiles,
    KnowledgeReader,
    KnowledgeWriter,
    Model,
    Nights,
    Notifier,
    Outbox,
    Records,
    Sandbox,
    TaskStore,
)
from nightwatch_core.privacy.key_values import (
    Scrub,
    holds_mask,
    is_secret_file,
    refusal,
    scrubbed,
    told_scrubbed,
)
from nightwatch_core.privacy.scrubber import Scrubber
from nightwatch_core.privacy.second_check import SecondCheck

# Lines that only their neighbours tell to be secret: of a key, or the value of a name above.
_TELLING_NOTHING = re.compile(
    r"[\s\"'+,\\n]*[A-Za-z0-9+/=]{40,}[\s\"'+,\\n;]*|\s*[\"']?value[\"']?:.*"
)


class ScrubbedHost:
    """A `CodeHost` whose readers show no secrets."""

    def __init__(self, host: CodeHost, scrubber: Scrubber) -> None:
        """Mask what `host` gives."""
        self._host, self._scrubber = host, scrubber

    def head(self) -> Commit:
        """Return the newest commit of the base branch."""
        return self._host.head()

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """Return the commit of a release; None where no commit goes by that name."""
        return self._host.commit_of(name, branches=branches)

    def commit_at(self, moment: datetime) -> Commit:
        """Return the newest commit that the base branch had then."""
        return self._host.commit_at(moment)

    def reader(self, commit: Commit) -> CodeReader:
        """Return a reader of the caller's own; it counts and keeps where the host's does."""
        reader = self._host.reader(commit)
        kind = _CountingReader if isinstance(reader, CountsReads) else ScrubbedReader
        return kind(reader, self._scrubber)

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Return pull requests merged into the base branch, newest first."""
        pulls = self._host.pulls_merged_since(since)
        return tuple(scrubbed(pull, self._scrubber.scrub) for pull in pulls)

    def releases(self) -> tuple[Release, ...]:
        """Return releases, newest first."""
        return self._host.releases()

    def probe(self) -> str:
        """Say what is there."""
        return self._host.probe()


class ScrubbedReader:
    """A `CodeReader` that masks what it shows; secret files are named, and never shown."""

    def __init__(self, reader: CodeReader, scrubber: Scrubber) -> None:
        """Show what `reader` reads."""
        self._reader, self._scrubber = reader, scrubber

    @property
    def commit(self) -> Commit:
        """The commit everything is read at."""
        return self._reader.commit

    def paths(self) -> tuple[str, ...]:
        """Return every file of the tree, sorted."""
        return self._reader.paths()

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        """Return the names in a folder."""
        return self._reader.list_directory(path)

    def read_file(self, path: str) -> str | None:
        """Return the masked text at `path`; None where there is none, or it is a secret file."""
        text = None if is_secret_file(path) else self._reader.read_file(path)
        return None if text is None else self._scrubber.scrub(text)

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Return masked lines that hold `query`, which may hold masks itself."""
        if is_secret_file(path):
            return ()
        wanted = self._scrubber.masks.unmask(query) if holds_mask(query) else query
        hits = self._reader.search(wanted, path, limit)
        return tuple(self._hit(hit) for hit in hits if not is_secret_file(hit.path))

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        """Return who last wrote the lines, line by line."""
        if is_secret_file(path):
            return ()
        rows = self._reader.blame(path, start, end)
        return tuple(
            self._blamed(path, row) for row in rows if not is_secret_file(row.path or path)
        )

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        """Return what a commit changed; of secret files that they changed alone."""
        shown = self._reader.show_commit(sha, path)
        if shown is None:
            return None
        files = self._changes(shown.files)
        return scrubbed(shown.model_copy(update={"files": files}), self._scrubber.scrub)

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return commits, newest first; what secret files held is not searched."""
        if text and is_secret_file(path):
            return ()
        wanted = self._scrubber.masks.unmask(text) if holds_mask(text) else text
        rows = self._reader.history(path, wanted, limit)
        return tuple(scrubbed(row, self._scrubber.scrub) for row in rows)

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        """Return what differs between two commits, below `path`."""
        return self._changes(self._reader.compare(old_sha, new_sha, path))

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        """Return paths of files that differ between two commits."""
        return self._reader.paths_changed(old_sha, new_sha)

    def _changes(self, files: Iterable[ChangedFile]) -> tuple[ChangedFile, ...]:
        return tuple(
            file.model_copy(update={"diff": f"[{refusal(file.path)}]" if file.diff else ""})
            if is_secret_file(file.path) or is_secret_file(file.old_path)
            else file.model_copy(update={"diff": self._scrubber.scrub(file.diff)})
            for file in files
        )

    def _hit(self, hit: SearchHit) -> SearchHit:
        text = self._line(hit.path, hit.line, hit.text)
        return hit if text == hit.text else hit.model_copy(update={"text": text})

    def _blamed(self, path: str, row: Blame) -> Blame:
        text = self._line(path, row.line, row.text)
        return scrubbed(row.model_copy(update={"text": text}), self._scrubber.scrub)

    def _line(self, path: str, number: int, text: str) -> str:
        """A line as the masked file has it, where it does not tell by itself what it is."""
        if _TELLING_NOTHING.fullmatch(text):
            lines = (self.read_file(path) or "").split("\n")
            return lines[number - 1] if 0 < number <= len(lines) else ""
        return self._scrubber.scrub(text)


class _CountingReader(ScrubbedReader):
    """The same of a reader that counts what it reads, and may keep files."""

    @property
    def code_reads(self) -> CodeReads:
        """Return the reads since this reader was made."""
        assert isinstance(self._reader, CountsReads)
        return self._reader.code_reads

    def read_files(self, paths: Iterable[str]) -> dict[str, str | None]:
        """Return the masked texts at all `paths`."""
        if not isinstance(self._reader, KeepsFiles):
            return {path: self.read_file(path) for path in paths}
        wanted = tuple(paths)
        texts = self._reader.read_files(tuple(p for p in wanted if not is_secret_file(p)))
        scrub = self._scrubber.scrub
        return {path: None if (text := texts.get(path)) is None else scrub(text) for path in wanted}

    def remember_files(self, texts: Mapping[str, str | None]) -> None:
        """Take texts of this commit that were read and kept before."""
        if isinstance(self._reader, KeepsFiles):
            shown = {path: text for path, text in texts.items() if not is_secret_file(path)}
            self._reader.remember_files(shown)


# What is read of errors and lessons, and what is said to models, without secrets.


class ScrubbedSource:
    """An `ErrorSource` whose messages and traces are masked; names of groups stay."""

    def __init__(self, source: ErrorSource, scrub: Scrub) -> None:
        """Mask what `source` gives."""
        self._source, self._scrub = source, scrub

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        """Return the stretch to look at."""
        with told_scrubbed(self._scrub):
            return self._source.window(lookback, now)

    def error_groups(self, window: Window) -> Fetched:
        """Return every group of the window, named by what its records said."""
        with told_scrubbed(self._scrub):
            return scrubbed(self._source.error_groups(window), self._scrub)

    def traces(self, group: ErrorGroup, limit: int = 3) -> tuple[Trace, ...]:
        """Return up to `limit` traces of the group, newest first."""
        with told_scrubbed(self._scrub):
            traces = self._source.traces(group, limit)
        return tuple(scrubbed(trace, self._scrub) for trace in traces)

    def releases(self) -> tuple[Release, ...]:
        """Return deployments it was told of, newest first."""
        with told_scrubbed(self._scrub):
            return self._source.releases()

    def probe(self) -> str:
        """Say what is there."""
        with told_scrubbed(self._scrub):
            return self._source.probe()


class ScrubbedFiles(ScrubbedSource):
    """The same of files, which say what was understood of them."""

    def __init__(self, files: FileSource, scrub: Scrub) -> None:
        """Mask what `files` give."""
        super().__init__(files, scrub)
        self._files = files

    def contents(self) -> FileContents:
        """Return what was understood of the files, and what was not."""
        with told_scrubbed(self._scrub):
            return scrubbed(self._files.contents(), self._scrub)


class ScrubbedModel:
    """A `Model` that is told nothing secret; what it said itself is echoed as it was."""

    def __init__(self, model: Model, scrub: Scrub) -> None:
        """Mask what `model` is told."""
        self._model, self._scrub = model, scrub

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """Return the next turn to the masked conversation."""
        with told_scrubbed(self._scrub):
            return self._model.reply(told(conversation, self._scrub), timeout)

    def capabilities(self) -> Capabilities:
        """Return what it can do."""
        return self._model.capabilities()

    def probe(self) -> str:
        """Say which model answers, and until when."""
        with told_scrubbed(self._scrub):
            return self._model.probe()


def told(conversation: Conversation, scrub: Scrub) -> Conversation:
    """Return what may be said to a model: what it said itself stays, as its service wants it."""
    turns = tuple(
        turn if isinstance(turn, AssistantTurn) else scrubbed(turn, scrub)
        for turn in conversation.turns
    )
    return conversation.model_copy(update={"turns": turns, "system": scrub(conversation.system)})


class ScrubbedSandbox:
    """A `Sandbox` whose programs print nothing secret."""

    def __init__(self, sandbox: Sandbox, scrub: Scrub) -> None:
        """Mask what programs print."""
        self._sandbox, self._scrub = sandbox, scrub

    def confinement(self) -> str:
        """Say what confines programs here."""
        with told_scrubbed(self._scrub):
            return self._sandbox.confinement()

    def prepare(self, commit: Commit, preparation: Preparation) -> Prepared:
        """Have the dependencies of a project at hand."""
        with told_scrubbed(self._scrub):
            return self._sandbox.prepare(commit, preparation)

    def run(self, commit: Commit, changes: tuple[FileChange, ...], command: Command) -> Run:
        """Run a command in a fresh copy of the tree with the changes made."""
        with told_scrubbed(self._scrub):
            run = self._sandbox.run(commit, changes, command)
        return run.model_copy(update={"output": self._scrub(run.output)})

    def close(self) -> None:
        """Delete what was laid out for runs."""
        self._sandbox.close()


class ScrubbedBatches:
    """A `BatchModel` that is told nothing secret."""

    def __init__(self, batches: BatchModel, scrub: Scrub) -> None:
        """Mask what `batches` is told."""
        self._batches, self._scrub = batches, scrub

    @property
    def account(self) -> str:
        """A name of whom it is asked for."""
        return self._batches.account

    def ask_one(self, item: TriageItem, timeout: float) -> ItemResult:
        """Return the answer to one item, at once and at full price."""
        with told_scrubbed(self._scrub):
            return self._batches.ask_one(self._item(item), timeout)

    def intents(self, items: Sequence[TriageItem], night: str, now: datetime) -> tuple[Batch, ...]:
        """Return what to submit, as many batches as the service's limits make of it."""
        with told_scrubbed(self._scrub):
            return self._batches.intents([self._item(item) for item in items], night, now)

    def submit(self, intent: Batch, items: Sequence[TriageItem]) -> Batch:
        """Submit the intent's items once; returns the intent with its id."""
        with told_scrubbed(self._scrub):
            return self._batches.submit(intent, [self._item(item) for item in items])

    def state(self, batch: Batch) -> BatchState:
        """Return how far it is."""
        with told_scrubbed(self._scrub):
            return self._batches.state(batch)

    def results(self, batch: Batch) -> Iterator[ItemResult]:
        """Return each item of an ended batch once, in any order."""
        with told_scrubbed(self._scrub):
            yield from self._batches.results(batch)

    def newest(self, since: datetime) -> tuple[ListedBatch, ...]:
        """Return what the service lists as created since then."""
        return self._batches.newest(since)

    def is_of(self, id: str, intent: Batch) -> bool | None:
        """Tell whether this batch of the service holds the intent's items."""
        return self._batches.is_of(id, intent)

    def probe(self) -> str:
        """Say that there are batches."""
        with told_scrubbed(self._scrub):
            return self._batches.probe()

    def _item(self, item: TriageItem) -> TriageItem:
        return item.model_copy(update={"conversation": told(item.conversation, self._scrub)})


class ScrubbedLessons:
    """A `KnowledgeReader` of lessons that were written before anything was masked, too."""

    def __init__(self, knowledge: KnowledgeReader, scrub: Scrub) -> None:
        """Mask what `knowledge` gives."""
        self._knowledge, self._scrub = knowledge, scrub

    def index(self) -> Index:
        """Return the list of documents."""
        return scrubbed(self._knowledge.index(), self._scrub)

    def read(self, file: str) -> Lesson | None:
        """Return one lesson; None where it is gone or cannot be read."""
        lesson = self._knowledge.read(file)
        return None if lesson is None else scrubbed(lesson, self._scrub)

    def archived(self) -> Index:
        """Return the list of archived lessons."""
        return scrubbed(self._knowledge.archived(), self._scrub)

    def archived_lesson(self, names: frozenset[str]) -> Lesson | None:
        """Return the archived lesson on the error of one of these names."""
        lesson = self._knowledge.archived_lesson(names)
        return None if lesson is None else scrubbed(lesson, self._scrub)

    def read_patterns(self) -> tuple[Pattern, ...]:
        """Return every known pattern that can be read."""
        return tuple(scrubbed(pattern, self._scrub) for pattern in self._knowledge.read_patterns())

    def ignore_rules(self) -> IgnoreRules:
        """Return the team's ignore rules, as they are."""
        return self._knowledge.ignore_rules()


# What is published, told and kept, without secrets: each neighbour behind one wall.


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
            said = ((commit, self._scrub(commit.message)) for commit in proposal.commits)
            commits = tuple(item.model_copy(update={"message": text}) for item, text in said)
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
        return tuple(scrubbed(task, self._scrub) for task in self._tasks.tasks())

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
        return [_texts(item, scrub) for item in value]
    return {k: _texts(v, scrub) for k, v in value.items()} if isinstance(value, dict) else value


# What is published is looked at a second time: a wall before each neighbour that people read.

Before = Callable[[str, str], str | None]  # the text of a file at a commit


class CheckedOutbox:
    """An `Outbox` to which nothing goes that looks secret; of a draft's files the new lines count."""

    def __init__(self, outbox: Outbox, check: SecondCheck, before: Before) -> None:
        """Look at what goes to `outbox`; `before` reads the files that drafts change."""
        self._outbox, self._check, self._before = outbox, check, before

    def publish(self, proposal: Proposal) -> Receipt:
        """Publish once per key, or refuse with the kind and the place of what was found."""
        why = self._check.refusal(dict(self._texts(proposal)))
        return (
            receipt_for(proposal, "refused", reason=why) if why else self._outbox.publish(proposal)
        )

    def probe(self) -> str:
        """Say what may be written, without writing."""
        return self._outbox.probe()

    def _texts(self, proposal: Proposal) -> Iterator[tuple[str, str]]:
        for name in ("title", "body", "commit_message", "branch"):
            if text := getattr(proposal, name, ""):
                yield f"the {proposal.kind}'s {name.replace('_', ' ')}", text
        if isinstance(proposal, PullUpdate):
            yield from self._lines(proposal.commit, proposal.changes, "")
        if isinstance(proposal, DraftPull):
            yield from self._lines(proposal.commit, proposal.changes, "")
            for number, commit in enumerate(proposal.commits, 1):
                yield f"the message of commit {number}", commit.message
                yield from self._lines(proposal.commit, commit.changes, f" in commit {number}")

    def _lines(
        self, commit: str, changes: Iterable[FileChange], where: str
    ) -> Iterator[tuple[str, str]]:
        for change in changes:
            before = self._before(commit, change.path) if change.text else None
            text = _added(before or "", change.text or "")
            yield f"the changed lines of {change.path}{where}", text


def _added(before: str, after: str) -> str:
    """The lines that were not there, each where it stands."""
    known = frozenset(before.splitlines())
    return "\n".join("" if line in known else line for line in after.splitlines())


class CheckedKnowledge:
    """A `KnowledgeWriter` whose documents, which people commit, hold nothing that looks secret."""

    def __init__(self, knowledge: KnowledgeWriter, check: SecondCheck) -> None:
        """Look at what `knowledge` keeps."""
        self._knowledge, self._check = knowledge, check

    def write(self, lesson: Lesson) -> str:
        """Write or replace one lesson's document; returns its file."""
        withheld = partial(self._check.withhold, f"the lesson on {lesson.fingerprint}")
        return self._knowledge.write(scrubbed(lesson, withheld))

    def write_pattern(self, pattern: Pattern) -> str:
        """Write or replace one pattern's document; returns its file."""
        return self._knowledge.write_pattern(
            scrubbed(pattern, partial(self._check.withhold, "a pattern"))
        )

    def archive(self, files: Sequence[str]) -> tuple[str, ...]:
        """Put lessons into the archive; returns the new names of those that were there."""
        return self._knowledge.archive(files)

    def rebuild_index(self) -> Index:
        """Read all documents, unite those on one error, and write index.yml."""
        return self._knowledge.rebuild_index()
