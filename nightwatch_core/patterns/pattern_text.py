"""A pattern as a Markdown document, and back; what people write under "## Notes" is kept.

Documents come from people, too: those need no front matter, and hold what they hold. But what a
document says in front matter must be what a pattern holds, or its reader is told what is wrong.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import get_args

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.knowledge import PatternEntry
from nightwatch_core.models.pattern import Pattern, PatternType
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import block, code_span, line, markdown

NOTES = "\n## Notes\n"
_MOST_LISTED, _MOST_NIGHTS, _MOST_REASONS = 50, 60, 10
_LONGEST_TEXT, _LONGEST_NOTES = 2_000, 1_000
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def pattern_document(pattern: Pattern, before: str = "") -> str:
    """The pattern's document; `before` is the one it replaces, whose notes are taken over."""
    parts = (
        f"# {markdown(pattern.title, 120)}",
        markdown(pattern.description, _LONGEST_TEXT),
        f"**Suggestion:** {markdown(pattern.suggestion, _LONGEST_TEXT)}"
        if pattern.suggestion
        else "",
        _reasons(pattern.because),
        _listed("Error Classes", pattern.error_classes),
        _listed("Places", pattern.modules),
        _found(pattern.nights),
    )
    body = "\n\n".join(part for part in parts if part)
    _, found, notes = before.partition(NOTES)
    kept = f"\n{NOTES}{notes.rstrip()}\n" if found else "\n"
    return frontmatter.render(_meta(pattern), f"\n{body}{kept}")


def pattern_of(text: str, file: str) -> Pattern:
    """Read a pattern's document; `file` is its path below the knowledge folder.

    A document written by people is a systemic issue of its title, or its file's name, with its text
    as description; notes under "## Notes" are a part of the description either way. Raises `GiveUp`
    with the reason where front matter is broken, or holds what no pattern holds.

    >>> found = pattern_of("Ask the vendor first.\\n", "patterns/slow-rates.md")
    >>> found.title, found.description, found.pattern_type
    ('slow-rates', 'Ask the vendor first.', 'systemic_issue')
    """
    meta, body = frontmatter.read(text)
    told, _, notes = f"\n{body}".partition(NOTES)
    written = _text(meta, "description", _LONGEST_TEXT) or block(told.strip(), _LONGEST_TEXT)
    noted = block(notes.strip(), _LONGEST_NOTES)
    stem = file.rpartition("/")[2].removesuffix(".md")
    return Pattern(
        title=_title(meta) or line(stem, 200),
        description=f"{written}\n\nNotes: {noted}".strip() if noted else written,
        pattern_type=_type(meta),
        error_classes=_texts(meta, "error_classes", 200),
        modules=_texts(meta, "modules", 300),
        occurrences=_count(meta),
        suggestion=_text(meta, "suggestion", _LONGEST_TEXT),
        fingerprints=_texts(meta, "fingerprints", 100),
        tags=_texts(meta, "tags", 100),
        rule=_text(meta, "rule", 60),
        because=_texts(meta, "because", 200),
        nights=_nights(meta),
    )


def pattern_entry(text: str, file: str) -> PatternEntry:
    """A pattern document's line in the index; raises `GiveUp` where its front matter is wrong.

    >>> pattern_entry("---\\noccurrences: 3\\n---\\n", "patterns/slow.md")
    PatternEntry(file='patterns/slow.md', title='slow', occurrences=3, modules=(), tags=())
    """
    found = pattern_of(text, file)
    return PatternEntry(
        file=file,
        title=found.title,
        occurrences=found.occurrences,
        modules=found.modules,
        tags=found.tags,
    )


def pattern_told(pattern: Pattern) -> str:
    """The pattern as an analyst is told: a few lines of bounded, plain text for a fence.

    >>> print(pattern_told(Pattern(title="A", description="B.", pattern_type="systemic_issue",
    ...                            modules=("a.rb",))))
    A (systemic_issue)
    B.
    places: a.rb
    """
    nights = f", found on {len(pattern.nights)} nights" if len(pattern.nights) > 1 else ""
    rows = (
        f"{line(pattern.title, 200)} ({pattern.pattern_type}{nights})",
        block(pattern.description, 1_000),
        f"because: {line('; '.join(pattern.because[:5]), 300)}" if pattern.because else "",
        f"places: {line(', '.join(pattern.modules[:5]), 300)}" if pattern.modules else "",
        f"suggested: {line(pattern.suggestion, 300)}" if pattern.suggestion else "",
    )
    return "\n".join(row for row in rows if row.strip())


def _meta(pattern: Pattern) -> Mapping[str, object]:
    return {
        "title": line(pattern.title, 200),
        "pattern_type": pattern.pattern_type,
        "rule": pattern.rule[:60],
        "description": pattern.description[:_LONGEST_TEXT],
        "occurrences": pattern.occurrences,
        "suggestion": pattern.suggestion[:_LONGEST_TEXT],
        "because": [reason[:200] for reason in pattern.because[:_MOST_REASONS]],
        "error_classes": [name[:200] for name in pattern.error_classes[:_MOST_LISTED]],
        "modules": [name[:300] for name in pattern.modules[:_MOST_LISTED]],
        "tags": [tag[:100] for tag in pattern.tags[:_MOST_LISTED]],
        "fingerprints": [name[:100] for name in pattern.fingerprints[:_MOST_LISTED]],
        "first_seen": pattern.nights[0].isoformat() if pattern.nights else None,
        "nights": [night.isoformat() for night in pattern.nights[:_MOST_NIGHTS]],
    }


def _reasons(because: tuple[str, ...]) -> str:
    rows = "\n".join(f"- {markdown(reason, 200)}" for reason in because[:_MOST_REASONS])
    return f"## Because\n\n{rows}" if rows else ""


def _listed(title: str, texts: tuple[str, ...]) -> str:
    rows = "\n".join(f"- {code_span(text)}" for text in texts[:_MOST_LISTED])
    return f"## {title}\n\n{rows}" if rows else ""


def _found(nights: tuple[date, ...]) -> str:
    if not nights:
        return ""
    known = f"{len(nights)} {'nights' if len(nights) > 1 else 'night'}"
    return f"Found on {known}, first on {nights[0]}, last on {nights[-1]}."


def _title(meta: Mapping[str, object]) -> str:
    """People write titles that YAML takes for numbers."""
    title = meta.get("title")
    if isinstance(title, (dict, list)):
        raise GiveUp("pattern: `title` is no text: write it in one line")
    return "" if title is None else line(str(title), 200)


def _text(meta: Mapping[str, object], name: str, most: int) -> str:
    value = meta.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise GiveUp(f"pattern: `{name}` is no text: put it in quotes")
    return value[:most]


def _texts(meta: Mapping[str, object], name: str, most: int) -> tuple[str, ...]:
    value = meta.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise GiveUp(f"pattern: `{name}` is no list of texts: write one `- text` a line")
    return tuple(one[:most] for one in value[:_MOST_LISTED])


def _count(meta: Mapping[str, object]) -> int:
    value = meta.get("occurrences")
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**15:
        raise GiveUp("pattern: `occurrences` is no whole number: write how often it was seen")
    return value


def _type(meta: Mapping[str, object]) -> PatternType:
    value = meta.get("pattern_type", "systemic_issue")
    for known in get_args(PatternType):
        if value == known:
            found: PatternType = known
            return found
    raise GiveUp(f"pattern: `pattern_type` must be one of {', '.join(get_args(PatternType))}")


def _nights(meta: Mapping[str, object]) -> tuple[date, ...]:
    value = meta.get("nights")
    if value is None:
        return ()
    if not isinstance(value, list):
        raise GiveUp("pattern: `nights` is no list of dates: write `- 2030-05-01`")
    return tuple(sorted({_night(one) for one in value[-_MOST_NIGHTS:]}))


def _night(value: object) -> date:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise GiveUp("pattern: `nights` is no list of dates: write `- 2030-05-01`")
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise GiveUp(f"pattern: `nights` holds a date that is none: {error}") from error
