"""The index of a knowledge folder, and the names of its files.

index.yml is written for people: equal documents give equal bytes. Names of lessons end with the
fingerprint, so that few files have to be read.
"""

import re
from collections.abc import Iterable

from nightwatch_core.models.knowledge import Index, IndexEntry, Lesson, PatternEntry
from nightwatch_core.text.frontmatter import dumped

HEAD = "# Written by NightWatch from the documents; changes here are lost.\n"
_MOST_TAGS = 30
_ONLY_WHERE_SO = ("stale", "unknown")


def entry_of(lesson: Lesson) -> IndexEntry:
    """Return a lesson's line in the index."""
    return IndexEntry(
        file=lesson.file,
        fingerprint=lesson.fingerprint,
        error_class=lesson.error_class,
        transaction=lesson.transaction,
        confidence=lesson.confidence,
        fix_confidence=lesson.fix_confidence or "",
        has_fix=lesson.has_fix,
        tags=lesson.tags[:_MOST_TAGS],
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
    """Build the index of these documents, sorted by file; its date is the newest sighting."""
    return Index(
        last_updated=max((entry.last_seen for entry in solutions if entry.last_seen), default=None),
        solutions=tuple(sorted(solutions, key=lambda entry: entry.file)),
        patterns=tuple(sorted(patterns, key=lambda entry: entry.file)),
        quarantined=quarantined,
    )


def index_text(index: Index) -> str:
    """Write the index as YAML."""
    head = {
        "last_updated": index.last_updated.isoformat() if index.last_updated else None,
        "total_solutions": len(index.solutions),
        "total_patterns": len(index.patterns),
    }
    solutions, patterns = map(_row, index.solutions), map(_row, index.patterns)
    return HEAD + dumped(head | {"solutions": list(solutions), "patterns": list(patterns)})


def _row(entry: IndexEntry | PatternEntry) -> dict[str, object]:
    values = entry.model_dump(mode="json")
    return {key: value for key, value in values.items() if value or key not in _ONLY_WHERE_SO}


def file_name(lesson: Lesson) -> str:
    """Return the path of a lesson's document below the knowledge folder.

    >>> from datetime import date
    >>> file_name(Lesson(fingerprint="v1:1a2b3c4d5e", error_class="KeyError", root_cause="",
    ...                  transaction="Orders#show", first_detected=date(2030, 5, 1)))
    'errors/2030-05-01_keyerror-orders-show_1a2b3c4d.md'
    """
    text = f"{lesson.error_class}-{lesson.transaction}"[:1_000].lower()
    about = re.sub(r"[^a-z0-9]+", "-", text).strip("-")[:60].strip("-") or "error"
    return f"errors/{lesson.first_detected}_{about}_{short_name(lesson.fingerprint)}.md"


def short_name(fingerprint: str) -> str:
    """Return the end of a file name: at most 8 characters of the fingerprint.

    >>> short_name("v1:1A2b3c4d5e"), short_name("v1:\u65e5")
    ('1a2b3c4d', '0')
    """
    return re.sub("[^0-9a-z]", "", fingerprint.rpartition(":")[2].lower())[:8] or "0"


def is_named_for(file: str, fingerprints: Iterable[str]) -> bool:
    """Tell whether a file's name ends with the short name of one of these fingerprints.

    >>> is_named_for("archive/2030-05-01_keyerror_1a2b3c4d.md", ["v1:ffff", "v1:1a2b3c4d5e6f7a8b"])
    True
    """
    shorts = "|".join(sorted({short_name(name) for name in fingerprints}))
    return bool(re.search(rf"_(?:{shorts})(?:-[0-9]{{1,5}})?\.md\Z", file))
