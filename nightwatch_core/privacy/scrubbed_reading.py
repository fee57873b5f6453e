"""What is read of errors and lessons, and what is said to models, without secrets."""

from datetime import datetime, timedelta

from nightwatch_core.models.code import Release
from nightwatch_core.models.conversation import (
    AssistantTurn,
    Capabilities,
    Conversation,
    Reply,
    Turn,
)
from nightwatch_core.models.error import ErrorGroup, Fetched, Window
from nightwatch_core.models.knowledge import Index, Lesson
from nightwatch_core.models.pattern import IgnoreRules, Pattern
from nightwatch_core.models.trace import Trace
from nightwatch_core.ports import ErrorSource, KnowledgeReader, Model
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


class ScrubbedModel:
    """A `Model` that is told nothing secret; what it said itself is echoed as it was."""

    def __init__(self, model: Model, scrub: Scrub) -> None:
        """Mask what `model` is told."""
        self._model, self._scrub = model, scrub

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """Return the next turn to the masked conversation."""
        turns = tuple(self._turn(turn) for turn in conversation.turns)
        masked = {"turns": turns, "system": self._scrub(conversation.system)}
        with told_scrubbed(self._scrub):
            return self._model.reply(conversation.model_copy(update=masked), timeout)

    def capabilities(self) -> Capabilities:
        """Return what it can do."""
        return self._model.capabilities()

    def probe(self) -> str:
        """Say which model answers, and until when."""
        with told_scrubbed(self._scrub):
            return self._model.probe()

    def _turn(self, turn: Turn) -> Turn:
        return turn if isinstance(turn, AssistantTurn) else scrubbed(turn, self._scrub)


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
