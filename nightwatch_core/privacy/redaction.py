"""Ports without secrets: what they give, what they are given and what they raise is redacted."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.batch import TriageItem
from nightwatch_core.models.code import Blame, ChangedFile, CommitDiff, LoggedCommit, SearchHit
from nightwatch_core.models.conversation import AssistantTurn, Conversation
from nightwatch_core.models.knowledge import Lesson, Notes, Pattern
from nightwatch_core.models.proposals import (
    DraftPull,
    FileChange,
    Proposal,
    PullUpdate,
    Receipt,
    Run,
    receipt_for,
)
from nightwatch_core.ports import (
    BatchModel,
    CodeHost,
    CodeReader,
    CountsReads,
    ErrorSource,
    FileSource,
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
from nightwatch_core.privacy.masks import Scrub, holds_mask
from nightwatch_core.privacy.proxy import Guard, Transform, proxied
from nightwatch_core.privacy.scrubber import Scrubber
from nightwatch_core.privacy.second_check import SecondCheck
from nightwatch_core.privacy.secret_files import is_secret_file, refusal

V = TypeVar("V", bound=BaseModel)

NAMES = frozenset((
    "fingerprint", "aliases", "also", "signature", "key", "id", "sha", "commit_sha", "branch",
    "base", "path", "repo_path", "old_path", "file", "folder", "digest", "schema", "kind",
    "status", "options", "given", "opaque", "parameters",
))  # fmt: skip
"""Fields that stay as they are: names, which would name nothing once masked, and our options."""

# Lines that are secret only because of the lines around them: of a key, or the value of a name.
_SECRET_BY_CONTEXT = re.compile(
    r"[\s\"'+,\\n]*[A-Za-z0-9+/=]{40,}[\s\"'+,\\n;]*|\s*[\"']?value[\"']?:.*"
)


def scrubbed(value: V, scrub: Scrub) -> V:
    """Return the value with every text in it scrubbed, at any depth; the same where none changes.

    >>> from nightwatch_core.models.errors import RejectedRecord
    >>> scrubbed(RejectedRecord(place="a:1", reason="no JSON", text="pw"), str.upper).reason
    'NO JSON'
    """
    new: V = _any(value, scrub)
    return new


def _any(value: Any, scrub: Scrub) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, BaseModel):
        return _model(value, scrub)
    if isinstance(value, tuple | list):
        new = [_any(item, scrub) for item in value]
        same = all(item is other for item, other in zip(new, value, strict=True))
        return value if same else type(value)(new)
    if isinstance(value, dict):
        return {_any(name, scrub): _any(item, scrub) for name, item in value.items()}
    return value


def _model(value: BaseModel, scrub: Scrub) -> BaseModel:
    changed = {}
    for name in type(value).model_fields:
        old = getattr(value, name)
        if name not in NAMES and (new := _any(old, scrub)) is not old and new != old:
            changed[name] = new
    return value.model_copy(update=changed) if changed else value


@contextmanager
def redacted_errors(scrub: Scrub) -> Iterator[None]:
    """Redact the texts of exceptions that a port raises."""
    try:
        yield
    except NightWatchError as error:
        error.args = tuple(scrub(text) if isinstance(text, str) else text for text in error.args)
        raise


def _values(scrub: Scrub) -> Transform:
    """Return a transform for values and tuples of them; other arguments and results stay."""

    def change(value: Any) -> Any:
        return _any(value, scrub) if isinstance(value, BaseModel | tuple) else value

    return change


def _guard(scrub: Scrub) -> Guard:
    return partial(redacted_errors, scrub)


# The code: masked, and without secret files.


def redacted_host(host: CodeHost, scrubber: Scrubber) -> CodeHost:
    """Return a host whose readers show no secrets."""
    return proxied(
        host,
        CodeHost,
        results={
            "reader": lambda reader: redacted_reader(reader, scrubber),
            "pulls_merged_since": _values(scrubber.scrub),
        },
    )


def redacted_reader(reader: CodeReader, scrubber: Scrubber) -> CodeReader:
    """Return a reader that masks secrets; files that hold only secrets are named, never shown."""
    redaction = _ReaderRedaction(reader, scrubber)
    replaced: dict[str, Callable[..., Any]] = {
        "read_file": redaction.read_file,
        "search": redaction.search,
        "blame": redaction.blame,
        "show_commit": redaction.show_commit,
        "history": redaction.history,
        "compare": redaction.compare,
    }
    if not isinstance(reader, CountsReads):
        return proxied(reader, CodeReader, replaced=replaced)
    return proxied(reader, CodeReader, CountsReads, replaced=replaced)


class _ReaderRedaction:
    """Methods of a `CodeReader`, without secrets."""

    def __init__(self, reader: CodeReader, scrubber: Scrubber) -> None:
        self._reader, self._scrubber = reader, scrubber

    def read_file(self, path: str) -> str | None:
        text = None if is_secret_file(path) else self._reader.read_file(path)
        return None if text is None else self._scrubber.scrub(text)

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Search for `query`, in which masks stand for what they hide."""
        if is_secret_file(path):
            return ()
        hits = self._reader.search(self._unmasked(query), path, limit)
        return tuple(
            hit.model_copy(update={"text": self._line(hit.path, hit.line, hit.text)})
            for hit in hits
            if not is_secret_file(hit.path)
        )

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        if is_secret_file(path):
            return ()
        rows = self._reader.blame(path, start, end)
        return tuple(
            scrubbed(
                row.model_copy(update={"text": self._line(path, row.line, row.text)}),
                self._scrubber.scrub,
            )
            for row in rows
            if not is_secret_file(row.path or path)
        )

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        shown = self._reader.show_commit(sha, path)
        if shown is None:
            return None
        files = self._changes(shown.files)
        return scrubbed(shown.model_copy(update={"files": files}), self._scrubber.scrub)

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        if text and is_secret_file(path):
            return ()
        rows = self._reader.history(path, self._unmasked(text), limit)
        return tuple(scrubbed(row, self._scrubber.scrub) for row in rows)

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        return self._changes(self._reader.compare(old_sha, new_sha, path))

    def _unmasked(self, text: str) -> str:
        return self._scrubber.masks.unmask(text) if holds_mask(text) else text

    def _changes(self, files: Iterable[ChangedFile]) -> tuple[ChangedFile, ...]:
        return tuple(
            file.model_copy(update={"diff": f"[{refusal(file.path)}]" if file.diff else ""})
            if is_secret_file(file.path) or is_secret_file(file.old_path)
            else file.model_copy(update={"diff": self._scrubber.scrub(file.diff)})
            for file in files
        )

    def _line(self, path: str, number: int, text: str) -> str:
        """Return a line as the masked file has it, if it is secret only by its context."""
        if _SECRET_BY_CONTEXT.fullmatch(text):
            lines = (self.read_file(path) or "").split("\n")
            return lines[number - 1] if 0 < number <= len(lines) else ""
        return self._scrubber.scrub(text)


# What is read, and what models and programs are given.


def _redacted(
    port: Any, protocol: Any, scrub: Scrub, reads: Iterable[str] = (), writes: Iterable[str] = ()
) -> Any:
    """Return a port with redacted errors, results of `reads` and arguments of `writes`."""
    results, arguments = (dict.fromkeys(names, _values(scrub)) for names in (reads, writes))
    return proxied(port, protocol, arguments=arguments, results=results, guard=_guard(scrub))


def redacted_source(source: ErrorSource, scrub: Scrub) -> ErrorSource:
    """Return a source with redacted messages and traces; names of groups stay."""
    return cast(ErrorSource, _redacted(source, ErrorSource, scrub, ("error_groups", "traces")))


def redacted_files(files: FileSource, scrub: Scrub) -> FileSource:
    """Return a source of files with redacted messages, traces and contents."""
    reads = ("error_groups", "traces", "contents")
    return cast(FileSource, _redacted(files, FileSource, scrub, reads))


def redacted_lessons(knowledge: KnowledgeReader, scrub: Scrub) -> KnowledgeReader:
    """Return a reader of redacted lessons and patterns; people may have written secrets there."""
    reads = ("index", "read", "archived", "archived_lesson", "read_patterns")
    return cast(KnowledgeReader, _redacted(knowledge, KnowledgeReader, scrub, reads))


def redacted_model(model: Model, scrub: Scrub) -> Model:
    """Return a model that is sent redacted conversations."""
    arguments = {"reply": partial(_conversations, scrub)}
    return proxied(model, Model, arguments=arguments, guard=_guard(scrub))


def redacted_batches(batches: BatchModel, scrub: Scrub) -> BatchModel:
    """Return a service of batches that is sent redacted conversations."""
    methods = ("intent", "submit")
    arguments = dict.fromkeys(methods, partial(_conversations, scrub))
    return proxied(batches, BatchModel, arguments=arguments, guard=_guard(scrub))


def _conversations(scrub: Scrub, value: Any) -> Any:
    """Redact conversations; the model's own turns stay, its service requires them unchanged."""
    if isinstance(value, Conversation):
        turns = tuple(
            turn if isinstance(turn, AssistantTurn) else scrubbed(turn, scrub)
            for turn in value.turns
        )
        return value.model_copy(update={"turns": turns, "system": scrub(value.system)})
    if isinstance(value, TriageItem):
        conversation = _conversations(scrub, value.conversation)
        return value.model_copy(update={"conversation": conversation})
    if isinstance(value, list | tuple):
        return [_conversations(scrub, item) for item in value]
    return value


def redacted_sandbox(sandbox: Sandbox, scrub: Scrub) -> Sandbox:
    """Return a sandbox whose programs print no secrets."""

    def without_secrets(run: Run) -> Run:
        return run.model_copy(update={"output": scrub(run.output)})

    return proxied(sandbox, Sandbox, results={"run": without_secrets}, guard=_guard(scrub))


# What is published and kept.


def redacted_outbox(outbox: Outbox, scrub: Scrub) -> Outbox:
    """Return an outbox that publishes redacted texts; the files of a draft stay as they are."""

    def masked(proposal: Proposal) -> Proposal:
        new = scrubbed(proposal, scrub)
        if isinstance(proposal, PullUpdate):
            return new.model_copy(update={"changes": proposal.changes})
        if isinstance(proposal, DraftPull):
            commits = tuple(
                commit.model_copy(update={"message": scrub(commit.message)})
                for commit in proposal.commits
            )
            return new.model_copy(update={"changes": proposal.changes, "commits": commits})
        return new

    return proxied(
        outbox,
        Outbox,
        arguments={"publish": masked},
        results={"publish": _values(scrub)},
        guard=_guard(scrub),
    )


def redacted_notifier(notifier: Notifier, scrub: Scrub) -> Notifier:
    """Return a notifier that sends redacted reports."""
    return cast(Notifier, _redacted(notifier, Notifier, scrub, writes=("publish",)))


def redacted_knowledge(knowledge: KnowledgeWriter, scrub: Scrub) -> KnowledgeWriter:
    """Return a writer of redacted lessons and patterns."""
    writes = ("write", "write_pattern")
    return cast(KnowledgeWriter, _redacted(knowledge, KnowledgeWriter, scrub, writes=writes))


def redacted_nights(nights: Nights, scrub: Scrub) -> Nights:
    """Return nights that keep redacted reports."""
    return cast(Nights, _redacted(nights, Nights, scrub, writes=("keep", "finish")))


def redacted_tasks(tasks: TaskStore, scrub: Scrub) -> TaskStore:
    """Return task files that are redacted when they are read, and get redacted notes."""
    results = dict.fromkeys(("tasks", "read"), _values(scrub))
    arguments = {"append": lambda value: _any(value, scrub) if isinstance(value, Notes) else value}
    return proxied(tasks, TaskStore, arguments=arguments, results=results, guard=_guard(scrub))


def redacted_records(records: Records, scrub: Scrub) -> Records:
    """Return records that keep redacted texts; in JSON each text is redacted alone."""

    def put(key: str, text: str) -> None:
        try:
            text = json.dumps(_json(json.loads(text), scrub))
        except ValueError:
            text = scrub(text)
        records.put(key, text)

    return proxied(records, Records, replaced={"put": put})


def _json(value: Any, scrub: Scrub) -> Any:
    if isinstance(value, dict):
        return {name: _json(item, scrub) for name, item in value.items()}
    return [_json(item, scrub) for item in value] if isinstance(value, list) else _any(value, scrub)


# The second check, before everything that people read.

Before = Callable[[str, str], str | None]  # the text of a file at a commit


def checked_outbox(outbox: Outbox, check: SecondCheck, before: Before) -> Outbox:
    """Return an outbox that refuses proposals in which the second check finds a key.

    `before` reads the files that drafts change: only new lines count.
    """

    def publish(proposal: Proposal) -> Receipt:
        reason = check.refusal(dict(_texts(proposal, before)))
        if reason:
            return receipt_for(proposal, "refused", reason=reason)
        return outbox.publish(proposal)

    return proxied(outbox, Outbox, replaced={"publish": publish})


def _texts(proposal: Proposal, before: Before) -> Iterator[tuple[str, str]]:
    for name in ("title", "body", "commit_message", "branch"):
        if text := getattr(proposal, name, ""):
            yield f"the {proposal.kind}'s {name.replace('_', ' ')}", text
    if isinstance(proposal, PullUpdate | DraftPull):
        yield from _new_lines(proposal.commit, proposal.changes, "", before)
    if isinstance(proposal, DraftPull):
        for number, commit in enumerate(proposal.commits, 1):
            yield f"the message of commit {number}", commit.message
            where = f" in commit {number}"
            yield from _new_lines(proposal.commit, commit.changes, where, before)


def _new_lines(
    commit: str, changes: Iterable[FileChange], where: str, before: Before
) -> Iterator[tuple[str, str]]:
    for change in changes:
        old = before(commit, change.path) if change.text else None
        known = frozenset((old or "").splitlines())
        new = (line for line in (change.text or "").splitlines() if line not in known)
        yield f"the changed lines of {change.path}{where}", "\n".join(new)


def checked_knowledge(knowledge: KnowledgeWriter, check: SecondCheck) -> KnowledgeWriter:
    """Return a writer whose documents, which people commit, lack texts with a key."""

    def write(lesson: Lesson) -> str:
        withhold = partial(check.withhold, f"the lesson on {lesson.fingerprint}")
        return knowledge.write(scrubbed(lesson, withhold))

    def write_pattern(pattern: Pattern) -> str:
        withhold = partial(check.withhold, "a pattern")
        return knowledge.write_pattern(scrubbed(pattern, withhold))

    replaced: dict[str, Callable[..., str]] = {"write": write, "write_pattern": write_pattern}
    return proxied(knowledge, KnowledgeWriter, replaced=replaced)
