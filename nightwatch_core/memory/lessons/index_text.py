"""index.yml: the list of all documents, written for people. Equal documents give equal bytes."""

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache

from nightwatch_core.models.knowledge import Index, IndexEntry, Lesson, PatternEntry
from nightwatch_core.text.frontmatter import dumped

HEAD = "# Written by NightWatch from the documents; changes here are lost.\n"
END = "# end "  # and a digest of all before it: earlier versions believe no other index
_TAGS_IN_INDEX = 30
_ONLY_WHERE_SO = ("stale", "unknown")
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?:(?:::?|#| )[A-Za-z0-9_./][A-Za-z0-9_./-]*)*")


def index_text(index: Index) -> str:
    """Write the index; as `dumped` would, but that takes a millisecond an entry."""
    head: Mapping[str, object] = {
        "last_updated": index.last_updated.isoformat() if index.last_updated else None,
        "total_solutions": len(index.solutions),
        "total_patterns": len(index.patterns),
    }
    text = HEAD + dumped(head)
    for name, entries in (("solutions", index.solutions), ("patterns", index.patterns)):
        rows = [_entry_text(entry) for entry in entries]
        text += f"{name}:\n{''.join(rows)}" if rows else f"{name}: []\n"
    return f"{text}{END}{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}\n"


def _entry_text(entry: IndexEntry | PatternEntry) -> str:
    """One document's lines; that a lesson is stale, or knows no cause, only where it is so."""
    rows: list[str] = []
    for key, value in entry.model_dump(mode="json").items():
        if isinstance(value, list) and value:
            rows += [f"{key}:", *(f"- {_scalar(one)}" for one in value)]
        elif value or key not in _ONLY_WHERE_SO:
            rows.append(f"{key}: {_scalar(value)}")
    return "- " + "\n  ".join(rows) + "\n"


def _scalar(value: object) -> str:
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if plain and len(value) < 1_000 else _quoted(value)
    if value is None:
        return "null"
    return "[]" if isinstance(value, list) else str(value).lower()


@lru_cache(maxsize=4_096)
def _quoted(text: str) -> str:
    written = dumped({"a": text})[3:-1]
    return dumped([text], in_line=True)[1:-2] if "\n" in written else written


def entry_of(lesson: Lesson) -> IndexEntry:
    """A lesson's line in the index."""
    return IndexEntry(
        file=lesson.file,
        fingerprint=lesson.fingerprint,
        error_class=lesson.error_class,
        transaction=lesson.transaction,
        fix_confidence=lesson.fix_confidence,
        has_fix=lesson.has_fix,
        tags=lesson.tags[:_TAGS_IN_INDEX],
        aliases=lesson.aliases,
        last_seen=max((seen.date for seen in lesson.nights), default=lesson.first_detected),
        stale=bool(lesson.stale),
        unknown=not lesson.has_cause,
    )


def index_over(
    solutions: tuple[IndexEntry, ...],
    patterns: tuple[PatternEntry, ...],
    quarantined: tuple[str, ...] = (),
) -> Index:
    """The index of these documents, sorted by file; its date is the newest sighting."""
    return Index(
        last_updated=max((one.last_seen for one in solutions if one.last_seen), default=None),
        solutions=tuple(sorted(solutions, key=lambda entry: entry.file)),
        patterns=tuple(sorted(patterns, key=lambda entry: entry.file)),
        quarantined=quarantined,
    )
