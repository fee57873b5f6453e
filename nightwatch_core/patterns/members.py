"""Who is in a pattern, counted once: cases under all of their names, and lessons over nights."""

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta

from nightwatch_core.code.named_change import proved_change
from nightwatch_core.memory.recall.seed_score import names, seed_tags
from nightwatch_core.models.analysis import FELL_BACK, Analysis
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.text.escaping import line

RECENT = timedelta(days=30)  # a lesson not seen for longer than this is history
MOST_MEMBERS = 50
_LONGEST_TAG = 40  # characters
SOLVED = "verified"  # the outcome of a fix that was measured and works


def recent_lessons(lessons: tuple[Lesson, ...]) -> tuple[Lesson, ...]:
    """Lessons seen within 30 days of the newest sighting of all."""
    last = [max((s.date for s in one.nights), default=one.first_detected) for one in lessons]
    newest = max(last, default=date.min)
    return tuple(one for one, day in zip(lessons, last, strict=True) if newest - day <= RECENT)


def open_lessons(lessons: tuple[Lesson, ...]) -> tuple[Lesson, ...]:
    """Recent lessons that nothing replaced, and whose fix was not yet seen to work."""
    return tuple(
        one for one in recent_lessons(lessons) if not one.superseded_by and one.outcome != SOLVED
    )


def count_nights(lessons: Iterable[Lesson]) -> int:
    """On how many dates any of the lessons was seen."""
    return len(dates_seen(lessons))


def dates_seen(lessons: Iterable[Lesson]) -> tuple[date, ...]:
    """The dates on which any of the lessons was seen, oldest first."""
    return tuple(sorted({seen.date for lesson in lessons for seen in lesson.nights}))


def by_error(lessons: Iterable[Lesson]) -> list[list[Lesson]]:
    """Lessons with a name in common are about one error, however many documents it has."""
    held: dict[int, list[Lesson]] = {}
    group_of: dict[str, int] = {}
    for number, lesson in enumerate(lessons):
        joined = sorted({group_of[name] for name in lesson.names if name in group_of})
        held[number] = [*(one for group in joined for one in held.pop(group)), lesson]
        group_of |= {name: number for one in held[number] for name in one.names}
    return list(held.values())


def all_occurrences(lessons: Iterable[Lesson]) -> int:
    """Occurrences on all nights; an error of several documents counts once a night."""
    return sum(_of_one_error(held) for held in by_error(lessons))


def _of_one_error(lessons: Iterable[Lesson]) -> int:
    most: dict[tuple[date, str], int] = {}
    for seen in (seen for one in lessons for seen in one.nights):
        night = (seen.date, seen.night)
        most[night] = max(most.get(night, 0), seen.occurrences)
    return sum(most.values())


class CaseNames:
    """The names that lessons give to the cases of tonight."""

    def __init__(self, lessons: Iterable[Lesson]) -> None:
        """Keep whose name is whose."""
        self._own = {name: one.fingerprint for one in lessons for name in one.aliases}
        self._own |= {one.fingerprint: one.fingerprint for one in lessons}

    def name(self, analysis: Analysis) -> str:
        """The lesson's fingerprint, which stays when another group leads the case tonight."""
        of_case = (analysis.fingerprint, *sorted(names(analysis.case)))
        return next((self._own[one] for one in of_case if one in self._own), analysis.fingerprint)


def occurrences_tonight(cases: Iterable[Analysis]) -> int:
    """Of tonight; a group that stands in two cases counts once."""
    groups = {group.fingerprint: group for one in cases for group in one.case.groups}
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
    titles = "; ".join(line(one.case.title, 120) for one in cases[:5])
    more = f" and {len(cases) - 5} more" if len(cases) > 5 else ""
    return Pattern(
        title=line(title, 120),
        description=f"{line(description, 300)} {titles}{more}.",
        pattern_type="systemic_issue",
        error_classes=most_frequent(one.case.leader.error_class for one in cases),
        modules=most_frequent(map(module, cases)),
        occurrences=occurrences_tonight(cases),
        suggestion=line(suggestion, 400),
        fingerprints=tuple(dict.fromkeys(map(known.name, cases)))[:MOST_MEMBERS],
        tags=tags or shared_tags(normalised_tags(one) for one in cases),
        because=tuple(line(reason, 200) for reason in because),
    )


def count_errors(cases: Iterable[Analysis], known: CaseNames) -> int:
    """How many errors the cases are, under all of their names."""
    return len({known.name(one) for one in cases})


def is_confident(analysis: Analysis) -> bool:
    """Whether the analysis is more than a guess."""
    return analysis.confidence != "low"


def module(analysis: Analysis) -> str:
    """The file a case leads to, its transaction where no line of it was found in the code."""
    cited = next((e.path for e in analysis.evidence if e.verified), "")
    return cited or analysis.case.leader.transaction


def first_places(cases: list[Analysis]) -> str:
    """The first three places of the cases, in a line."""
    return ", ".join(most_frequent(map(module, cases))[:3]) or "these errors"


def shared_change(cases: list[Analysis]) -> str:
    """The one change that all cases were traced to, in brackets; empty where there is none."""
    changes = {proved_change(one) for one in cases}
    change = changes.pop() if len(changes) == 1 else ""
    return f" (came with {change})" if change else ""


def shared_tags(tags: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """At most ten tags that all have."""
    sets = [set(one) for one in tags]
    return tuple(sorted(set.intersection(*sets)))[:10] if sets else ()


def most_frequent(texts: Iterable[str]) -> tuple[str, ...]:
    """At most twenty short lines, each once, the most frequent first."""
    counted = Counter(line(text, 200) for text in texts if text.strip())
    return tuple(text for text, _ in counted.most_common(20))


def normalised_tags(analysis: Analysis) -> tuple[str, ...]:
    """The analysis's tags in one spelling: short, lowercase, with hyphens."""
    kept = (tag for tag in analysis.tags if tag.strip() and tag != FELL_BACK)
    return tuple(line(tag, _LONGEST_TAG).lower().replace(" ", "-") for tag in kept)


def telling_tags(analysis: Analysis) -> frozenset[str]:
    """The tags that are no words of the case's class or transaction, however they are spelt."""
    leader = analysis.case.leader
    names = {_letters(word) for word in seed_tags(leader.error_class, leader.transaction)}
    return frozenset(tag for tag in normalised_tags(analysis) if _letters(tag) not in names)


def _letters(text: str) -> str:
    """What is left of a word without case and signs.

    >>> _letters("Rate-Missing")
    'ratemissing'
    """
    return "".join(char for char in text.lower() if char.isalnum())
