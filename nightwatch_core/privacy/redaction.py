"""Ports without secrets: what they give, what they are given and what they raise is redacted."""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote

from pydantic import BaseModel

from nightwatch_core import ports
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models import proposals
from nightwatch_core.models.batch import TriageItem
from nightwatch_core.models.code import Blame, ChangedFile, CommitDiff, LoggedCommit, SearchHit
from nightwatch_core.models.conversation import AssistantTurn, Conversation
from nightwatch_core.models.knowledge import Lesson, Pattern
from nightwatch_core.privacy.proxy import Transform, proxied
from nightwatch_core.privacy.rules import is_secret_file, refusal
from nightwatch_core.privacy.scrubber import SHORTEST, Scrub, Scrubber

P = TypeVar("P")
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


# The code: masked, and without secret files.


def redacted_host(host: ports.CodeHost, scrubber: Scrubber) -> ports.CodeHost:
    """Return a host whose readers show no secrets."""
    reader, pulls = partial(redacted_reader, scrubber=scrubber), _values(scrubber.scrub)
    results: dict[str, Transform] = {"reader": reader, "pulls_merged_since": pulls}
    return proxied(host, ports.CodeHost, results=results)


def redacted_reader(reader: ports.CodeReader, scrubber: Scrubber) -> ports.CodeReader:
    """Return a reader that masks secrets; files that hold only secrets are named, never shown."""
    redaction = _ReaderRedaction(reader, scrubber)
    methods = ("read_file", "search", "blame", "show_commit", "history", "compare")
    replaced = {name: getattr(redaction, name) for name in methods}
    return proxied(reader, ports.CodeReader, replaced=replaced)


class _ReaderRedaction:
    """Methods of a `CodeReader`, without secrets."""

    def __init__(self, reader: ports.CodeReader, scrubber: Scrubber) -> None:
        self._reader, self._scrubber = reader, scrubber

    def read_file(self, path: str) -> str | None:
        text = None if is_secret_file(path) else self._reader.read_file(path)
        return None if text is None else self._scrubber.scrub(text)

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        if is_secret_file(path):
            return ()
        hits = self._reader.search(query, path, limit)
        return tuple(
            hit.model_copy(update={"text": self._line(hit.path, hit.line, hit.text)})
            for hit in hits
            if not is_secret_file(hit.path)
        )

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        if is_secret_file(path):
            return ()
        rows = self._reader.blame(path, start, end)
        plain = (row for row in rows if not is_secret_file(row.path or path))
        texts = ((row, self._line(path, row.line, row.text)) for row in plain)
        masked = (row.model_copy(update={"text": text}) for row, text in texts)
        return tuple(scrubbed(row, self._scrubber.scrub) for row in masked)

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        shown = self._reader.show_commit(sha, path)
        if shown is None:
            return None
        files = self._changes(shown.files)
        return scrubbed(shown.model_copy(update={"files": files}), self._scrubber.scrub)

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        if text and is_secret_file(path):
            return ()
        rows = self._reader.history(path, text, limit)
        return tuple(scrubbed(row, self._scrubber.scrub) for row in rows)

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        return self._changes(self._reader.compare(old_sha, new_sha, path))

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


# What is read, published and kept, and what models are given.

REDACTED: Mapping[Any, tuple[tuple[str, ...], tuple[str, ...]]] = {
    ports.ErrorSource: (("error_groups", "traces"), ()),
    ports.FileSource: (("error_groups", "traces", "contents"), ()),
    ports.KnowledgeReader: (("index", "read", "archived", "archived_lesson", "read_patterns"), ()),
    ports.KnowledgeWriter: ((), ("write", "write_pattern")),
    ports.Nights: ((), ("keep", "finish")),
    ports.Notifier: ((), ("publish",)),
    ports.Sandbox: (("run",), ()),
    ports.TaskStore: (("tasks", "read"), ("append",)),
}
"""By port: the methods whose results are redacted, and those whose arguments are."""


def redacted(port: P, protocol: Any, scrub: Scrub) -> P:
    """Return a port that gives and gets no secrets; names of groups and files stay."""
    reads, writes = REDACTED[protocol]
    change, guard = _values(scrub), partial(redacted_errors, scrub)
    results, arguments = dict.fromkeys(reads, change), dict.fromkeys(writes, change)
    return proxied(port, protocol, results=results, arguments=arguments, guard=guard)


def redacted_model(port: P, protocol: Any, scrub: Scrub) -> P:
    """Return a `Model` or `BatchModel` that is sent redacted conversations."""
    methods = ("reply",) if protocol is ports.Model else ("intent", "submit")
    arguments = dict.fromkeys(methods, partial(_conversations, scrub))
    return proxied(port, protocol, arguments=arguments, guard=partial(redacted_errors, scrub))


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


def redacted_outbox(outbox: ports.Outbox, scrub: Scrub) -> ports.Outbox:
    """Return an outbox that publishes redacted texts; the files of a draft stay as they are."""

    def masked(proposal: proposals.Proposal) -> proposals.Proposal:
        new = scrubbed(proposal, scrub)
        if isinstance(proposal, proposals.PullUpdate):
            return new.model_copy(update={"changes": proposal.changes})
        if isinstance(proposal, proposals.DraftPull):
            commits = tuple(
                commit.model_copy(update={"message": scrub(commit.message)})
                for commit in proposal.commits
            )
            return new.model_copy(update={"changes": proposal.changes, "commits": commits})
        return new

    arguments, results = {"publish": masked}, {"publish": _values(scrub)}
    guard = partial(redacted_errors, scrub)
    return proxied(outbox, ports.Outbox, arguments=arguments, results=results, guard=guard)


def redacted_records(records: ports.Records, scrub: Scrub) -> ports.Records:
    """Return records that keep redacted texts; in JSON each text is redacted alone."""

    def put(key: str, text: str) -> None:
        try:
            text = json.dumps(_json(json.loads(text), scrub))
        except ValueError:
            text = scrub(text)
        records.put(key, text)

    return proxied(records, ports.Records, replaced={"put": put})


def _json(value: Any, scrub: Scrub) -> Any:
    if isinstance(value, dict):
        return {name: _json(item, scrub) for name, item in value.items()}
    return [_json(item, scrub) for item in value] if isinstance(value, list) else _any(value, scrub)


# The second check, before everything that people read. It finds our own keys by undoing encodings;
# the scrubber finds them the other way round, by writing each key in every encoding. A text with a
# key is withheld, not masked: it should never have come this far, and people must hear of it.

MOST_ALARMS = 20  # that are remembered
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){6,}")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\([\"\\/])")
_FOUND = "one of NightWatch's own keys"


class SecondCheck:
    """Finds our own keys in texts that were already scrubbed; safe for threads."""

    def __init__(self, own: Iterable[str] = ()) -> None:
        parts: set[str] = set()
        for key in map(str.strip, own):
            long_lines = (row for row in key.split("\n") if len(row) >= 40)
            parts.update((key, "".join(key.split()), *long_lines))
        self._own = frozenset(part for part in parts if len(part) >= SHORTEST)
        self._alarms: dict[str, None] = {}

    def found(self, text: str) -> bool:
        """Return True if the text holds one of our keys in any encoding.

        >>> check = SecondCheck(("s3cr3t/key",))
        >>> check.found("one\\nand s3cr3t%2Fkey"), check.found("secret/key")
        (True, False)
        """
        return any(own in view for own in self._own for view in _views(text))

    def refusal(self, texts: Mapping[str, str]) -> str:
        """Return why these texts, by the names of their places, must not be published; or ""."""
        for place, text in texts.items():
            if self.found(text):
                return self._remember(f"the second check found {_FOUND} in {place}")
        return ""

    def withhold(self, where: str, text: str) -> str:
        """Return the text, or a notice in its place if it holds a key."""
        if not self.found(text):
            return text
        return f"[{self._remember(f'withheld from {where}: it holds {_FOUND}')}]"

    def alarms(self) -> tuple[str, ...]:
        """Return the alarms since the last `reset`, each once."""
        return tuple(self._alarms)

    def reset(self) -> None:
        """Forget all alarms: a night begins."""
        self._alarms.clear()

    def _remember(self, alarm: str) -> str:
        if len(self._alarms) < MOST_ALARMS:
            self._alarms[alarm] = None
        return alarm


def _views(text: str) -> Iterator[str]:
    plain = _ESCAPE.sub(lambda item: item[2] or chr(int(item[1], 16)), text.replace("\\n", "\n"))
    yield from (text, text[::-1], plain, unquote(text), unquote(text.replace("+", " ")))
    dense = "".join(text.split())
    yield from (dense, dense[::-1])
    for run in _HEX.findall(text):
        digits = re.sub(r"[ :]", "", run)
        yield bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("utf-8", "replace")
    for run in _BASE64.findall(dense):
        standard = run.replace("-", "+").replace("_", "/")
        for start in range(4):
            whole = standard[start : start + (len(standard) - start) // 4 * 4]
            rest = standard[start + len(whole) :]
            padded = whole + (rest + "=" * (4 - len(rest)) if len(rest) > 1 else "")
            yield base64.b64decode(padded).decode("utf-8", "replace")


def checked_outbox(outbox: ports.Outbox, check: SecondCheck) -> ports.Outbox:
    """Return an outbox that refuses proposals in which the second check finds a key."""

    def publish(proposal: proposals.Proposal) -> proposals.Receipt:
        if reason := check.refusal(dict(_texts(proposal))):
            return proposals.receipt_for(proposal, "refused", reason=reason)
        return outbox.publish(proposal)

    return proxied(outbox, ports.Outbox, replaced={"publish": publish})


def _texts(proposal: proposals.Proposal) -> Iterator[tuple[str, str]]:
    for name in ("title", "body", "commit_message", "branch"):
        if text := getattr(proposal, name, ""):
            yield f"the {proposal.kind}'s {name.replace('_', ' ')}", text
    if isinstance(proposal, proposals.PullUpdate | proposals.DraftPull):
        for change in proposal.changes:
            yield change.path, change.text or ""
    if isinstance(proposal, proposals.DraftPull):
        for number, commit in enumerate(proposal.commits, 1):
            yield f"the message of commit {number}", commit.message
            for change in commit.changes:
                yield f"{change.path} in commit {number}", change.text or ""


def checked_knowledge(
    knowledge: ports.KnowledgeWriter, check: SecondCheck
) -> ports.KnowledgeWriter:
    """Return a writer whose documents, which people commit, lack texts with a key."""

    def write(lesson: Lesson) -> str:
        withhold = partial(check.withhold, f"the lesson on {lesson.fingerprint}")
        return knowledge.write(scrubbed(lesson, withhold))

    def write_pattern(pattern: Pattern) -> str:
        withhold = partial(check.withhold, "a pattern")
        return knowledge.write_pattern(scrubbed(pattern, withhold))

    replaced: dict[str, Callable[..., str]] = {"write": write, "write_pattern": write_pattern}
    return proxied(knowledge, ports.KnowledgeWriter, replaced=replaced)
