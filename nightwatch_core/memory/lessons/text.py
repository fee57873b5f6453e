"""A lesson as a Markdown document: typed fields in its front matter, the body for people.

Only the front matter is read back, and of the body the `<future-agent-notes>` sections and what
people wrote under "Related Patterns". The rest of the body is written from the lesson and may be
edited or deleted without loss. Everything in it came from strangers, so it is escaped or fenced.
"""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import ValidationError

from nightwatch_core.errors import GiveUp
from nightwatch_core.intake.fingerprint import fingerprint
from nightwatch_core.memory.lessons.body import body, notes_text, short_body
from nightwatch_core.memory.lessons.related_patterns import pattern_notes_in
from nightwatch_core.memory.lessons.shortening import LISTS, SHORTENINGS, TEXTS, bounded
from nightwatch_core.memory.limits import LONGEST_NAME
from nightwatch_core.memory.notes.note_reader import notes_in
from nightwatch_core.models.knowledge import Lesson, NightSeen
from nightwatch_core.models.value import Value
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import line

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
    values = {name: _plain(name, meta[name]) for name in given} | {"related": _related(meta)}
    if any(abs(one) > LARGEST for one in _counts_in(values)):
        raise GiveUp("a number in it is too large to be one")
    try:
        lesson = Lesson.model_validate({"fingerprint": "", **values, "file": file})
    except ValidationError as problems:
        raise GiveUp(_first(problems)) from None
    if any(len(name) > LONGEST_NAME for name in lesson.names):
        raise GiveUp("a fingerprint or alias is too long")
    update = {"notes": notes_in(rest), "pattern_notes": pattern_notes_in(rest, lesson)}
    lesson = lesson.model_copy(update=update)
    return _completed(lesson, "" if "title" in meta else rest)


def _related(meta: Mapping[str, Any]) -> tuple[object, ...]:
    """Related documents under either key, as a list or as a text with commas between them."""
    lists = (meta.get(key) for key in RELATED)
    items = (one.split(",") if isinstance(one, str) else one for one in lists)
    every = (one for held in items if isinstance(held, list) for one in held)
    each = (str(one).strip() for one in every if isinstance(one, str | int | float))
    return tuple(dict.fromkeys(filter(None, each)))


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
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(one)


def _counts_in(value: object) -> Iterator[int]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _counts_in(one)
    elif isinstance(value, int):
        yield value


def _plain(name: str, value: object) -> object:
    """Numbers where text belongs as text; keys that a newer version may have added left out."""
    if name in TEXTS:
        return str(value) if isinstance(value, int | float) else value
    if name in LISTS and isinstance(value, list):
        return [str(one) if isinstance(one, int | float) else one for one in value]
    return _known(value, Lesson.model_fields[name].annotation)


def _known(value: object, wanted: Any) -> object:
    """A value, or a list of them, with only those keys that its model has, at every level."""
    model = _model(wanted)
    if model is None:
        return value
    if isinstance(value, list):
        return [_known(one, model) for one in value]
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


def _first(problems: ValidationError) -> str:
    first = problems.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return line(f"{place}: {first['msg']}", 200)
