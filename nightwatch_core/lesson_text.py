"""A lesson as a Markdown document: typed fields in its front matter, the body for people.

Only the front matter is read back. The body is written from it and may be edited or deleted without
loss. Everything in it came from strangers, so it is escaped or fenced.
"""

from collections.abc import Callable, Iterator

from pydantic import ValidationError

from nightwatch_core import frontmatter
from nightwatch_core.errors import GiveUp
from nightwatch_core.escaping import clean, line
from nightwatch_core.fingerprint import fingerprint
from nightwatch_core.lesson_body import body
from nightwatch_core.models.analysis import Edit
from nightwatch_core.models.knowledge import Cited, Lesson, NightSeen
from nightwatch_core.models.value import Value

LIMIT = 60 * 1024  # characters of front matter; a reader takes 64 KiB
LONGEST_BODY = 180_000  # characters: the whole document stays below 1 MiB
FIELDS = (  # of the front matter, in their order
    "title", "error_class", "transaction", "module", "message", "occurrences", "root_cause",
    "fix_confidence", "has_fix", "issue_number", "pr_number", "outcome", "tags", "first_detected",
    "run_id", "iterations_used", "tokens_used", "fingerprint", "aliases", "commit", "nights",
    "seen_until", "evidence", "edits", "next_steps", "learnings", "related", "causes", "places",
    "frames", "schema_version",
)  # fmt: skip
_TEXTS = frozenset(n for n, field in Lesson.model_fields.items() if field.annotation is str)
_NESTED: dict[str, type[Value]] = {"nights": NightSeen, "evidence": Cited, "edits": Edit}
_LONGEST_NAME = 200  # characters of a fingerprint or alias

Shortening = Callable[[Lesson], Lesson]


def document(lesson: Lesson) -> str:
    """The lesson's document; `lesson_of` reads the same values back.

    Front matter over 60 KiB is shortened step by step (`SHORTENINGS`), and the body says so.
    """
    kept, notes = lesson, []
    meta = _front(kept)
    for note, shorten in SHORTENINGS:
        if len(meta) <= LIMIT:
            break
        kept = shorten(kept)
        meta = _front(kept)
        notes.append(note)
    text = body(lesson)
    if len(text) > LONGEST_BODY:
        text = body(kept.model_copy(update={"edits": (), "evidence": (), "next_steps": ()}))
        notes.append("the body is left out where the front matter has it")
    said = f"\n\n_Too long to keep whole: {', '.join(notes)}._" if notes else ""
    return f"---\n{meta}---\n\n{text}{said}\n"


def lesson_of(text: str, file: str) -> Lesson:
    """Read a lesson's document; raises `GiveUp` with the reason where it is none.

    Documents without a fingerprint or nights (one a night, as earlier versions wrote them) get the
    fingerprint of their class, transaction and message, and the night they were written on.
    """
    meta, rest = frontmatter.read(text)
    if not meta:
        raise GiveUp("it has no front matter")
    values = {name: _plain(name, meta[name]) for name in FIELDS if meta.get(name) is not None}
    try:
        lesson = Lesson.model_validate({"fingerprint": "", **values, "file": file})
    except ValidationError as problems:
        raise GiveUp(_first(problems)) from None
    if any(len(name) > _LONGEST_NAME for name in lesson.names):
        raise GiveUp("a fingerprint or alias is too long")
    return _completed(lesson, "" if "title" in meta else rest)


def _front(lesson: Lesson) -> str:
    """The front matter; of one that must be too long only its texts, which is quicker."""
    values = lesson.model_dump(mode="json")
    texts = "".join(_texts_in(values))
    return texts if len(texts) > LIMIT else frontmatter.dumped({n: values[n] for n in FIELDS})


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(one)


def _plain(name: str, value: object) -> object:
    """Numbers where text belongs as text; keys that a newer version may have added left out."""
    if name in _TEXTS:
        return str(value) if isinstance(value, int | float) else value
    if not isinstance(value, list):
        return value
    if name in _NESTED:
        known = _NESTED[name].model_fields
        return [
            {key: one[key] for key in one if key in known} if isinstance(one, dict) else one
            for one in value
        ]
    return [str(one) if isinstance(one, int | float) else one for one in value]


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
    seen = {
        "date": lesson.first_detected,
        "night": lesson.run_id or lesson.first_detected.isoformat(),
        "occurrences": lesson.occurrences,
        "verdict": "new",
        "confidence": lesson.fix_confidence,
    }
    nights = [night.model_dump() for night in lesson.nights] or [seen]
    update = {"title": line(title, 120), "fingerprint": name, "nights": nights}
    return Lesson.model_validate({**lesson.model_dump(), **update})


def _first(problems: ValidationError) -> str:
    first = problems.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return line(f"{place}: {first['msg']}", 200)


def _without_edits(lesson: Lesson) -> Lesson:
    return lesson.model_copy(update={"edits": ()})


def _with_short_quotes(lesson: Lesson) -> Lesson:
    short = [cited.model_copy(update={"quote": cited.quote[:120]}) for cited in lesson.evidence]
    return lesson.model_copy(update={"evidence": tuple(short[:50])})


def _with_short_texts(lesson: Lesson) -> Lesson:
    """Every text and list bounded, so that nothing can pass the limit any more."""
    texts = {name: clean(getattr(lesson, name)[:1_000]) for name in _TEXTS - {"fingerprint"}}
    lists = ("aliases", "tags", "next_steps", "learnings", "related")
    cut = {name: tuple(clean(one[:120]) for one in getattr(lesson, name)[:10]) for name in lists}
    cited = tuple(
        one.model_copy(update={"path": one.path[:200], "quote": "", "digest": one.digest[:100]})
        for one in lesson.evidence[:10]
    )
    nights = tuple(
        seen.model_copy(update={"night": seen.night[:40], "verdict": seen.verdict[:20]})
        for seen in lesson.nights[-60:]
    )
    return lesson.model_copy(update={**texts, **cut, "evidence": cited, "nights": nights})


SHORTENINGS: tuple[tuple[str, Shortening], ...] = (
    ("the edits are left out of the front matter", _without_edits),
    ("quotes of evidence are cut", _with_short_quotes),
    ("long texts and lists are cut", _with_short_texts),
)
