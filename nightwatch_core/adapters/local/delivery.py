"""Delivery without a service: issues and pull requests as files, branches in the local git."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from nightwatch_core.adapters.git.branch import Refused, mailed, make_branch, patch
from nightwatch_core.adapters.git.checkout import LOCAL, Checkout, heads_of
from nightwatch_core.adapters.git.command import Git, is_sha, read_time
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.documents import text_of
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models import proposals
from nightwatch_core.models.code import CiRun, OtherPull
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.text import frontmatter
from nightwatch_core.text.markers import MOST_NAMES, joined_body, read_marker

# The state of drafts: a base holds the commit (merged, fast-forwarded), a commit with the same
# change (squashed, rebased, picked), or the branch after people changed that.

_PATIENCE = 20.0  # seconds for one question; a history that takes longer tells nothing


class DraftState(NamedTuple):
    """State of a draft; `merged_at` is None where git does not know it."""

    state: Literal["open", "closed", "merged"]
    merged_at: datetime | None = None
    edited: bool = False


def draft_state(
    checkout: Checkout, item: proposals.OwnItem, meta: Mapping[str, object], heads: dict[str, str]
) -> DraftState | None:
    """Return the state of a draft, given the `heads` of branches; None for another repository's."""
    git, base, made_on = checkout.git, str(meta.get("base", "")), str(meta.get("made_on", ""))
    if is_sha(made_on) and git.attempt("cat-file", "-e", f"{made_on}^{{commit}}").code:
        return None
    commit, tips = str(meta.get("commit", "")), heads_of(heads, item.branch)
    try:
        for head in heads_of(heads, base) if base else (checkout.base()[1],):
            if state := _merged(git, commit, tips, head) if is_sha(commit) else None:
                return state
            for tip in tips if is_sha(made_on) else ():  # people may have made it anew
                if _is_below(git, tip, head) and not _is_below(git, tip, made_on):
                    return DraftState("merged", _merged_at(git, tip, head), edited=True)
    except TryLater:
        return DraftState(item.state)
    is_there = item.as_patch or f"{LOCAL}{item.branch}" in heads
    return DraftState(item.state if is_there or item.state == "merged" else "closed")


def _merged(git: Git, commit: str, tips: tuple[str, ...], head: str) -> DraftState | None:
    if _is_below(git, commit, head):
        line = ("rev-list", "--no-merges", "--first-parent")
        merged = (tip for tip in tips if _is_below(git, tip, head))
        edited = any(_git_lines(git, *line, f"{commit}..{tip}") for tip in merged)
        return DraftState("merged", _merged_at(git, commit, head), edited)
    paths = _git_lines(git, "diff-tree", "--no-commit-id", "--name-only", "-r", commit)
    same = _git_lines(
        *(git, "rev-list", "--cherry-mark", "--no-merges", "--reverse", "--timestamp"),
        *(f"{head}...{commit}", f"^{commit}^", "--", *(f":(literal){path}" for path in paths)),
    )
    copies = (row.split() for row in same)
    for at, mark in copies:
        if mark.startswith("=") and mark[1:] != commit:
            return DraftState("merged", _merged_at(git, mark[1:], head) or read_time(at))
    return None


def _merged_at(git: Git, commit: str, head: str) -> datetime | None:
    """The date of the merge that brought a commit; None where the branch's own line holds it."""
    above = {*_git_lines(git, "rev-list", "--ancestry-path", f"{commit}..{head}")}
    line = ("log", "--first-parent", "--reverse", "--format=%H %ct %P", f"{commit}..{head}")
    for row in _git_lines(git, *line):
        sha, at, *parents = row.split()
        if sha in above:
            return read_time(at) if parents[0] != commit else None
    return None


def _is_below(git: Git, commit: str, head: str) -> bool:
    return not git.attempt("merge-base", "--is-ancestor", commit, head).code


def _git_lines(git: Git, *arguments: str) -> list[str]:
    answer = git.attempt(*arguments, timeout=_PATIENCE)
    return [] if answer.code else answer.output.decode(errors="replace").split("\n")[:-1]


# Markdown files of all nights, as people have left them.

_NAME = re.compile(r"(issue|pull|comment)-(\d{4,9})-[a-z0-9-]*\.md")
_LARGEST = 4 * 1024 * 1024  # bytes of a file
_COUNTER = ".last-number"
_MOST_WORDS, _LONGEST_WORD = 20, 2_000
_STATES = ("open", "closed", "merged")


class Document(NamedTuple):
    """A file of an outbox: kind and number are in its name."""

    path: Path
    kind: str
    number: int

    def parts(self) -> tuple[dict[str, object], str]:
        """Return front matter and body; raises `OSError`, or `GiveUp` where they are invalid."""
        text = self.text()
        if len(text) >= _LARGEST:
            raise GiveUp(f"{self.path.name} is larger than {_LARGEST} bytes")
        return frontmatter.read(text)

    def text(self) -> str:
        with self.path.open("rb") as file:
            return file.read(_LARGEST).decode(errors="replace")


class OutboxFiles(NamedTuple):
    """The outboxes below `nights`; hold `lock` while writing."""

    nights: Path

    @property
    def lock(self) -> Path:
        return self.nights / ".outbox.lock"

    def documents(self) -> Iterator[Document]:
        """Yield every file of every night's outbox, by number; links are not followed."""
        names = ((path, _NAME.fullmatch(path.name)) for path in self.nights.glob("*/outbox/*.md"))
        every = (Document(path, name[1], int(name[2])) for path, name in names if name)
        yield from sorted(
            (item for item in every if item.path.is_file() and not item.path.is_symlink()),
            key=lambda document: (document.number, str(document.path)),
        )

    def keyed(self, key: str) -> Document | None:
        """Return the document of that key, even where its front matter is broken."""
        for document in self.documents():
            with suppress(OSError):
                head = document.text().split("\n---", 1)[0]
                keys = (row.partition(":")[2] for row in head.splitlines() if row[:4] == "key:")
                if any(item.strip(" '\"") == key for item in keys):
                    return document
        return None

    def numbered(self, number: int) -> Document | None:
        """Return the issue or pull request of that number."""
        named = (d for d in self.documents() if d.number == number and d.kind != "comment")
        return next(named, None)

    def take_number(self) -> int:
        """Return a number that was never given before, even to a deleted file."""
        counter = self.nights / _COUNTER
        try:
            last = int(counter.read_text().strip() or 0)
        except (OSError, ValueError):
            last = 0
        number = max(last, *(document.number for document in self.documents()), 0) + 1
        atomic_files.write(counter, f"{number}\n".encode())
        return number


def own_item(document: Document) -> tuple[proposals.OwnItem, Mapping[str, object]] | None:
    """Return an issue or pull request and its front matter; None for copies and broken files."""
    try:
        meta = document.parts()[0] if document.kind != "comment" else {}
        if not meta.get("fingerprint") or str(meta.get("number")) != str(document.number):
            return None
        state = str(meta.get("state", "")).strip().lower()
        item = proposals.OwnItem(
            kind=document.kind,  # type: ignore[arg-type]  # checked by the model
            number=document.number,
            fingerprint=str(meta["fingerprint"]),
            also=_texts(meta.get("also"))[:MOST_NAMES],
            key=str(meta.get("key", "")),
            title=str(meta.get("title", "")),
            state=state if state in _STATES else "open",  # type: ignore[arg-type]
            state_reason="_".join(re.split(r"[\s-]+", str(meta.get("state_reason") or "").lower())),
            url=str(document.path),
            branch=str(meta.get("branch", "")),
            as_patch=meta.get("as_patch") is True,
            fix=str(meta.get("fix") or ""),
            night=str(meta.get("night", "")),
            closed_at=_closed_at(document, meta) if state == "closed" else None,
            closed_by=str(meta.get("closed_by") or "") if state == "closed" else "",
            labels=_texts(meta.get("labels")),
            words=tuple(word[:_LONGEST_WORD] for word in _texts(meta.get("words"))[:_MOST_WORDS]),
        )
    except (OSError, GiveUp, ValidationError):
        return None
    return item, meta


def write(path: Path, meta: Mapping[str, object], body: str) -> None:
    """Write or replace a document; raises `OSError`."""
    text = frontmatter.render(meta, body if body.endswith("\n") else f"{body}\n")
    atomic_files.write(path, text.encode(errors="replace"))


def name(kind: str, number: int, title: str) -> str:
    """Return the file name of an issue or pull request.

    >>> name("issue", 7, "Wrong total: ../../etc")
    'issue-0007-wrong-total-etc.md'
    """
    words = "".join(c.lower() if c.isascii() and c.isalnum() else " " for c in title[:500])
    slug = "-".join(words.split())[:50].strip("-")
    return f"{kind}-{number:04d}-{slug or 'untitled'}.md"


def _closed_at(document: Document, meta: Mapping[str, object]) -> datetime:
    try:
        closed = datetime.fromisoformat(str(meta.get("closed_at", "")))
    except ValueError:
        return datetime.fromtimestamp(document.path.stat().st_mtime, UTC)
    return closed if closed.tzinfo else closed.replace(tzinfo=UTC)


def _texts(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value] if value else []
    return tuple(str(value) for value in values)


_OnIssue = proposals.Comment | proposals.Reopen | proposals.Close | proposals.Answer
_LOCK_SECONDS = 60.0  # seconds until another publisher has to be done


@dataclass(eq=False)
class LocalDelivery:
    """`Outbox` and `Tracker` in one: Markdown files below `nights/<night>/outbox/`.

    In the front matter people set `state`, `state_reason`, and `words` for us.
    """

    nights: Path
    night: str
    checkout: Checkout | None  # None: there are no drafts
    clock: Clock
    scrub: Callable[[str], str] = REMOVAL.scrub  # of patches

    @property
    def _files(self) -> OutboxFiles:
        return OutboxFiles(self.nights)

    def publish(self, proposal: proposals.Proposal) -> proposals.Receipt:
        """Raises `TryLater` while another process publishes, `GiveUp` for unwritable files."""
        try:
            with atomic_files.only_writer(self._files.lock, _LOCK_SECONDS, str(self._files.nights)):
                return self._published(proposal)
        except Refused as refused:
            return proposals.receipt_for(proposal, "refused", reason=str(refused))

    def own_items(self) -> tuple[proposals.OwnItem, ...]:
        """Return the issues and pull requests of all nights about this repository, by number."""
        pulls: list[tuple[proposals.OwnItem, Mapping[str, object]]] = []
        items: list[proposals.OwnItem] = []
        for document in self._files.documents():
            read = own_item(document)
            if read and read[0].kind == "pull":
                pulls.append(read)
            elif read:
                items.append(read[0])
        heads = self.checkout.heads() if pulls and self.checkout else {}
        for item, meta in pulls:
            if self.checkout:
                now = draft_state(self.checkout, item, meta, heads)
                if now is None:
                    continue
                item = item.model_copy(update=now._asdict())
            items.append(item)
        return tuple(sorted(items, key=lambda item: item.number))

    def ci(self, numbers: tuple[int, ...]) -> tuple[CiRun, ...]:
        return tuple(CiRun(state="none") for _ in numbers)

    def pulls_changing(self, paths: tuple[str, ...], since: datetime) -> tuple[OtherPull, ...]:
        return ()

    def probe(self) -> str:
        """Say where issues go, and how many there are; raises `GiveUp` where none can go."""
        places = (self._files.nights, *self._files.nights.parents)
        folder = next(place for place in places if place.exists())
        if not os.access(folder, os.W_OK):
            raise GiveUp(f"{folder} cannot be written: change NIGHTWATCH_STATE or its rights")
        drafts = "" if self.checkout else "; no drafts without --repo"
        return f"files below {self._files.nights}: {len(self.own_items())} own items{drafts}"

    def _published(self, proposal: proposals.Proposal) -> proposals.Receipt:
        if not proposal.key.strip():
            raise Refused("the proposal has no key")
        if item := self._files.keyed(proposal.key):
            return proposals.receipt_for(proposal, "already there", item.number, str(item.path))
        match proposal:
            case proposals.OpenIssue():
                return self._open_issue(proposal)
            case proposals.DraftPull():
                return self._draft_pull(proposal)
            case proposals.Close(closes=True):
                now = self.clock.now().isoformat()
                closed = {"state": "closed", "state_reason": "completed", "closed_at": now}
                return self._comment_with_state(proposal, closed)
            case proposals.Comment() | proposals.Close() | proposals.Answer():
                return self._comment(proposal)
            case proposals.Reopen():
                opened = {"state": "open", "state_reason": "reopened", "closed_at": ""}
                return self._comment_with_state(proposal, opened)
            case proposals.PullUpdate():
                raise Refused("no CI runs on local branches")

    def _open_issue(self, issue: proposals.OpenIssue) -> proposals.Receipt:
        number = self._files.take_number()
        path = self._place(name("issue", number, issue.title))
        write(path, self._meta(issue, number), issue.body)
        return proposals.receipt_for(issue, "done", number, str(path))

    def _draft_pull(self, pull: proposals.DraftPull) -> proposals.Receipt:
        """Branch first, then the patch, the document last: it holds the key, so it says "done"."""
        if self.checkout is None:
            raise Refused("a local draft needs a checkout: set --repo")
        made = make_branch(self.checkout, pull, self.clock.now())
        number = self._files.take_number()
        path = self._place(name("pull", number, pull.title))
        shown = self._shown(pull, made.sha).encode("utf-8", "surrogateescape")
        atomic_files.write(path.with_suffix(".patch"), shown)
        places: dict[str, object] = {"branch": pull.branch, "base": pull.base, "commit": made.sha}
        places |= {"made_on": pull.commit}
        places |= {"as_patch": True, "fix": pull.fix} if pull.as_patch else {}
        write(path, {**self._meta(pull, number), **places}, pull.body)
        status: proposals.PublishStatus = "done" if made.is_new else "already there"
        return proposals.receipt_for(pull, status, number, str(path))

    def _shown(self, pull: proposals.DraftPull, commit: str) -> str:
        assert self.checkout is not None
        git, commits = self.checkout.git, len(pull.commits) or 1
        if pull.as_patch:
            return mailed(git, commit, self.scrub, commits)
        text = patch(git, commit, commits=commits).decode("utf-8", "surrogateescape")
        return self.scrub(text)

    def _comment(self, comment: _OnIssue) -> proposals.Receipt:
        item = self._files.numbered(comment.number)
        if item is None:
            raise Refused(f"there is no issue {comment.number}")
        self._join(item, comment)
        meta = {
            **{"kind": comment.kind, "issue": comment.number, "key": comment.key},
            **{"fingerprint": comment.fingerprint, "night": self.night},
        }
        digest = hashlib.sha256(comment.key.encode(errors="replace")).hexdigest()
        path = self._place(f"comment-{comment.number:04d}-{digest[:10]}.md")
        write(path, meta, comment.body)
        return proposals.receipt_for(comment, "done", comment.number, str(path))

    def _comment_with_state(
        self, comment: proposals.Reopen | proposals.Close, state: Mapping[str, str]
    ) -> proposals.Receipt:
        """The issue first, the comment last: doing the first twice does no harm."""
        issue = self._files.numbered(comment.number)
        if issue is None or issue.kind != "issue":
            raise Refused(f"there is no issue {comment.number}")
        try:
            meta, body = issue.parts()
        except GiveUp as error:
            raise Refused(f"{issue.path.name} cannot be read: {error}") from error
        write(issue.path, {**meta, **state}, body)
        return self._comment(comment)

    def _join(self, item: Document, comment: _OnIssue) -> None:
        if not comment.also:
            return
        try:
            meta, body = item.parts()
        except GiveUp as error:
            raise Refused(f"{item.path.name} cannot be read: {error}") from error
        text = joined_body(body, (comment.fingerprint, *comment.also))
        if named := read_marker(text):
            write(item.path, {**meta, "also": [*named.also]}, text)

    def _place(self, name: str) -> Path:
        return self._files.nights / self.night / "outbox" / name

    def _meta(
        self, proposal: proposals.OpenIssue | proposals.DraftPull, number: int
    ) -> dict[str, object]:
        return {
            "kind": proposal.kind,
            "number": number,
            "key": proposal.key,
            "fingerprint": proposal.fingerprint,
            **({"also": [*proposal.also]} if proposal.also else {}),
            "title": proposal.title,
            "state": "open",
            "state_reason": "",
            "words": [],
            "labels": list(proposal.labels),
            "night": self.night,
        }


# Files at the top of a checkout's working tree: links are not followed, git is not asked.


class WorkingCopy:
    """The working tree that `folder` is in."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def top(self) -> Path:
        """Return the tree's top folder; raises `StopTheNight` where there is no checkout."""
        folder = self._folder.resolve()
        tops = (place for place in (folder, *folder.parents) if (place / ".git").exists())
        if top := next(tops, None):
            return top
        raise StopTheNight(f"{self._folder} is in no git checkout: name one with --repo")

    def read(self, name: str) -> str | None:
        """Return the text of a file, None where there is none; raises `GiveUp` if it is no text."""
        path = self._path(name)
        try:
            return text_of(path) if path.exists() else None
        except GiveUp as wrong:
            raise GiveUp(f"{path}: {wrong}") from None
        except OSError as error:
            raise GiveUp(f"{path} cannot be read: {error.strerror}") from error

    def write(self, name: str, text: str, before: str | None) -> str:
        """Replace the file and return its path; raises `GiveUp` where it changed since `before`."""
        path = self._path(name)
        if self.read(name) != before:
            raise GiveUp(f"{path} has changed meanwhile: try again")
        try:
            atomic_files.rewrite(path, text.encode())
        except OSError as error:
            raise GiveUp(f"{path} cannot be written: {error.strerror}") from error
        return str(path)

    def _path(self, name: str) -> Path:
        if Path(name).name != name or name in ("", ".", ".."):
            raise GiveUp(f"{name[:80]!r} is no file at the top of a checkout")
        path = self.top / name
        if path.is_symlink():
            raise GiveUp(f"{path} is a link: name the checkout its target is in, or edit that")
        return path


class QuietCopy(WorkingCopy):
    """A working tree that nothing is written into: a dry run's."""

    def write(self, name: str, text: str, before: str | None) -> str:
        """Leave the file as it is; returns no path."""
        return ""
