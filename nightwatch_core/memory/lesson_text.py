"""The lessons of a knowledge folder that can be read."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, get_args

from pydantic import ValidationError

from nightwatch_core.errors import GiveUp
from nightwatch_core.intake.fingerprint import fingerprint
from nightwatch_core.memory import limits
from nightwatch_core.memory.limits import LONGEST_NAME, LONGEST_SLUG
from nightwatch_core.memory.note_reader import notes_in, rendered
from nightwatch_core.memory.occurrences import watched_files
from nightwatch_core.memory.shortening import (
    LISTS,
    SHORTENINGS,
    TEXTS,
    bounded,
    pattern_notes_in,
    related_patterns,
)
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.knowledge import (
    CitedLine,
    Index,
    IndexEntry,
    Lesson,
    NightSeen,
    Notes,
    OutcomeEvent,
    PatternEntry,
)
from nightwatch_core.models.value import Value
from nightwatch_core.ports import KnowledgeReader
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import clean, code_span, fenced, line, markdown
from nightwatch_core.text.frontmatter import dumped


def lessons_in(knowledge: KnowledgeReader) -> tuple[Lesson, ...]:
    """Every lesson at hand that can be read."""
    return _read(knowledge, knowledge.index().solutions)


def archived_lessons(knowledge: KnowledgeReader) -> tuple[Lesson, ...]:
    """Every archived lesson that can be read."""
    return _read(knowledge, knowledge.archived().solutions)


def _read(knowledge: KnowledgeReader, entries: Iterable[IndexEntry]) -> tuple[Lesson, ...]:
    return tuple(lesson for entry in entries if (lesson := knowledge.read(entry.file)))


# The part of a lesson's document that people read: escaped or fenced; only notes are read back.

_NOT_KNOWN = "Cause unknown: it was looked at, and nothing was proved."


def body(lesson: Lesson) -> str:
    """Write the sections of a lesson that have something to say."""
    return "\n\n".join(part for write in SECTIONS if (part := write(lesson)))


def short_body(lesson: Lesson) -> str:
    """Write what is shown of a lesson whose body would be too long."""
    return "\n\n".join(part for part in (_heading(lesson), _standing(lesson)) if part)


def notes_text(notes: tuple[Notes, ...]) -> str:
    """Write the `<future-agent-notes>` sections of a body, as many of the newest as fit."""
    room, kept = limits.LONGEST_NOTES_SHOWN, []
    for note in reversed(notes[-limits.MOST_SECTIONS :]):
        text = rendered(note)
        room -= len(text)
        if room < 0:
            break
        kept.append(text)
    return "\n\n".join(text for text in reversed(kept) if text)


def summary(lesson: Lesson) -> str:
    """Give the first 500 characters of the document's body, for the next analyst.

    >>> from datetime import date
    >>> print(summary(Lesson(fingerprint="v1:a", error_class="KeyError", root_cause="No default.",
    ...                      first_detected=date(2030, 5, 1))))
    # KeyError
    <BLANKLINE>
    ## Root Cause
    <BLANKLINE>
    No default.
    """
    return body(lesson)[: limits.LONGEST_SUMMARY]


def _heading(lesson: Lesson) -> str:
    return f"# {markdown(lesson.title or lesson.error_class, limits.LONGEST_TITLE)}"


def _standing(lesson: Lesson) -> str:
    gone = f"Superseded by {code_span(lesson.superseded_by)}." if lesson.superseded_by else ""
    stale = f"Stale: {markdown(lesson.stale, 300)}." if lesson.stale else ""
    return " ".join(f"**{reason}**" for reason in (gone, stale) if reason)


def _root_cause(lesson: Lesson) -> str:
    return f"## Root Cause\n\n{_paragraphs(lesson.root_cause) or _NOT_KNOWN}"


def _evidence(lesson: Lesson) -> str:
    lines = (
        f"- {code_span(f'{cited.path}:{cited.line}')}\n\n{_indented(fenced(cited.quote))}"
        if cited.quote
        else f"- {code_span(f'{cited.path}:{cited.line}')}"
        for cited in lesson.evidence
    )
    return _section("Evidence", lines)


def _proposed_fix(lesson: Lesson) -> str:
    room, parts = limits.LONGEST_FIX_SHOWN, []
    for edit in lesson.edits[: limits.MOST_EDITS_SHOWN]:
        head = (f"--- {edit.path}", f"+++ {edit.path}")
        rows = (
            (f"-{row}" for row in edit.old.splitlines()),
            (f"+{row}" for row in edit.new.splitlines()),
        )
        parts.append(fenced("\n".join((*head, *rows[0], *rows[1])), "diff", max(room, 0)))
        room -= len(edit.old) + len(edit.new)
    return "## Proposed Fix\n\n" + "\n\n".join(parts) if parts else ""


def _fix_owed(lesson: Lesson) -> str:
    why = markdown(lesson.fix_owed, limits.LONGEST_WORDS)
    return f"## Fix Owed\n\nWhat was proposed could not be made: {why}." if why else ""


def _question(lesson: Lesson) -> str:
    return f"## Question\n\n{_paragraphs(lesson.question)}" if lesson.question else ""


def _next_steps(lesson: Lesson) -> str:
    return _section(
        "Next Steps", (f"- {markdown(step, limits.LONGEST_WORDS)}" for step in lesson.next_steps)
    )


def _file_changes(lesson: Lesson) -> str:
    return _section(
        "File Changes",
        (
            f"- {code_span(edit.path)}: {edit.action}"
            + (f" — {markdown(edit.description, limits.LONGEST_WORDS)}" if edit.description else "")
            for edit in lesson.edits[: limits.MOST_EDITS_SHOWN]
        ),
    )


def _learnings(lesson: Lesson) -> str:
    return _section(
        "Learnings", (f"- {markdown(fact, limits.LONGEST_WORDS)}" for fact in lesson.learnings)
    )


def _outcome(lesson: Lesson) -> str:
    return _section("Outcome", map(_fate, lesson.fates[-limits.MOST_ROWS :]))


def _fate(fate: OutcomeEvent) -> str:
    number = f" {code_span(f'#{fate.number}')}" if fate.number is not None else ""
    because = f": {markdown(fate.because, limits.LONGEST_WORDS)}" if fate.because else ""
    words = (markdown(quote, limits.LONGEST_WORDS) for quote in fate.words if quote.strip())
    quoted = "".join(f"\n  - “{text}”" for text in words)
    return f"- {fate.on.isoformat()}:{number} {fate.kind}{because}{quoted}"


def _history(lesson: Lesson) -> str:
    rows = (
        f"- {seen.date.isoformat()}: {seen.occurrences} times, {markdown(seen.verdict)}"
        f" ({markdown(seen.night)})"
        for seen in lesson.nights
    )
    return _section("History", rows)


SECTIONS: tuple[Callable[[Lesson], str], ...] = (
    _heading,
    _standing,
    _root_cause,
    _evidence,
    _proposed_fix,
    _fix_owed,
    _question,
    _next_steps,
    _file_changes,
    _learnings,
    related_patterns,
    _outcome,
    _history,
)


def _section(title: str, rows: Iterable[str]) -> str:
    listed = "\n".join(islice(rows, limits.MOST_ROWS))
    return f"## {title}\n\n{listed}" if listed else ""


def _item(text: str) -> str:
    return f"- {markdown(text, limits.LONGEST_WORDS)}"


def _paragraphs(text: str) -> str:
    """Prose with its paragraphs, each escaped."""
    parts = (markdown(part, 4_000) for part in clean(text[:20_000]).split("\n\n"))
    return "\n\n".join(part for part in parts if part)


def _indented(text: str) -> str:
    return "\n".join(f"  {row}" if row else "" for row in text.splitlines())


# Lines of code that a lesson refers to, with the digests by which their change is noticed.


def cited(analysis: Analysis, digests: Mapping[str, str]) -> tuple[CitedLine, ...]:
    """Cite the lines that were found in the code: a lesson must not rest on a claim."""
    return tuple(
        CitedLine(
            path=evidence.path,
            line=evidence.line,
            quote=evidence.quote[: limits.LONGEST_QUOTE],
            digest=digests.get(evidence.path, ""),
            commit=analysis.commit,
        )
        for evidence in analysis.evidence
        if evidence.verified
    )


def watched(analysis: Analysis, digests: Mapping[str, str]) -> tuple[CitedLine, ...]:
    """Cite the files of its innermost frames: their change may show what could not be seen."""
    return tuple(
        CitedLine(path=path, line=1, digest=digests[path], commit=analysis.commit)
        for path in watched_files(analysis.case)
        if path in digests
    )


# Names of lessons' files: they end with the fingerprint, so that few files have to be read.

_SHORT = re.compile(r"_[0-9a-f]{8}(?:-[0-9]{1,5})?\.md\Z")
_PLAIN = re.compile(r"_[0-9a-f]{8}\.md\Z")  # the usual one, quicker to see
_OTHER = re.compile(r"[^0-9a-z]")


def file_name(lesson: Lesson) -> str:
    """Return the path of a lesson's document below the knowledge folder.

    >>> from datetime import date
    >>> file_name(Lesson(fingerprint="v1:1a2b3c4d5e", error_class="KeyError", root_cause="",
    ...                  transaction="Orders#show", first_detected=date(2030, 5, 1)))
    'errors/2030-05-01_keyerror-orders-show_1a2b3c4d.md'
    """
    about = slug(f"{lesson.error_class}-{lesson.transaction}") or "error"
    day, short = lesson.first_detected.isoformat(), short_name(lesson.fingerprint)
    return f"errors/{day}_{about}_{short}.md"


def slug(text: str) -> str:
    """Letters and digits with hyphens between, at most 60.

    >>> slug("ActiveRecord::RecordNotFound-orders/update")
    'activerecord-recordnotfound-orders-update'
    """
    return re.sub(r"[^a-z0-9]+", "-", text[:1_000].lower()).strip("-")[:LONGEST_SLUG].strip("-")


def short_name(fingerprint: str) -> str:
    """Return the end of a file name: at most 8 characters of the fingerprint.

    >>> short_name("v1:1A2b3c4d5e"), short_name("v1:\u65e5")
    ('1a2b3c4d', '0')
    """
    return _OTHER.sub("", fingerprint.rpartition(":")[2].lower())[:8] or "0"


def candidates_for(names: Iterable[str], fingerprint: str) -> tuple[list[str], list[str]]:
    """The names that may hold a fingerprint by what they say, and those that say nothing.

    >>> ours = ["2030-05-01_keyerror_1a2b3c4d-2.md", "2030-05-01_keyerror_ffffffff.md"]
    >>> candidates_for([*ours, "by hand.md"], "v1:1a2b3c4d5e6f7a8b")
    (['2030-05-01_keyerror_1a2b3c4d-2.md'], ['by hand.md'])
    """
    short = short_name(fingerprint)
    alike, silent = [], []
    for name in names:
        if short in name:
            alike.append(name)
        elif not (_PLAIN.match(name, len(name) - 12) or _SHORT.search(name)):
            silent.append(name)
    return alike, silent


def is_named_for(file: str, fingerprints: Iterable[str]) -> bool:
    """Tell whether a file's name ends with the short name of one of these fingerprints.

    >>> is_named_for("archive/2030-05-01_keyerror_1a2b3c4d.md", ["v1:ffff", "v1:1a2b3c4d5e6f7a8b"])
    True
    """
    shorts = "|".join(sorted({short_name(name) for name in fingerprints}))
    return bool(re.search(rf"_(?:{shorts})(?:-[0-9]{{1,5}})?\.md\Z", file))


# index.yml: the list of all documents, written for people. Equal documents give equal bytes.

HEAD = "# Written by NightWatch from the documents; changes here are lost.\n"
END = "# end "  # and a digest of all before it: earlier versions believe no other index
_TAGS_IN_INDEX = 30
_ONLY_WHERE_SO = ("stale", "unknown")
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
_PLAIN_INDEX_TEXT = re.compile(
    r"[A-Za-z][A-Za-z0-9_./-]*(?:(?:::?|#| )[A-Za-z0-9_./][A-Za-z0-9_./-]*)*"
)


def index_text(index: Index) -> str:
    """Write the index; as `dumped` would, but that takes a millisecond an entry."""
    head: Mapping[str, object] = {
        "last_updated": index.last_updated.isoformat() if index.last_updated else None,
        "total_solutions": len(index.solutions),
        "total_patterns": len(index.patterns),
    }
    text = HEAD + dumped(head)
    for name, entries in (("solutions", index.solutions), ("patterns", index.patterns)):
        rows = [_entry_text(entry) for entry in entries]
        text += f"{name}:\n{''.join(rows)}" if rows else f"{name}: []\n"
    return f"{text}{END}{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}\n"


def _entry_text(entry: IndexEntry | PatternEntry) -> str:
    """One document's lines; that a lesson is stale, or knows no cause, only where it is so."""
    rows: list[str] = []
    for key, value in entry.model_dump(mode="json").items():
        if isinstance(value, list) and value:
            rows += [f"{key}:", *(f"- {_scalar(item)}" for item in value)]
        elif value or key not in _ONLY_WHERE_SO:
            rows.append(f"{key}: {_scalar(value)}")
    return "- " + "\n  ".join(rows) + "\n"


def _scalar(value: object) -> str:
    if isinstance(value, str):
        plain = _PLAIN_INDEX_TEXT.fullmatch(value) and value.lower() not in _WORDS
        return value if plain and len(value) < 1_000 else _quoted(value)
    if value is None:
        return "null"
    return "[]" if isinstance(value, list) else str(value).lower()


@lru_cache(maxsize=4_096)
def _quoted(text: str) -> str:
    written = dumped({"a": text})[3:-1]
    return dumped([text], in_line=True)[1:-2] if "\n" in written else written


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
        unknown=not lesson.has_cause,
    )


def index_over(
    solutions: tuple[IndexEntry, ...],
    patterns: tuple[PatternEntry, ...],
    quarantined: tuple[str, ...] = (),
) -> Index:
    """The index of these documents, sorted by file; its date is the newest sighting."""
    return Index(
        last_updated=max(
            (solution.last_seen for solution in solutions if solution.last_seen), default=None
        ),
        solutions=tuple(sorted(solutions, key=lambda entry: entry.file)),
        patterns=tuple(sorted(patterns, key=lambda entry: entry.file)),
        quarantined=quarantined,
    )


# A lesson as a Markdown document: typed fields in its front matter, the body for people.
#
# Only the front matter is read back, and of the body the `<future-agent-notes>` sections and what
# people wrote under "Related Patterns". The rest of the body is written from the lesson and may be
# edited or deleted without loss. Everything in it came from strangers, so it is escaped or fenced.

LIMIT = 60 * 1024  # characters of front matter; a reader takes 64 KiB
LARGEST = 10**15  # any count: what is larger cannot be reckoned with
LONGEST_BODY = 400_000  # bytes, without its notes: the whole document stays below 1 MiB
SEEDS = (  # fields that every document has
    "error_class", "transaction", "module", "message", "occurrences", "root_cause",
    "fix_confidence", "has_fix", "issue_number", "pr_number", "tags", "first_detected", "run_id",
    "iterations_used", "tokens_used",
)  # fmt: skip
FIELDS = (  # of the front matter, in their order; those that are no seeds' only where they say more
    "title", *SEEDS[:10], "outcome", *SEEDS[10:], "cost_used", "told", "model", "fingerprint",
    "aliases", "commit", "analysed_at", "stale", "superseded_by", "nights", "seen_until", "matched",
    "last_matched", "proposed", "fates", "watch", "evidence", "edits", "edits_read",
    "refused_edits", "question", "sure_of_fix", "fix_owed", "unsettled_since", "unsettled_nights",
    "watched", "next_steps", "learnings", "related_tasks", "related_patterns", "causes", "places",
    "frames", "promoted", "schema_version",
)  # fmt: skip
SCHEMA = Lesson.model_fields["schema_version"].default
RELATED = ("related_tasks", "related")  # the key, and what earlier versions called it
_OF_THE_BODY = {"notes", "pattern_notes", "file"}
_ALWAYS = frozenset((*SEEDS, "title", "fingerprint", "schema_version"))


def document(lesson: Lesson) -> str:
    """The lesson's document; `lesson_of` reads the same values back.

    Front matter over 60 KiB is shortened step by step (`SHORTENINGS`), and the body says so. Raises
    `GiveUp` where the fingerprint is too long to be one.
    """
    if len(lesson.fingerprint) > LONGEST_NAME:
        raise GiveUp(f"a fingerprint is too long: more than {LONGEST_NAME} characters")
    lesson = bounded(lesson)
    kept, said = lesson, []
    meta = _front(kept)
    for what, shorten in SHORTENINGS:
        if len(meta) <= LIMIT:
            break
        kept = shorten(kept)
        meta = _front(kept)
        said.append(what)
    if len(meta) > LIMIT:
        raise GiveUp(f"the lesson of {line(lesson.fingerprint)} is too long to keep")
    lesson = lesson.model_copy(update={"related_patterns": kept.related_patterns})
    text = body(lesson)
    if _size(text) > LONGEST_BODY:
        text = body(kept.model_copy(update={"edits": (), "evidence": (), "next_steps": ()}))
        said.append("the body is left out where the front matter has it")
    text = text if _size(text) <= LONGEST_BODY else short_body(kept)
    about = f"\n\n_Too long to keep whole: {', '.join(said)}._" if said else ""
    notes = notes_text(lesson.notes)
    return f"---\n{meta}---\n\n{text}{about}\n" + (f"\n{notes}\n" if notes else "")


def lesson_of(text: str, file: str) -> Lesson:
    """Read a lesson's document; raises `GiveUp` with the reason where it is none.

    Documents without a fingerprint or nights (one a night, as earlier versions wrote them) get the
    fingerprint of their class, transaction and message, and the night they were written on.
    """
    meta, rest = frontmatter.read(text)
    if not meta:
        raise GiveUp("it has no front matter")
    given = (name for name in FIELDS if name not in RELATED and meta.get(name) is not None)
    lists = (meta.get(key) for key in RELATED)
    items = (item.split(",") if isinstance(item, str) else item for item in lists)
    every = (item for held in items if isinstance(held, list) for item in held)
    each = (str(item).strip() for item in every if isinstance(item, str | int | float))
    related = tuple(dict.fromkeys(filter(None, each)))
    values = {name: _plain(name, meta[name]) for name in given} | {"related": related}
    if any(abs(item) > LARGEST for item in _counts_in(values)):
        raise GiveUp("a number in it is too large to be one")
    try:
        lesson = Lesson.model_validate({"fingerprint": "", **values, "file": file})
    except ValidationError as problems:
        first = problems.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise GiveUp(line(f"{place}: {first['msg']}", 200)) from None
    if any(len(name) > LONGEST_NAME for name in lesson.names):
        raise GiveUp("a fingerprint or alias is too long")
    update = {"notes": notes_in(rest), "pattern_notes": pattern_notes_in(rest, lesson)}
    lesson = lesson.model_copy(update=update)
    return _completed(lesson, "" if "title" in meta else rest)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _front(lesson: Lesson) -> str:
    """The front matter; of one that must be too long only its texts, which is quicker."""
    values = lesson.model_dump(mode="json", exclude=_OF_THE_BODY, exclude_defaults=True)
    texts = "".join(_texts_in(values))
    if len(texts) > LIMIT:
        return texts
    values |= {n: getattr(lesson, n) for n in _ALWAYS if n not in values}  # plain, as all defaults
    values |= {"tags": list(lesson.tags), "schema_version": SCHEMA}
    values |= {RELATED[0]: list(lesson.related)} if lesson.related else {}
    return frontmatter.dumped({name: values[name] for name in FIELDS if name in values})


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(item)


def _counts_in(value: object) -> Iterator[int]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _counts_in(item)
    elif isinstance(value, int):
        yield value


def _plain(name: str, value: object) -> object:
    """Numbers where text belongs as text; keys that a newer version may have added left out."""
    if name in TEXTS:
        return str(value) if isinstance(value, int | float) else value
    if name in LISTS and isinstance(value, list):
        return [str(item) if isinstance(item, int | float) else item for item in value]
    return _known(value, Lesson.model_fields[name].annotation)


def _known(value: object, wanted: Any) -> object:
    """A value, or a list of them, with only those keys that its model has, at every level."""
    model = _model(wanted)
    if model is None:
        return value
    if isinstance(value, list):
        return [_known(item, model) for item in value]
    if not isinstance(value, dict):
        return value
    fields: Mapping[str, Any] = model.model_fields
    return {key: _known(value[key], fields[key].annotation) for key in value if key in fields}


def _model(wanted: Any) -> type[Value] | None:
    """The value an annotation speaks of: `Edit` of a tuple of edits, `Watch` of one or None."""
    if isinstance(wanted, type) and issubclass(wanted, Value):
        return wanted
    return next(filter(None, map(_model, get_args(wanted))), None)


def _completed(lesson: Lesson, rest: str) -> Lesson:
    """The lesson with what documents of the older form leave out."""
    title = lesson.title or next(
        (row[2:] for row in rest[:2_000].splitlines() if row.startswith("# ")), ""
    )
    name = lesson.fingerprint or fingerprint(
        app="",
        error_class=lesson.error_class,
        transaction=lesson.transaction,
        message=lesson.message,
    )
    seen = NightSeen(
        date=lesson.first_detected,
        night=lesson.run_id or lesson.first_detected.isoformat(),
        occurrences=lesson.occurrences,
        verdict="new",
        confidence=lesson.fix_confidence,
    )
    update = {"title": line(title, 120), "fingerprint": name, "nights": lesson.nights or (seen,)}
    return lesson.model_copy(update=update)
