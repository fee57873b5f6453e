"""What is read of errors and lessons, and what is said to models, without secrets."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from nightwatch_core.models.batch import Batch, BatchState, ItemResult, ListedBatch, TriageItem
from nightwatch_core.models.code import Commit, Release
from nightwatch_core.models.conversation import (
    AssistantTurn,
    Capabilities,
    Conversation,
    Reply,
)
from nightwatch_core.models.error import ErrorGroup, Fetched, Window
from nightwatch_core.models.file_contents import FileContents
from nightwatch_core.models.knowledge import Index, Lesson
from nightwatch_core.models.pattern import IgnoreRules, Pattern
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.models.sandbox import Command, Preparation, Prepared, Run
from nightwatch_core.models.trace import Trace
from nightwatch_core.ports import (
    BatchModel,
    ErrorSource,
    FileSource,
    KnowledgeReader,
    Model,
    Sandbox,
)
from nightwatch_core.privacy.values import Scrub, scrubbed, told_scrubbed


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
        return tuple(scrubbed(one, self._scrub) for one in self._knowledge.read_patterns())

    def ignore_rules(self) -> IgnoreRules:
        """Return the team's ignore rules, as they are."""
        return self._knowledge.ignore_rules()
