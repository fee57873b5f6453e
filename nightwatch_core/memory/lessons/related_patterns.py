"""The section "Related Patterns" of a lesson's document: our rows, and what people write there.

Ours are written anew from the front matter. Whatever else stands in the section is a person's and
stays as it is; a row of theirs that names a document takes the place of ours about it.
"""

import re
from collections.abc import Iterable, Iterator

from nightwatch_core.memory import limits
from nightwatch_core.models.knowledge import Lesson, RelatedDocument
from nightwatch_core.text.escaping import code_span, markdown

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
    ours = (_row(one) for one in lesson.related_patterns if not any(one.file in row for row in own))
    text = ""
    for block in (*ours, *own):
        listed = _ITEM.match(block) and _ITEM.match(text.rpartition("\n\n")[2])
        text += f"{'' if not text else _NEXT if listed else _APART}{block}"
    return f"{_TITLE}\n\n{text}" if text else ""


def pattern_notes_in(body: str, lesson: Lesson) -> tuple[str, ...]:
    """What people wrote into the section of a document's body: its items but for our own rows."""
    text = body.replace("\r\n", "\n")
    begins = _BEGINS.search(text)
    if begins is None:
        return ()
    ours = {_row(one) for one in lesson.related_patterns}
    theirs = (one for one in _blocks(text[begins.end() :].split("\n")) if one not in ours)
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


def _row(one: RelatedDocument) -> str:
    kind = "Pattern" if one.file.startswith("patterns/") else "Similar"
    note = f": {markdown(one.note, limits.LONGEST_WORDS)}" if one.note else ""
    return f"- {kind}: {markdown(one.title, limits.LONGEST_TITLE)} ({code_span(one.file)}){note}"
