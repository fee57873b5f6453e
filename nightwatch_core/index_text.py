"""index.yml: the readable list of all documents. Equal documents give equal bytes."""

from collections.abc import Mapping

import yaml
from pydantic import ValidationError

from nightwatch_core.errors import GiveUp
from nightwatch_core.frontmatter import StrictLoader, dumped, why
from nightwatch_core.models.knowledge import Index, IndexEntry, Lesson, PatternEntry

HEAD = "# Written by NightWatch from the documents; changes here are lost.\n"
END = "# end\n"  # without it the file was cut
LONGEST = 8 * 1024 * 1024  # characters
_TAGS_IN_INDEX = 30


def index_text(index: Index) -> str:
    """Write the index."""
    meta: Mapping[str, object] = {
        "last_updated": index.last_updated.isoformat() if index.last_updated else None,
        "total_solutions": len(index.solutions),
        "total_patterns": len(index.patterns),
        "solutions": [entry.model_dump(mode="json") for entry in index.solutions],
        "patterns": [entry.model_dump(mode="json") for entry in index.patterns],
    }
    return HEAD + dumped(meta) + END


def index_of(text: str) -> Index:
    """Read an index; raises `GiveUp` where it is torn, or not one."""
    if len(text) > LONGEST:
        raise GiveUp("index: too long")
    if not text.endswith(END):
        raise GiveUp("index: torn")
    try:
        meta = yaml.load(text, StrictLoader)
        if not isinstance(meta, dict):
            raise GiveUp("index: not a mapping")
        counts = meta.pop("total_solutions", None), meta.pop("total_patterns", None)
        index = Index.model_validate(meta)
    except ValidationError:
        raise GiveUp("index: it does not hold what an index holds") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise GiveUp(f"index: {why(error)}") from error
    if counts != (len(index.solutions), len(index.patterns)):
        raise GiveUp("index: torn: it holds less than it says")
    return index


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
