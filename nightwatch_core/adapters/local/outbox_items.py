"""Issues and pull requests of ours, as people have left their files."""

from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import ValidationError

from nightwatch_core.adapters.local.outbox_files import Document
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposal import OwnItem

_MOST_WORDS, _LONGEST_WORD = 20, 2_000
_STATES = ("open", "closed", "merged")


def own_item(document: Document) -> tuple[OwnItem, Mapping[str, object]] | None:
    """An issue or pull request and its front matter; None for what is neither, or unreadable."""
    try:
        meta = document.meta() if document.kind != "comment" else {}
        if not meta.get("fingerprint"):
            return None
        state = str(meta.get("state", "")).strip().lower()
        item = OwnItem(
            kind=document.kind,  # type: ignore[arg-type]  # checked by the model
            number=document.number,
            fingerprint=str(meta["fingerprint"]),
            key=str(meta.get("key", "")),
            title=str(meta.get("title", "")),
            state=state if state in _STATES else "open",  # type: ignore[arg-type]
            state_reason=_reason(meta.get("state_reason")),
            url=str(document.path),
            branch=str(meta.get("branch", "")),
            night=str(meta.get("night", "")),
            closed_at=_closed_at(document, meta) if state == "closed" else None,
            labels=_texts(meta.get("labels")),
            words=tuple(word[:_LONGEST_WORD] for word in _texts(meta.get("words"))[:_MOST_WORDS]),
        )
    except (OSError, GiveUp, ValidationError):
        return None
    return item, meta


def _closed_at(document: Document, meta: Mapping[str, object]) -> datetime:
    """When a person closed it: as said in `closed_at`, else when the file was last changed."""
    try:
        said = datetime.fromisoformat(str(meta.get("closed_at", "")))
    except ValueError:
        return datetime.fromtimestamp(document.path.stat().st_mtime, UTC)
    return said if said.tzinfo else said.replace(tzinfo=UTC)


def _reason(value: object) -> str:
    """A reason as people write it.

    >>> _reason("Not planned"), _reason(None)
    ('not_planned', '')
    """
    return "_".join(str(value or "").lower().replace("-", " ").split())


def _texts(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value] if value else []
    return tuple(str(each) for each in values)
