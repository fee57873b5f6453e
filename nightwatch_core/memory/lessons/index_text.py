"""index.yml: the readable list of all documents. Equal documents give equal bytes."""

import hashlib
import re
from collections.abc import Mapping

import yaml
from pydantic import ValidationError

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.lessons.index_lines import entries_in, rendered
from nightwatch_core.models.knowledge import Index, IndexEntry, Lesson, PatternEntry
from nightwatch_core.text.frontmatter import StrictLoader, dumped, why

HEAD = "# Written by NightWatch from the documents; changes here are lost.\n"
END = "# end "  # and a digest of all before it: without them the file was cut, or changed
LONGEST = 64 * 1024 * 1024  # characters
_LONGEST_OTHER = 8 * 1024 * 1024  # of an index that was not written here
_TAGS_IN_INDEX = 30
_LAYOUT = re.compile(  # of what `index_text` writes
    r"(?P<head>.{0,1000}?)^solutions:(?: \[\])?\n(?P<solutions>.*?)"
    r"^patterns:(?: \[\])?\n(?P<patterns>.*)",
    re.DOTALL | re.MULTILINE,
)


def index_text(index: Index) -> str:
    """Write the index."""
    head: Mapping[str, object] = {
        "last_updated": index.last_updated.isoformat() if index.last_updated else None,
        "total_solutions": len(index.solutions),
        "total_patterns": len(index.patterns),
    }
    lists = {"solutions": _dumped(index.solutions), "patterns": _dumped(index.patterns)}
    body = "".join(
        f"{name}:\n{rendered(entries)}" if entries else f"{name}: []\n"
        for name, entries in lists.items()
    )
    text = HEAD + dumped(head) + body
    return f"{text}{END}{_digest(text)}\n"


def _dumped(entries: tuple[IndexEntry, ...] | tuple[PatternEntry, ...]) -> list[dict[str, object]]:
    """What each says; that a lesson is stale only where it is."""
    dumps = (entry.model_dump(mode="json") for entry in entries)
    return [{k: v for k, v in one.items() if k != "stale" or v} for one in dumps]


def index_of(text: str) -> Index:
    """Read an index; raises `GiveUp` where it is torn, or not one."""
    if len(text) > LONGEST:
        raise GiveUp("index: too long")
    text, _, end = text.rpartition(END)
    if end != f"{_digest(text)}\n":
        raise GiveUp("index: torn, or changed by hand")
    try:
        meta = _mapping(text)
        counts = meta.pop("total_solutions", None), meta.pop("total_patterns", None)
        index = Index.model_validate(meta)
    except ValidationError:
        raise GiveUp("index: it does not hold what an index holds") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise GiveUp(f"index: {why(error)}") from error
    if counts != (len(index.solutions), len(index.patterns)):
        raise GiveUp("index: torn: it holds less than it says")
    return index


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _mapping(text: str) -> dict[str, object]:
    """Each list entry by entry where the layout is ours, which is a hundred times quicker."""
    found = _LAYOUT.fullmatch(text)
    if found is None and len(text) > _LONGEST_OTHER:
        raise GiveUp("index: too long")
    meta = yaml.load(found["head"] if found else text, StrictLoader)
    if not isinstance(meta, dict):
        raise GiveUp("index: not a mapping")
    lists = ("solutions", "patterns") if found else ()
    return {**meta, **{name: entries_in(found[name]) for name in lists if found}}


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
