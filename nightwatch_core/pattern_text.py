"""A pattern as a Markdown document; what people write under "## Notes" is kept."""

from collections.abc import Mapping

from nightwatch_core import frontmatter
from nightwatch_core.escaping import code_span, line, markdown
from nightwatch_core.models.knowledge import PatternEntry
from nightwatch_core.models.pattern import Pattern

NOTES = "\n## Notes\n"
_MOST_LISTED = 50


def pattern_document(pattern: Pattern, before: str = "") -> str:
    """The pattern's document; `before` is the one it replaces, whose notes are taken over."""
    parts = (
        f"# {markdown(pattern.title, 120)}",
        markdown(pattern.description, 2_000),
        f"**Suggestion:** {markdown(pattern.suggestion, 2_000)}" if pattern.suggestion else "",
        _listed("Error Classes", pattern.error_classes),
        _listed("Places", pattern.modules),
    )
    body = "\n\n".join(part for part in parts if part)
    _, found, notes = before.partition(NOTES)
    kept = f"\n{NOTES}{notes.rstrip()}\n" if found else "\n"
    return frontmatter.render(_meta(pattern), f"\n{body}{kept}")


def pattern_entry(text: str, file: str) -> PatternEntry:
    """A pattern document's line in the index; raises `GiveUp` where its front matter is wrong.

    Documents written by people need no front matter: the file's name is their title.

    >>> pattern_entry("---\\noccurrences: 3\\n---\\n", "patterns/slow-rates.md")
    PatternEntry(file='patterns/slow-rates.md', title='slow-rates', occurrences=3, tags=())
    """
    meta, _ = frontmatter.read(text)
    title, count, tags = meta.get("title"), meta.get("occurrences"), meta.get("tags")
    stem = file.rpartition("/")[2].removesuffix(".md")
    return PatternEntry(
        file=file,
        title=line(str(title), 200) if title is not None else stem,
        occurrences=count if isinstance(count, int) else 0,
        tags=tuple(str(tag)[:100] for tag in tags[:_MOST_LISTED]) if isinstance(tags, list) else (),
    )


def _meta(pattern: Pattern) -> Mapping[str, object]:
    return {
        "title": pattern.title[:300],
        "pattern_type": pattern.pattern_type,
        "description": pattern.description[:2_000],
        "occurrences": pattern.occurrences,
        "suggestion": pattern.suggestion[:2_000],
        "error_classes": [name[:200] for name in pattern.error_classes[:_MOST_LISTED]],
        "modules": [name[:300] for name in pattern.modules[:_MOST_LISTED]],
        "tags": [tag[:100] for tag in pattern.tags[:_MOST_LISTED]],
        "fingerprints": [name[:100] for name in pattern.fingerprints[:_MOST_LISTED]],
    }


def _listed(title: str, texts: tuple[str, ...]) -> str:
    rows = "\n".join(f"- {code_span(text)}" for text in texts[:_MOST_LISTED])
    return f"## {title}\n\n{rows}" if rows else ""
