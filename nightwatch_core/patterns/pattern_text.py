"""A pattern as a Markdown document, and back; notes of people under "## Notes" are kept.

Documents come from people, too: those need no front matter. But front matter must hold what a
pattern holds, or its reader learns what is wrong.
"""

from pydantic import ValidationError

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.lesson_text import LARGEST, first_problem, template
from nightwatch_core.models.knowledge import Pattern, PatternEntry
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import block, line

NOTES = "\n## Notes\n"
_KEYS = (  # of the front matter, in their order
    "title", "pattern_type", "rule", "description", "occurrences", "suggestion", "because",
    "error_classes", "modules", "tags", "fingerprints",
)  # fmt: skip
_ENDS = ("opened", "closed", "closed_because")  # only in a document that has them
_LISTS = {"because": 200, "error_classes": 200, "modules": 300, "tags": 100, "fingerprints": 100}
_MOST_LISTED, _MOST_NIGHTS, _MOST_REASONS = 50, 60, 10
_LONGEST_TEXT, _LONGEST_NOTES = 2_000, 1_000


def pattern_document(pattern: Pattern, before: str = "") -> str:
    """Write the pattern's document; `before` is the one it replaces, whose notes are taken over."""
    pattern = _bounded(pattern)
    nights = [night.isoformat() for night in pattern.nights]
    values = {name: getattr(pattern, name) for name in _KEYS}
    meta = {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}
    meta |= {"first_seen": nights[0] if nights else None, "nights": nights[:_MOST_NIGHTS]}
    meta |= {name: str(value) for name in _ENDS if (value := getattr(pattern, name))}
    body = template("pattern.md.j2").render(of=pattern).strip("\n")
    _, found, notes = before.partition(NOTES)
    kept = f"\n{NOTES}{notes.rstrip()}\n" if found else "\n"
    return frontmatter.render(meta, f"\n{body}{kept}")


def pattern_of(text: str, file: str) -> Pattern:
    """Read a pattern's document; `file` is its path below the knowledge folder.

    A document written by people is a systemic issue of its title, or its file's name, with its text
    as description; notes under "## Notes" are a part of the description either way. Raises `GiveUp`
    with the reason where front matter is broken, or holds what no pattern holds.
    """
    meta, body = frontmatter.read(text)
    written, _, notes = f"\n{body}".partition(NOTES)
    values = {name: meta[name] for name in (*_KEYS, *_ENDS, "nights") if meta.get(name) is not None}
    if isinstance(values.get("title"), int | float):  # people write titles that YAML reads so
        values["title"] = str(values["title"])
    default = {"title": "", "description": "", "pattern_type": "systemic_issue"}
    try:
        found = _bounded(Pattern.model_validate(default | values))
    except ValidationError as problems:
        raise GiveUp(f"pattern: {first_problem(problems)}") from None
    if type(values.get("occurrences", 0)) is not int or not 0 <= found.occurrences < LARGEST:
        raise GiveUp("pattern: occurrences: it has to be a whole number from 0")
    description = found.description or block(written.strip(), _LONGEST_TEXT)
    noted = block(notes.strip(), _LONGEST_NOTES)
    name = file.rpartition("/")[2].removesuffix(".md")
    update = {
        "title": found.title or line(name, 200),
        "description": f"{description}\n\nNotes: {noted}".strip() if noted else description,
        "nights": tuple(sorted(set(found.nights[-_MOST_NIGHTS:]))),
    }
    return found.model_copy(update=update)


def _bounded(pattern: Pattern) -> Pattern:
    lists = {
        name: tuple(text[:longest] for text in getattr(pattern, name)[:_MOST_LISTED])
        for name, longest in _LISTS.items()
    }
    update = {
        **lists,
        "title": line(pattern.title, 200),
        "description": pattern.description[:_LONGEST_TEXT],
        "suggestion": pattern.suggestion[:_LONGEST_TEXT],
        "rule": pattern.rule[:60],
        "closed_because": line(pattern.closed_because, 200),
        "because": lists["because"][:_MOST_REASONS],
    }
    return pattern.model_copy(update=update)


def pattern_entry(text: str, file: str) -> PatternEntry:
    """Return a pattern document's line in the index; raises `GiveUp` as `pattern_of`."""
    found = pattern_of(text, file)
    return PatternEntry(
        file=file,
        title=found.title,
        occurrences=found.occurrences,
        modules=found.modules,
        tags=found.tags,
    )


def pattern_told(pattern: Pattern) -> str:
    """Return the pattern as an analyst is told: a few lines of bounded, plain text for a fence.

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
