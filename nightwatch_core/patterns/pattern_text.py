"""A pattern as a Markdown document, and back; what people write under "## Notes" is kept.

Documents come from people, too: those need no front matter, and hold what they hold. But what a
document says in front matter must be what a pattern holds, or its reader is told what is wrong.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import get_args

from nightwatch_core.code.suspects import proved_change
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.recall import names_of_case as names
from nightwatch_core.memory.recall import seed_tags
from nightwatch_core.models.analysis import FELL_BACK, Analysis
from nightwatch_core.models.knowledge import Lesson, Pattern, PatternEntry, PatternType
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import block, code_span, line, markdown

NOTES = "\n## Notes\n"
_MOST_LISTED, _MOST_NIGHTS, _MOST_REASONS = 50, 60, 10
_LONGEST_TEXT, _LONGEST_NOTES = 2_000, 1_000
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def pattern_document(pattern: Pattern, before: str = "") -> str:
    """The pattern's document; `before` is the one it replaces, whose notes are taken over."""
    rows = "\n".join(f"- {markdown(reason, 200)}" for reason in pattern.because[:_MOST_REASONS])
    reasons = f"## Because\n\n{rows}" if rows else ""
    parts = (
        f"# {markdown(pattern.title, 120)}",
        markdown(pattern.description, _LONGEST_TEXT),
        f"**Suggestion:** {markdown(pattern.suggestion, _LONGEST_TEXT)}"
        if pattern.suggestion
        else "",
        reasons,
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
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise GiveUp(f"pattern: `{name}` is no list of texts: write one `- text` a line")
    return tuple(item[:most] for item in value[:_MOST_LISTED])


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
    return tuple(sorted({_night(item) for item in value[-_MOST_NIGHTS:]}))


def _night(value: object) -> date:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise GiveUp("pattern: `nights` is no list of dates: write `- 2030-05-01`")
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise GiveUp(f"pattern: `nights` holds a date that is none: {error}") from error


# Who is in a pattern, counted once: cases under all of their names, and lessons over nights.

RECENT = timedelta(days=30)  # a lesson not seen for longer than this is history
MOST_MEMBERS = 50
_LONGEST_TAG = 40  # characters
SOLVED = "verified"  # the outcome of a fix that was measured and works


def recent_lessons(lessons: tuple[Lesson, ...]) -> tuple[Lesson, ...]:
    """Lessons seen within 30 days of the newest sighting of all."""
    last = [
        max((s.date for s in lesson.nights), default=lesson.first_detected) for lesson in lessons
    ]
    newest = max(last, default=date.min)
    return tuple(
        lesson for lesson, day in zip(lessons, last, strict=True) if newest - day <= RECENT
    )


def open_lessons(lessons: tuple[Lesson, ...]) -> tuple[Lesson, ...]:
    """Recent lessons that nothing replaced, and whose fix was not yet seen to work."""
    return tuple(
        lesson
        for lesson in recent_lessons(lessons)
        if not lesson.superseded_by and lesson.outcome != SOLVED
    )


def count_nights(lessons: Iterable[Lesson]) -> int:
    """On how many dates any of the lessons was seen."""
    return len(dates_seen(lessons))


def dates_seen(lessons: Iterable[Lesson]) -> tuple[date, ...]:
    """Return the dates on which any of the lessons was seen, oldest first."""
    return tuple(sorted({seen.date for lesson in lessons for seen in lesson.nights}))


def by_error(lessons: Iterable[Lesson]) -> list[list[Lesson]]:
    """Lessons with a name in common are about one error, however many documents it has."""
    held: dict[int, list[Lesson]] = {}
    group_of: dict[str, int] = {}
    for number, lesson in enumerate(lessons):
        joined = sorted({group_of[name] for name in lesson.names if name in group_of})
        held[number] = [*(item for group in joined for item in held.pop(group)), lesson]
        group_of |= {name: number for item in held[number] for name in item.names}
    return list(held.values())


def all_occurrences(lessons: Iterable[Lesson]) -> int:
    """Occurrences on all nights; an error of several documents counts once a night."""
    return sum(_of_one_error(held) for held in by_error(lessons))


def _of_one_error(lessons: Iterable[Lesson]) -> int:
    most: dict[tuple[date, str], int] = {}
    for seen in (seen for lesson in lessons for seen in lesson.nights):
        night = (seen.date, seen.night)
        most[night] = max(most.get(night, 0), seen.occurrences)
    return sum(most.values())


class CaseNames:
    """The names that lessons give to the cases of tonight."""

    def __init__(self, lessons: Iterable[Lesson]) -> None:
        self._own = {name: lesson.fingerprint for lesson in lessons for name in lesson.aliases}
        self._own |= {lesson.fingerprint: lesson.fingerprint for lesson in lessons}

    def name(self, analysis: Analysis) -> str:
        """The lesson's fingerprint, which stays when another group leads the case tonight."""
        of_case = (analysis.fingerprint, *sorted(names(analysis.case)))
        return next(
            (self._own[item] for item in of_case if item in self._own), analysis.fingerprint
        )


def occurrences_tonight(cases: Iterable[Analysis]) -> int:
    """Of tonight; a group that stands in two cases counts once."""
    groups = {group.fingerprint: group for case in cases for group in case.case.groups}
    return sum(group.occurrences for group in groups.values())


def pattern_of_cases(
    title: str,
    cases: list[Analysis],
    known: CaseNames,
    *,
    description: str,
    suggestion: str,
    because: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> Pattern:
    """A pattern of cases of one night; the title holds no number, so that it stays the same."""
    titles = "; ".join(line(case.case.title, 120) for case in cases[:5])
    more = f" and {len(cases) - 5} more" if len(cases) > 5 else ""
    return Pattern(
        title=line(title, 120),
        description=f"{line(description, 300)} {titles}{more}.",
        pattern_type="systemic_issue",
        error_classes=most_frequent(case.case.leader.error_class for case in cases),
        modules=most_frequent(map(module, cases)),
        occurrences=occurrences_tonight(cases),
        suggestion=line(suggestion, 400),
        fingerprints=tuple(dict.fromkeys(map(known.name, cases)))[:MOST_MEMBERS],
        tags=tags or shared_tags(normalised_tags(case) for case in cases),
        because=tuple(line(reason, 200) for reason in because),
    )


def count_errors(cases: Iterable[Analysis], known: CaseNames) -> int:
    """Count the errors of the cases under all their names."""
    return len({known.name(case) for case in cases})


def is_confident(analysis: Analysis) -> bool:
    """Tell whether the analysis is more than a guess."""
    return analysis.confidence != "low"


def module(analysis: Analysis) -> str:
    """The file a case leads to, its transaction where no line of it was found in the code."""
    cited = next((e.path for e in analysis.evidence if e.verified), "")
    return cited or analysis.case.leader.transaction


def first_places(cases: list[Analysis]) -> str:
    """Return the first three places of the cases, in a line."""
    return ", ".join(most_frequent(map(module, cases))[:3]) or "these errors"


def shared_change(cases: list[Analysis]) -> str:
    """The one change that all cases were traced to, in brackets; empty where there is none."""
    changes = {proved_change(case) for case in cases}
    change = changes.pop() if len(changes) == 1 else ""
    return f" (came with {change})" if change else ""


def shared_tags(tags: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """At most ten tags that all have."""
    sets = [set(tag) for tag in tags]
    return tuple(sorted(set.intersection(*sets)))[:10] if sets else ()


def most_frequent(texts: Iterable[str]) -> tuple[str, ...]:
    """At most twenty short lines, each once, the most frequent first."""
    counted = Counter(line(text, 200) for text in texts if text.strip())
    return tuple(text for text, _ in counted.most_common(20))


def normalised_tags(analysis: Analysis) -> tuple[str, ...]:
    """Return the analysis's tags in one spelling: short, lowercase, with hyphens."""
    kept = (tag for tag in analysis.tags if tag.strip() and tag != FELL_BACK)
    return tuple(line(tag, _LONGEST_TAG).lower().replace(" ", "-") for tag in kept)


def telling_tags(analysis: Analysis) -> frozenset[str]:
    """The tags that are no words of the case's class or transaction, however they are spelt."""
    leader = analysis.case.leader
    names = {_letters(word) for word in seed_tags(leader.error_class, leader.transaction)}
    return frozenset(tag for tag in normalised_tags(analysis) if _letters(tag) not in names)


def _letters(text: str) -> str:
    """Return a word's letters in lower case.

    >>> _letters("Rate-Missing")
    'ratemissing'
    """
    return "".join(char for char in text.lower() if char.isalnum())
