"""What is published is looked at a second time: a wall before each neighbour that people read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from nightwatch_core.models.knowledge import Index, Lesson
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.models.proposal import (
    DraftPull,
    FileChange,
    Proposal,
    PullUpdate,
    Receipt,
    receipt_for,
)
from nightwatch_core.ports import KnowledgeWriter, Outbox
from nightwatch_core.privacy.second_check import SecondCheck
from nightwatch_core.privacy.values import scrubbed

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
