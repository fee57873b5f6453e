"""A lesson as a Markdown document: typed fields in its front matter, the body for people.

Only the front matter is read back, and of the body the `<future-agent-notes>` sections and what
people wrote under "Related Patterns". The rest of the body is written from the lesson and may be
edited or deleted without loss. Everything in it came from strangers, so it is escaped or fenced.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import chain

from jinja2 import PackageLoader, Template
from pydantic import ValidationError

from nightwatch_core.code.edits import diff
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory import limits
from nightwatch_core.memory.note_reader import notes_in, rendered
from nightwatch_core.models.knowledge import IndexEntry, Lesson, Notes, RelatedDocument
from nightwatch_core.ports import KnowledgeReader
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import clean, code_span, fenced, line, markdown
from nightwatch_core.text.markdown_templates import markdown_templates
from nightwatch_core.text.plain_text import plural

LIMIT = 60 * 1024  # characters of front matter; a reader takes 64 KiB
LARGEST = 10**15  # any count: what is larger cannot be reckoned with
SUMMARY = 500  # characters that the next analyst is told
_LONGEST_NOTES, _LONGEST_FIX, _MOST_EDITS = 90_000, 100_000, 20
_LONGEST_ROWS = 20_000

SEEDS = (  # fields that every document has
    "error_class", "transaction", "module", "message", "occurrences", "root_cause",
    "confidence", "fix_confidence", "has_fix", "issue_number", "pr_number", "tags",
    "first_detected", "run_id", "iterations_used", "tokens_used",
)  # fmt: skip
FIELDS = (  # of the front matter, in their order; those that are no seeds' only where they say more
    "title", *SEEDS[:11], "outcome", *SEEDS[11:], "cost_used", "model", "analyst",
    "fingerprint", "aliases", "commit", "analysed_at", "stale", "nights", "seen_until", "matched",
    "last_matched", "proposed", "outcomes", "watch", "evidence", "edits", "edits_read",
    "pr_sign", "refused_edits", "question", "fix_owed", "unsettled_nights",
    "watched", "next_steps", "learnings", "related_tasks", "related_patterns", "causes", "places",
    "frames", "promoted", "schema_version",
)  # fmt: skip
SECTIONS = (
    "heading", "notices", "root_cause", "evidence", "proposed_fix", "fix_owed", "question",
    "next_steps", "file_changes", "learnings", "related_patterns", "outcome", "history",
)  # fmt: skip
RELATED = "related_tasks"  # the key of a lesson's `related`
_ALWAYS = frozenset((*SEEDS, "title", "fingerprint", "schema_version"))
_OF_THE_BODY = {"notes", "pattern_notes", "file"}
_TEXTS = {n for n, field in Lesson.model_fields.items() if field.annotation is str}
_LISTS = {n for n, field in Lesson.model_fields.items() if field.annotation == tuple[str, ...]}


def lessons_in(knowledge: KnowledgeReader) -> tuple[Lesson, ...]:
    """Read every lesson at hand; those that cannot be read are left out."""
    return _read(knowledge, knowledge.index().solutions)


def archived_lessons(knowledge: KnowledgeReader) -> tuple[Lesson, ...]:
    """Read every archived lesson; those that cannot be read are left out."""
    return _read(knowledge, knowledge.archived().solutions)


def _read(knowledge: KnowledgeReader, entries: Iterable[IndexEntry]) -> tuple[Lesson, ...]:
    return tuple(filter(None, (knowledge.read(entry.file) for entry in entries)))


def document(lesson: Lesson) -> str:
    """Write the lesson's document; `lesson_of` reads the same values back.

    Front matter over 60 KiB is shortened step by step (`SHORTENINGS`), and the body says so. Raises
    `GiveUp` where the fingerprint is too long.
    """
    if len(lesson.fingerprint) > limits.LONGEST_NAME:
        raise GiveUp(f"a fingerprint is too long: more than {limits.LONGEST_NAME} characters")
    lesson = bounded(lesson)
    kept, left_out = lesson, []
    meta = _front(kept)
    for what, shorten in SHORTENINGS:
        if len(meta) <= LIMIT:
            break
        kept = shorten(kept)
        meta = _front(kept)
        left_out.append(what)
    if len(meta) > LIMIT:
        raise GiveUp(f"the lesson of {line(lesson.fingerprint)} is too long to keep")
    text = body(kept)
    about = f"\n\n_Too long to keep whole: {', '.join(left_out)}._" if left_out else ""
    notes = _notes_text(lesson.notes)
    return f"---\n{meta}---\n\n{text}{about}\n" + (f"\n{notes}\n" if notes else "")


def lesson_of(text: str, file: str) -> Lesson:
    """Read a lesson's document; raises `GiveUp` with the reason where it is none.

    Keys of a newer version are left out, and numbers are read as text where text belongs.
    """
    meta, rest = frontmatter.read(text)
    if not meta:
        raise GiveUp("it has no front matter")
    if any(isinstance(leaf, int) and abs(leaf) > LARGEST for leaf in _leaves(meta)):
        raise GiveUp("a number in it is too large to be one")
    values = {"related": meta.get(RELATED, ())} | {n: v for n, v in meta.items() if n in FIELDS}
    for name, value in values.items():
        if name in _TEXTS and isinstance(value, int | float):
            values[name] = str(value)
        elif name in _LISTS and isinstance(value, list):
            values[name] = [str(v) if isinstance(v, int | float) else v for v in value]
    given = {name: value for name, value in values.items() if value is not None}
    try:
        lesson = Lesson.model_validate({**given, "file": file}, extra="ignore")
    except ValidationError as problems:
        raise GiveUp(first_problem(problems)) from None
    if any(len(name) > limits.LONGEST_NAME for name in lesson.names):
        raise GiveUp("a fingerprint or alias is too long")
    update = {"notes": notes_in(rest), "pattern_notes": _pattern_notes_in(rest, lesson)}
    return lesson.model_copy(update=update)


def first_problem(problems: ValidationError) -> str:
    """Say in a line what is wrong with values that were read."""
    first = problems.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return line(f"{place}: {frontmatter.problem_text(first)}", 200)


def body(lesson: Lesson) -> str:
    """Write the sections of a lesson that have something to say."""
    macros = template("lesson.md.j2").module
    texts = (str(getattr(macros, name)(lesson)).strip("\n") for name in SECTIONS)
    return "\n\n".join(filter(None, texts))


def summary(lesson: Lesson) -> str:
    """Give the first 500 characters of the document's body, for the next analyst."""
    return body(lesson)[:SUMMARY]


def _front(lesson: Lesson) -> str:
    """The front matter; of one that must be too long only its texts, which is quicker."""
    values = lesson.model_dump(mode="json", exclude=_OF_THE_BODY, exclude_defaults=True)
    if len(texts := "".join(leaf for leaf in _leaves(values) if isinstance(leaf, str))) > LIMIT:
        return texts
    values |= {n: getattr(lesson, n) for n in _ALWAYS if n not in values}  # plain, as all defaults
    values |= {"tags": list(lesson.tags)}
    if lesson.related:
        values[RELATED] = list(lesson.related)
    return frontmatter.dumped({name: values[name] for name in FIELDS if name in values})


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        yield from chain.from_iterable(map(_leaves, items))
    else:
        yield value


def _notes_text(notes: tuple[Notes, ...]) -> str:
    room, kept = _LONGEST_NOTES, list[str]()
    for section in reversed(notes[-limits.MOST_SECTIONS :]):
        text = rendered(section)
        room -= len(text)
        if room < 0:
            break
        kept.append(text)
    return "\n\n".join(text for text in reversed(kept) if text)


@cache
def template(name: str) -> Template:
    """Return a template of this room, in which every value has to pass a filter."""
    filters: Mapping[str, Callable[..., str]] = {
        "trusted": str,
        "md": markdown,
        "code": code_span,
        "fence": fenced,
        "paragraphs": _paragraphs,
        "indented": lambda text: re.sub(r"(?m)^(?=.)", "  ", text),
        "edits_diff": lambda edits: fenced(diff(edits[:_MOST_EDITS]), "diff", _LONGEST_FIX),
        "pattern_rows": _pattern_rows,
        "plural": plural,
    }
    loader = PackageLoader("nightwatch_core.memory")
    return markdown_templates(loader, filters).get_template(name)


def _paragraphs(text: str) -> str:
    parts = (markdown(part, 4_000) for part in clean(text[:20_000]).split("\n\n"))
    return "\n\n".join(filter(None, parts))


# The section "Related Patterns": our rows, written anew from the front matter, then what people
# write there, as it stands.

_TITLE = "## Related Patterns"
_SECTION = re.compile(  # up to the sections after it
    rf"^{_TITLE}[ \t]*\n(.*?)"
    r"(?=^## (?:Outcome|History)$|^_Too long to keep whole|^\s{0,12}<future-agent-notes|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)


def _pattern_rows(lesson: Lesson) -> str:
    ours = "\n".join(map(_related_row, lesson.related_patterns))
    parts = [part for part in (ours, lesson.pattern_notes) if part]
    return "\n\n".join((_TITLE, *parts)) if parts else ""


def _related_row(related: RelatedDocument) -> str:
    kind = "Pattern" if related.file.startswith("patterns/") else "Similar"
    note = f": {markdown(related.note, 500)}" if related.note else ""
    return f"- {kind}: {markdown(related.title, 120)} ({code_span(related.file)}){note}"


def _pattern_notes_in(text: str, lesson: Lesson) -> str:
    found = _SECTION.search(text.replace("\r\n", "\n"))
    ours = set(map(_related_row, lesson.related_patterns))
    rows = found[1].split("\n") if found else []
    return "\n".join(row.rstrip() for row in rows if row not in ours).strip()[:_LONGEST_ROWS]


# How a lesson is shortened: its lists to their bounds, then what goes first to save room.

_NEWEST_LAST = {  # of these lists so many of the newest entries are kept
    "nights": limits.MOST_NIGHTS,
    "aliases": limits.MOST_ALIASES,
    "outcomes": limits.MOST_OUTCOMES,
    "proposed": limits.MOST_PROPOSED,
    "promoted": limits.MOST_PROMOTED,
}
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")


def bounded(lesson: Lesson) -> Lesson:
    """Cut every list of a lesson to its newest entries, as many as are kept."""
    update = {name: getattr(lesson, name)[-most:] for name, most in _NEWEST_LAST.items()}
    update["aliases"] = tuple(n for n in update["aliases"] if len(n) <= limits.LONGEST_NAME)
    update["outcomes"] = tuple(
        event.model_copy(
            update={
                "words": tuple(
                    quote[: limits.LONGEST_WORDS]
                    for quote in event.words[: limits.MOST_QUOTES_KEPT]
                ),
                "because": event.because[: limits.LONGEST_BECAUSE],
            }
        )
        for event in update["outcomes"]
    )
    return lesson.model_copy(update=update)


def _shortened(lesson: Lesson, text: int, items: int) -> Lesson:
    def cut(value: object, name: str = "") -> object:
        if isinstance(value, dict):
            return {key: cut(item, key) for key, item in value.items()}
        if isinstance(value, tuple):
            kept = value[-items:] if name in _NEWEST_LAST else value[:items]
            return [cut(item) for item in kept]
        if isinstance(value, str):  # without what YAML writes as an escape
            return _NO_CHARACTERS.sub("", clean(value[:text]).replace("\t", " "))
        return value

    kept = lesson.model_dump(include={"fingerprint", *_OF_THE_BODY})
    values = lesson.model_dump(exclude={"fingerprint", "edits", *_OF_THE_BODY})
    return Lesson.model_validate({**{n: cut(v, n) for n, v in values.items()}, **kept})


SHORTENINGS: tuple[tuple[str, Callable[[Lesson], Lesson]], ...] = (
    ("the edits are left out of the front matter", lambda it: it.model_copy(update={"edits": ()})),
    ("long texts and lists are cut", partial(_shortened, text=300, items=10)),
    (  # so little that it fits, even where every character takes ten in YAML
        "only the beginning of every text and list is kept",
        partial(_shortened, text=60, items=3),
    ),
)
