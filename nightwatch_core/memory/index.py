"""The index of a knowledge folder, and the names of its files.

index.yml is written for people: equal documents give equal bytes. Names of lessons end with the
fingerprint, so that few files have to be read.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from nightwatch_core.models.knowledge import Index, IndexEntry, Lesson, PatternEntry
from nightwatch_core.text.frontmatter import dumped

HEAD = "# Written by NightWatch from the documents; changes here are lost.\n"
_MOST_TAGS = 30
_ONLY_WHERE_SO = ("stale", "unknown")
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?:(?:::?|#| )[A-Za-z0-9_./][A-Za-z0-9_./-]*)*")
_SHORT = re.compile(r"_[0-9a-f]{8}(?:-[0-9]{1,5})?\.md\Z")
_USUAL = re.compile(r"_[0-9a-f]{8}\.md\Z")  # quicker to see


def entry_of(lesson: Lesson) -> IndexEntry:
    """Return a lesson's line in the index."""
    return IndexEntry(
        file=lesson.file,
        fingerprint=lesson.fingerprint,
        error_class=lesson.error_class,
        transaction=lesson.transaction,
        fix_confidence=lesson.fix_confidence,
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
    """Write the index as `dumped` would, which takes a millisecond an entry."""
    head = {
        "last_updated": index.last_updated.isoformat() if index.last_updated else None,
        "total_solutions": len(index.solutions),
        "total_patterns": len(index.patterns),
    }
    text = HEAD + dumped(head)
    for name, entries in (("solutions", index.solutions), ("patterns", index.patterns)):
        rows = "".join(map(_entry_text, entries))
        text += f"{name}:\n{rows}" if rows else f"{name}: []\n"
    return text


def _entry_text(entry: IndexEntry | PatternEntry) -> str:
    rows: list[str] = []
    for key, value in entry.model_dump(mode="json").items():
        if isinstance(value, list) and value:
            rows += [f"{key}:", *(f"- {_scalar(item)}" for item in value)]
        elif value or key not in _ONLY_WHERE_SO:
            rows.append(f"{key}: {_scalar(value)}")
    return "- " + "\n  ".join(rows) + "\n"


def _scalar(value: object) -> str:
    if isinstance(value, str):
        is_plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS and len(value) < 1_000
        return value if is_plain else _quoted(value)
    if value is None:
        return "null"
    return "[]" if isinstance(value, list) else str(value).lower()


@lru_cache(maxsize=4_096)
def _quoted(text: str) -> str:
    written = dumped({"a": text})[3:-1]
    return dumped([text], in_line=True)[1:-2] if "\n" in written else written


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


def candidates_for(names: Iterable[str], fingerprint: str) -> tuple[list[str], list[str]]:
    """Return the names that may hold a fingerprint by what they say, and those that say nothing.

    >>> ours = ["2030-05-01_keyerror_1a2b3c4d-2.md", "2030-05-01_keyerror_ffffffff.md"]
    >>> candidates_for([*ours, "by hand.md"], "v1:1a2b3c4d5e6f7a8b")
    (['2030-05-01_keyerror_1a2b3c4d-2.md'], ['by hand.md'])
    """
    short = short_name(fingerprint)
    alike, silent = [], []
    for name in names:
        if short in name:
            alike.append(name)
        elif not (_USUAL.match(name, len(name) - 12) or _SHORT.search(name)):
            silent.append(name)
    return alike, silent


def is_named_for(file: str, fingerprints: Iterable[str]) -> bool:
    """Tell whether a file's name ends with the short name of one of these fingerprints.

    >>> is_named_for("archive/2030-05-01_keyerror_1a2b3c4d.md", ["v1:ffff", "v1:1a2b3c4d5e6f7a8b"])
    True
    """
    shorts = "|".join(sorted({short_name(name) for name in fingerprints}))
    return bool(re.search(rf"_(?:{shorts})(?:-[0-9]{{1,5}})?\.md\Z", file))
