"""A pattern as a Markdown document, and back; notes of people under "## Notes" are kept.

Documents come from people, too: those need no front matter. But front matter must hold what a
pattern holds, or its reader learns what is wrong.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta

from pydantic import ValidationError

from nightwatch_core.code.suspects import proved_change
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.lesson_text import LARGEST, first_problem, template
from nightwatch_core.memory.occurrences import last_seen
from nightwatch_core.memory.recall import names_of_case as names
from nightwatch_core.memory.recall import seed_tags
from nightwatch_core.models.analysis import FELL_BACK, Analysis
from nightwatch_core.models.knowledge import Lesson, Pattern, PatternEntry
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import block, line

NOTES = "\n## Notes\n"
_KEYS = (  # of the front matter, in their order
    "title", "pattern_type", "rule", "description", "occurrences", "suggestion", "because",
    "error_classes", "modules", "tags", "fingerprints",
)  # fmt: skip
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
    body = template("pattern.md.j2").render(of=pattern).strip("\n")
    _, found, notes = before.partition(NOTES)
    kept = f"\n{NOTES}{notes.rstrip()}\n" if found else "\n"
    return frontmatter.render(meta, f"\n{body}{kept}")


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
    written, _, notes = f"\n{body}".partition(NOTES)
    values = {name: meta[name] for name in (*_KEYS, "nights") if meta.get(name) is not None}
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
    return found.model_copy(
        update={
            "title": found.title or line(name, 200),
            "description": f"{description}\n\nNotes: {noted}".strip() if noted else description,
            "nights": tuple(sorted(set(found.nights[-_MOST_NIGHTS:]))),
        }
    )


def _bounded(pattern: Pattern) -> Pattern:
    lists = {
        name: tuple(text[:longest] for text in getattr(pattern, name)[:_MOST_LISTED])
        for name, longest in _LISTS.items()
    }
    return pattern.model_copy(
        update={
            **lists,
            "title": line(pattern.title, 200),
            "description": pattern.description[:_LONGEST_TEXT],
            "suggestion": pattern.suggestion[:_LONGEST_TEXT],
            "rule": pattern.rule[:60],
            "because": lists["because"][:_MOST_REASONS],
        }
    )


def pattern_entry(text: str, file: str) -> PatternEntry:
    """Return a pattern document's line in the index; raises `GiveUp` as `pattern_of`.

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


# Who is in a pattern, counted once: cases under all of their names, and lessons over nights.

RECENT = timedelta(days=30)  # a lesson not seen for longer than this is history
MOST_MEMBERS = 50
_LONGEST_TAG = 40  # characters
SOLVED = "verified"  # the outcome of a fix that was measured and works


def recent_lessons(lessons: tuple[Lesson, ...]) -> tuple[Lesson, ...]:
    """Return the lessons seen within 30 days of the newest sighting of all."""
    newest = max(map(last_seen, lessons), default=date.min)
    return tuple(lesson for lesson in lessons if newest - last_seen(lesson) <= RECENT)


def open_lessons(lessons: tuple[Lesson, ...]) -> tuple[Lesson, ...]:
    """Return recent lessons whose fix was not verified."""
    return tuple(lesson for lesson in recent_lessons(lessons) if lesson.outcome != SOLVED)


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
    most: Counter[tuple[int, date, str]] = Counter()
    for number, held in enumerate(by_error(lessons)):
        for seen in (seen for lesson in held for seen in lesson.nights):
            night = (number, seen.date, seen.night)
            most[night] = max(most[night], seen.occurrences)
    return most.total()


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


def pattern_of_cases(
    title: str,
    cases: list[Analysis],
    case_names: CaseNames,
    *,
    description: str,
    suggestion: str,
    because: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> Pattern:
    """A pattern of cases of one night; the title holds no number, so that it stays the same."""
    groups = {group.fingerprint: group for case in cases for group in case.case.groups}
    titles = "; ".join(line(case.case.title, 120) for case in cases[:5])
    more = f" and {len(cases) - 5} more" if len(cases) > 5 else ""
    return Pattern(
        title=line(title, 120),
        description=f"{line(description, 300)} {titles}{more}.",
        pattern_type="systemic_issue",
        error_classes=most_frequent(case.case.leader.error_class for case in cases),
        modules=most_frequent(map(module, cases)),
        occurrences=sum(group.occurrences for group in groups.values()),
        suggestion=line(suggestion, 400),
        fingerprints=tuple(dict.fromkeys(map(case_names.name, cases)))[:MOST_MEMBERS],
        tags=tags or shared_tags(normalised_tags(case) for case in cases),
        because=tuple(line(reason, 200) for reason in because),
    )


def count_errors(cases: Iterable[Analysis], case_names: CaseNames) -> int:
    """Count the errors of the cases under all of their names."""
    return len({case_names.name(case) for case in cases})


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
