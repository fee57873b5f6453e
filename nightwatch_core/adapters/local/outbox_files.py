"""The Markdown files of all nights' outboxes: issues, comments and pull requests kept locally,
and read as people have left them."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.publish.markers import MOST_NAMES
from nightwatch_core.text import frontmatter

_NAME = re.compile(r"(issue|pull|comment)-(\d{4,9})-[a-z0-9-]*\.md")
_HEAD = 80_000  # bytes, more than front matter may be
_LARGEST = 4 * 1024 * 1024  # bytes of a file that is rewritten
_COUNTER = ".last-number"
_MOST_WORDS, _LONGEST_WORD = 20, 2_000
_STATES = ("open", "closed", "merged")


class Document(NamedTuple):
    """A file of an outbox: kind and number are in its name."""

    path: Path
    kind: str
    number: int

    def head(self) -> str:
        """The beginning of the file, front matter and more; raises `OSError`."""
        with self.path.open("rb") as file:
            return file.read(_HEAD).decode(errors="replace")

    def meta(self) -> dict[str, object]:
        """The front matter; raises `OSError`, or `GiveUp` where it cannot be read."""
        return frontmatter.read(self.head())[0]

    def parts(self) -> tuple[dict[str, object], str]:
        """Front matter and body; raises `OSError`, or `GiveUp` where they cannot be read."""
        with self.path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise GiveUp(f"{self.path.name} is larger than {_LARGEST} bytes")
        return frontmatter.read(content.decode(errors="replace"))


class OutboxFiles(NamedTuple):
    """The outboxes below `nights`; hold `lock` while writing."""

    nights: Path

    @property
    def lock(self) -> Path:
        """The file that writers lock."""
        return self.nights / ".outbox.lock"

    def documents(self) -> Iterator[Document]:
        """Every file of every night's outbox, by number; links are not followed."""
        names = ((path, _NAME.fullmatch(path.name)) for path in self.nights.glob("*/outbox/*.md"))
        every = (Document(path, name[1], int(name[2])) for path, name in names if name)
        yield from sorted(
            (one for one in every if one.path.is_file() and not one.path.is_symlink()),
            key=lambda document: (document.number, str(document.path)),
        )

    def keyed(self, key: str) -> Document | None:
        """The document of that key, also where a person has broken its front matter."""
        for document in self.documents():
            try:
                head = document.head()
            except OSError:
                continue
            if key in head and _names_key(head, key):
                return document
        return None

    def numbered(self, number: int) -> Document | None:
        """The issue or pull request of that number."""
        wanted = (d for d in self.documents() if d.number == number and d.kind != "comment")
        return next(wanted, None)

    def take_number(self) -> int:
        """A number that was never given before, also where files were deleted since."""
        counter = self.nights / _COUNTER
        try:
            last = int(counter.read_text().strip() or 0)
        except (OSError, ValueError):
            last = 0
        number = max(last, *(document.number for document in self.documents()), 0) + 1
        atomic_files.write(counter, f"{number}\n".encode())
        return number


def own_item(document: Document) -> tuple[OwnItem, Mapping[str, object]] | None:
    """An issue or pull request and its front matter; None for what is neither, or unreadable.

    Neither is a copy that somebody made: it has another name than it was given.
    """
    try:
        meta = document.meta() if document.kind != "comment" else {}
        if not meta.get("fingerprint") or str(meta.get("number")) != str(document.number):
            return None
        state = str(meta.get("state", "")).strip().lower()
        item = OwnItem(
            kind=document.kind,  # type: ignore[arg-type]  # checked by the model
            number=document.number,
            fingerprint=str(meta["fingerprint"]),
            also=_texts(meta.get("also"))[:MOST_NAMES],
            key=str(meta.get("key", "")),
            title=str(meta.get("title", "")),
            state=state if state in _STATES else "open",  # type: ignore[arg-type]
            state_reason=_reason(meta.get("state_reason")),
            url=str(document.path),
            branch=str(meta.get("branch", "")),
            as_patch=meta.get("as_patch") is True,
            fix=str(meta.get("fix") or ""),
            night=str(meta.get("night", "")),
            closed_at=_closed_at(document, meta) if state == "closed" else None,
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
    """The file name of an issue or pull request.

    >>> name("issue", 7, "Wrong total: ../../etc"), name("pull", 12345, "…")
    ('issue-0007-wrong-total-etc.md', 'pull-12345-untitled.md')
    """
    words = "".join(c.lower() if c.isascii() and c.isalnum() else " " for c in title[:500])
    slug = "-".join(words.split())[:50].strip("-")
    return f"{kind}-{number:04d}-{slug or 'untitled'}.md"


def comment_name(number: int, key: str) -> str:
    """The file name of a comment on issue `number`.

    >>> comment_name(7, "k")
    'comment-0007-8254c329a9.md'
    """
    digest = hashlib.sha256(key.encode(errors="replace")).hexdigest()
    return f"comment-{number:04d}-{digest[:10]}.md"


def _names_key(head: str, key: str) -> bool:
    try:
        return frontmatter.read(head)[0].get("key") == key
    except GiveUp:
        lines = head.split("\n---", 1)[0].splitlines()
        return any(line.startswith("key:") and key in line for line in lines)


def _closed_at(document: Document, meta: Mapping[str, object]) -> datetime:
    """When a person closed it: as said in `closed_at`, else when the file was last changed."""
    try:
        closed = datetime.fromisoformat(str(meta.get("closed_at", "")))
    except ValueError:
        return datetime.fromtimestamp(document.path.stat().st_mtime, UTC)
    return closed if closed.tzinfo else closed.replace(tzinfo=UTC)


def _reason(value: object) -> str:
    """A reason as people write it.

    >>> _reason("Not planned"), _reason(None)
    ('not_planned', '')
    """
    return "_".join(str(value or "").lower().replace("-", " ").split())


def _texts(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value] if value else []
    return tuple(str(each) for each in values)
