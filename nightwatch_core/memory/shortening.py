"""The section "Related Patterns" of a lesson's document: our rows, and what people write there.

Ours are written anew from the front matter. Whatever else stands in the section is a person's and
stays as it is; a row of theirs that names a document takes the place of ours about it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from nightwatch_core.memory import limits
from nightwatch_core.models.knowledge import Lesson, OutcomeEvent, RelatedDocument
from nightwatch_core.models.value import Value
from nightwatch_core.text.escaping import clean, code_span, markdown

_TITLE = "## Related Patterns"
_BEGINS = re.compile(rf"^{_TITLE}[ \t]*$", re.MULTILINE | re.IGNORECASE)
_ENDS = re.compile(r"#{1,2} |_Too long to keep whole|\s{0,12}<future-agent-notes", re.IGNORECASE)
_ITEM = re.compile(r"[-*+] ")
_NEXT, _APART = "\n", "\n\n"
_FENCE = re.compile(r" {0,3}(?:```|~~~)")


def related_patterns(lesson: Lesson) -> str:
    """Write the section; empty where there is nothing related.

    >>> from datetime import date
    >>> known = RelatedDocument(file="patterns/rates.md", title="Rates", note="Ask the vendor.")
    >>> print(related_patterns(Lesson(fingerprint="v1:a", error_class="E", root_cause="",
    ...     first_detected=date(2030, 5, 1), related_patterns=(known,),
    ...     pattern_notes=("- The same in `Products` once",))))
    ## Related Patterns
    <BLANKLINE>
    - Pattern: Rates (`patterns/rates.md`): Ask the vendor.
    - The same in `Products` once
    """
    own = lesson.pattern_notes[: limits.MOST_ROWS]
    ours = (
        _row(pattern)
        for pattern in lesson.related_patterns
        if not any(pattern.file in row for row in own)
    )
    text = ""
    for block in (*ours, *own):
        listed = _ITEM.match(block) and _ITEM.match(text.rpartition("\n\n")[2])
        text += f"{'' if not text else _NEXT if listed else _APART}{block}"
    return f"{_TITLE}\n\n{text}" if text else ""


def pattern_notes_in(body: str, lesson: Lesson) -> tuple[str, ...]:
    """Return the items people added to a section, without our own rows."""
    text = body.replace("\r\n", "\n")
    begins = _BEGINS.search(text)
    if begins is None:
        return ()
    ours = {_row(pattern) for pattern in lesson.related_patterns}
    theirs = (block for block in _blocks(text[begins.end() :].split("\n")) if block not in ours)
    return tuple(dict.fromkeys(theirs))[: limits.MOST_ROWS]


def _blocks(rows: Iterable[str]) -> Iterator[str]:
    """The section's items with their further lines, its paragraphs, and its blocks of code."""
    held: list[str] = []
    in_code = False
    for row in rows:
        if not in_code and _ENDS.match(row):
            break
        if held and not in_code and (not row.strip() or _ITEM.match(row)):
            yield _block(held)
            held = []
        if row.strip() or in_code:
            held.append(row.rstrip())
        in_code ^= bool(_FENCE.match(row))
    if held:
        yield _block(held)


def _block(rows: list[str]) -> str:
    return "\n".join(rows)[: limits.LONGEST_ELEMENT]


def _row(document: RelatedDocument) -> str:
    kind = "Pattern" if document.file.startswith("patterns/") else "Similar"
    note = f": {markdown(document.note, limits.LONGEST_WORDS)}" if document.note else ""
    title = markdown(document.title, limits.LONGEST_TITLE)
    return f"- {kind}: {title} ({code_span(document.file)}){note}"


# How a lesson is shortened: its lists to their bounds, then what goes first to save room.

TEXTS = frozenset(n for n, field in Lesson.model_fields.items() if field.annotation is str)
LISTS = frozenset(
    n for n, field in Lesson.model_fields.items() if field.annotation == tuple[str, ...]
)
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")

_V = TypeVar("_V", bound=Value)
Shortening = Callable[[Lesson], Lesson]


def bounded(lesson: Lesson) -> Lesson:
    """Cut every list of a lesson to its newest entries, as many as are kept."""
    names = (name for name in lesson.aliases if len(name) <= limits.LONGEST_NAME)
    return lesson.model_copy(
        update={
            "nights": lesson.nights[-limits.MOST_NIGHTS :],
            "aliases": tuple(names)[-limits.MOST_ALIASES :],
            "fates": tuple(map(_bounded_fate, lesson.fates[-limits.MOST_FATES :])),
            "proposed": lesson.proposed[-limits.MOST_PROPOSED :],
            "promoted": lesson.promoted[-limits.MOST_PROMOTED :],
        }
    )


def _bounded_fate(fate: OutcomeEvent) -> OutcomeEvent:
    quotes = fate.words[: limits.MOST_QUOTES_KEPT]
    words = tuple(quote[: limits.LONGEST_WORDS] for quote in quotes)
    because = fate.because[: limits.LONGEST_BECAUSE]
    return fate.model_copy(update={"words": words, "because": because})


def _without_edits(lesson: Lesson) -> Lesson:
    return lesson.model_copy(update={"edits": ()})


def _with_short_quotes(lesson: Lesson) -> Lesson:
    cited = (
        evidence.model_copy(update={"quote": evidence.quote[:120]})
        for evidence in lesson.evidence[:50]
    )
    fates = (
        fate.model_copy(update={"words": tuple(words[:100] for words in fate.words[:2])})
        for fate in lesson.fates
    )
    return lesson.model_copy(update={"evidence": tuple(cited), "fates": tuple(fates)})


def _shortened(lesson: Lesson, text: int, items: int, nights: int) -> Lesson:
    """Every text at most so long, every list of so many of its newest items."""
    texts = {name: _cut(getattr(lesson, name), text) for name in TEXTS - {"fingerprint", "file"}}
    lists = {
        name: tuple(_cut(item, 120) for item in getattr(lesson, name)[:items])
        for name in LISTS - {"aliases", "pattern_notes"}
    }
    aliases = tuple(name for name in lesson.aliases if len(name) <= 60)[-items:]
    return lesson.model_copy(
        update={
            **texts,
            **lists,
            "aliases": aliases,
            "evidence": tuple(
                _short(evidence, path=_cut(evidence.path, 200), quote="")
                for evidence in lesson.evidence[:items]
            ),
            "watched": tuple(_short(o, path=_cut(o.path, 200)) for o in lesson.watched[:items]),
            "nights": tuple(map(_short, lesson.nights[-nights:])),
            "related_patterns": tuple(
                _short(pattern, file=_cut(pattern.file, 200))
                for pattern in lesson.related_patterns[:items]
            ),
            "fates": tuple(_short(fate, words=()) for fate in lesson.fates[-items:]),
            "proposed": tuple(map(_short, lesson.proposed[-items:])),
            "edits": (),
        }
    )


def _short(v: _V, **changes: object) -> _V:
    """A part of a lesson, each of its texts at most 64 characters long."""
    texts = {name: _cut(value, 64) for name, value in v if isinstance(value, str)}
    return v.model_copy(update={**texts, **changes})


def _cut(text: str, most: int) -> str:
    """Without what YAML writes as an escape: controls, and code points that are no characters."""
    return _NO_CHARACTERS.sub("", clean(text[:most]).replace("\t", " "))


SHORTENINGS: tuple[tuple[str, Shortening], ...] = (
    ("the edits are left out of the front matter", _without_edits),
    ("quotes of evidence are cut, and what reviewers said", _with_short_quotes),
    (
        "long texts and lists are cut",
        partial(_shortened, text=1_000, items=10, nights=60),
    ),
    (  # so little that it fits, even where every character takes ten in YAML
        "only the beginning of every text and list is kept",
        partial(_shortened, text=100, items=3, nights=10),
    ),
)
