"""What several errors, or several nights, have in common. Told to people; nothing acts on it."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from itertools import combinations

from nightwatch_core.analysis_tags import own_tags, telling_tags
from nightwatch_core.blaming import proved_change
from nightwatch_core.escaping import line
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.pattern import Pattern

MOST = 10
NIGHTS = 3  # on which a class has to come back
RECENT = timedelta(days=30)  # a lesson not seen for longer than this is history
SHARING = 3  # cases that have to share their tags
ROLL_BACK = 2  # cases of some confidence before anybody is told to roll back
# Tags by which an analyst says that the cause is outside the code and passes by itself.
TRANSIENT_TAGS = ("transient", "external-service", "network")
_OUTSIDE = frozenset(TRANSIENT_TAGS)
_WITHIN = {"race-condition", "database-lock"}  # passes by itself too, but between own runs
_MOST_PAIRS = 200  # analyses compared with each other

Strategy = Callable[[tuple[Analysis, ...], tuple[Lesson, ...]], list[Pattern]]


def same_place(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> list[Pattern]:
    """Several cases of tonight whose evidence is the same line."""
    groups: dict[str, list[Analysis]] = defaultdict(list)
    for analysis in filter(_founded, analyses):
        for place in {f"{one.path}:{one.line}" for one in analysis.evidence if one.path}:
            groups[place].append(analysis)
    return [
        _pattern(
            f"One cause in {place}",
            cases,
            description=f"{len(cases)} errors of one night lead to the same line.",
            suggestion=f"Fix {place} first{_shared_suspect(cases)}: {_best(cases).root_cause}",
        )
        for place, cases in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        if len(cases) > 1
    ]


def same_change(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> list[Pattern]:
    """Several cases of tonight that were traced to a commit of one merged change."""
    groups: dict[str, list[Analysis]] = defaultdict(list)
    for analysis in analyses:
        if change := proved_change(analysis):
            groups[change].append(analysis)
    return [
        _pattern(
            f"One change behind several errors: {change}",
            cases,
            description=f"{len(cases)} errors of one night are traced to {change}.",
            suggestion=f"Review {change}{_or_roll_back(cases)}.",
        )
        for change, cases in groups.items()
        if len(cases) > 1
    ]


def recurring_class(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> list[Pattern]:
    """A class that lessons saw on three nights or more, the last of them not long ago."""
    groups: dict[str, list[Lesson]] = defaultdict(list)
    for lesson in recent(lessons):
        groups[lesson.error_class].append(lesson)
    found = ((name, known, nights(known)) for name, known in groups.items())
    return [
        Pattern(
            title=line(f"{name} keeps coming back", 120),
            description=f"Seen on {count} nights in {_places(known)}.",
            pattern_type="recurring_error",
            error_classes=(line(name, 200),),
            modules=_unique(one.module or one.transaction for one in known),
            occurrences=sum(seen.occurrences for one in known for seen in one.nights),
            suggestion=_against_recurrence(known),
            fingerprints=tuple(one.fingerprint for one in known),
            tags=_shared(one.tags for one in known),
        )
        for name, known, count in found
        if count >= NIGHTS
    ]


def same_tags(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> list[Pattern]:
    """Three cases of tonight or more that share two tags or more, largest groups first.

    Words of a case's class or transaction are names, which say nothing about the cause.
    """
    founded = [one for one in analyses if _founded(one)][:_MOST_PAIRS]
    tagged = [(one, telling_tags(one) - _OUTSIDE) for one in founded]
    themes = {one & other for (_, one), (_, other) in combinations(tagged, 2)}
    groups = {
        theme: [analysis for analysis, tags in tagged if theme <= tags]
        for theme in themes
        if len(theme) > 1
    }
    groups = {theme: cases for theme, cases in groups.items() if len(cases) >= SHARING}
    ranked = sorted(groups, key=lambda theme: (-len(groups[theme]), -len(theme), sorted(theme)))
    return [
        _pattern(
            f"Shared theme: {', '.join(sorted(theme))}",
            groups[theme],
            description=f"{len(groups[theme])} errors of one night share these tags.",
            suggestion=f"Look for one remedy in {_where(groups[theme])}.",
            tags=tuple(sorted(theme)),
        )
        for theme in ranked
    ]


def all_transient(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> list[Pattern]:
    """Cases of tonight that have no fix because what failed is outside the code.

    That is told by the error itself, however little is known about the cause.
    """
    told = [(one, {*own_tags(one)}) for one in analyses if not one.has_fix]
    cases = [one for one, tags in told if _OUTSIDE & tags and not _WITHIN & tags]
    if len(cases) < 2:
        return []
    found = _pattern(
        "Errors from outside the code",
        cases,
        description=f"{len(cases)} errors of one night have no fix: what failed is outside.",
        suggestion=f"Bound the calls in {_where(cases)} with timeouts, retries and a fallback.",
    )
    return [found.model_copy(update={"pattern_type": "transient_noise"})]


STRATEGIES: tuple[Strategy, ...] = (
    same_place,
    same_change,
    recurring_class,
    same_tags,
    all_transient,
)


def detect(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> tuple[Pattern, ...]:
    """Patterns in tonight's analyses and in the lessons, most occurrences first, at most 10.

    Where two strategies of one night find the same errors, or one finds a part of what an earlier
    one found, only the earlier one speaks.
    """
    found: list[Pattern] = []
    for strategy in STRATEGIES:
        for pattern in strategy(analyses, lessons):
            if not any(_says_no_more(pattern, told) for told in found):
                found.append(pattern)
    ranked = sorted(found, key=lambda pattern: (-pattern.occurrences, pattern.title))
    return tuple(ranked[:MOST])


def recent(lessons: tuple[Lesson, ...]) -> tuple[Lesson, ...]:
    """Lessons seen within 30 days of the newest sighting of all."""
    last = [max((s.date for s in one.nights), default=one.first_detected) for one in lessons]
    newest = max(last, default=date.min)
    return tuple(one for one, day in zip(lessons, last, strict=True) if newest - day <= RECENT)


def nights(lessons: Iterable[Lesson]) -> int:
    """On how many dates any of the lessons was seen."""
    return len({seen.date for lesson in lessons for seen in lesson.nights})


def _says_no_more(pattern: Pattern, told: Pattern) -> bool:
    """Whether its errors were told already; only a history of nights is news of its own."""
    if pattern.pattern_type != told.pattern_type or told.pattern_type == "recurring_error":
        return False
    return set(pattern.fingerprints) <= set(told.fingerprints)


def _pattern(
    title: str,
    cases: list[Analysis],
    *,
    description: str,
    suggestion: str,
    tags: tuple[str, ...] = (),
) -> Pattern:
    names = "; ".join(line(one.case.title, 120) for one in cases[:5])
    more = f" and {len(cases) - 5} more" if len(cases) > 5 else ""
    return Pattern(
        title=line(title, 120),
        description=f"{line(description, 300)} {names}{more}.",
        pattern_type="systemic_issue",
        error_classes=_unique(one.case.leader.error_class for one in cases),
        modules=_unique(_module(one) for one in cases),
        occurrences=sum(one.case.occurrences for one in cases),
        suggestion=line(suggestion, 400),
        fingerprints=tuple(one.fingerprint for one in cases),
        tags=tags or _shared(own_tags(one) for one in cases),
    )


def _founded(analysis: Analysis) -> bool:
    """Whether the analysis is more than a guess."""
    return analysis.confidence != "low"


def _or_roll_back(cases: list[Analysis]) -> str:
    sure = sum(map(_founded, cases)) >= ROLL_BACK
    return ", and roll it back if no fix is at hand" if sure else ""


def _shared_suspect(cases: list[Analysis]) -> str:
    changes = {proved_change(one) for one in cases}
    change = changes.pop() if len(changes) == 1 else ""
    return f" (came with {change})" if change else ""


def _module(analysis: Analysis) -> str:
    return (
        next((e.path for e in analysis.evidence if e.path), "") or analysis.case.leader.transaction
    )


def _best(cases: list[Analysis]) -> Analysis:
    return max(cases, key=lambda one: (one.score, one.has_fix))


def _where(cases: list[Analysis]) -> str:
    return ", ".join(_unique(_module(one) for one in cases)[:3]) or "these errors"


def _places(lessons: list[Lesson]) -> str:
    places = _unique(one.module or one.transaction for one in lessons) or ("unknown places",)
    return ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")


def _against_recurrence(lessons: list[Lesson]) -> str:
    worst = max(lessons, key=lambda one: (len(one.nights), one.occurrences))
    issue = f" (issue #{worst.issue_number})" if worst.issue_number else ""
    place = worst.module or worst.transaction or worst.error_class
    if worst.has_fix:
        return line(f"A fix for {place} is known{issue} and not in production: ship it.", 400)
    return line(f"Give {place} to its owner{issue}: {worst.root_cause}", 400)


def _shared(tags: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    sets = [set(one) for one in tags]
    return tuple(sorted(set.intersection(*sets)))[:10] if sets else ()


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line(text, 200) for text in texts if text.strip()))[:20]
