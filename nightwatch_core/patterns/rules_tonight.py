"""Rules that look at the cases of one night."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import TypeVar

from nightwatch_core.code.named_change import proved_change
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.patterns.cause_similarity import (
    CauseTerms,
    Rarity,
    cause_terms,
    group_similar,
    shared_words,
    similarity,
)
from nightwatch_core.patterns.members import (
    CaseNames,
    count_errors,
    first_places,
    is_confident,
    normalised_tags,
    pattern_of_cases,
    shared_change,
    telling_tags,
)
from nightwatch_core.text.escaping import line

SHARING = 3  # cases that have to share their tags
ROLL_BACK = 2  # cases of some confidence before anybody is told to roll back
# Tags by which an analyst says that the cause is outside the code and passes by itself.
TRANSIENT_TAGS = ("transient", "external-service", "network")
_OUTSIDE = frozenset(TRANSIENT_TAGS)
_WITHIN = {"race-condition", "database-lock"}  # passes by itself too, but between own runs
_MOST_PAIRS = 200  # analyses compared with each other
_MOST_OTHERS = 500  # lessons whose causes say which words are rare

Place = TypeVar("Place", str, tuple[str, int])  # a file, or a line of it


def same_cause(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> list[Pattern]:
    """Several cases of tonight whose causes tell one story, largest groups first.

    They are compared by what they say and by the lines they rest on (see `similarity`). Guesses do
    not count, and neither do causes outside the code: those are a pattern of their own.
    """
    case_names = CaseNames(lessons)
    cases = [one for one in analyses if is_confident(one) and not _is_outside(one)][:_MOST_PAIRS]
    causes = [_cause(one) for one in cases]
    others = [one for one in lessons if one.names.isdisjoint(map(case_names.name, cases))]
    rarity = Rarity((*causes, *(cause_terms(one.root_cause) for one in others[-_MOST_OTHERS:])))
    alike = {
        (one, other): similarity(causes[one], causes[other], rarity)
        for one, other in combinations(range(len(cases)), 2)
    }
    patterns = [
        _one_cause([cases[n] for n in group], [causes[n] for n in group], rarity, case_names)
        for group in group_similar(len(cases), alike)
        if count_errors((cases[n] for n in group), case_names) > 1
    ]
    return sorted(_with_own_titles(patterns), key=lambda one: (-len(one.fingerprints), one.title))


def _one_cause(
    cases: list[Analysis], causes: list[CauseTerms], rarity: Rarity, case_names: CaseNames
) -> Pattern:
    words = ", ".join(shared_words(causes, rarity))
    cited, count = _most_cited([one.lines for one in causes])
    file, in_file = _most_cited([one.files for one in causes])
    place = f"{cited[0]}:{cited[1]}" if cited else file or ""
    title = f" in {place}" if cited else f" in {place}: {words}" if place else f": {words}"
    because = (
        f"{count or in_file} of {len(cases)} rest on {place}" if place else "",
        f"all causes speak of {words}" if words else "",
    )
    best = max(cases, key=lambda one: (one.score, one.has_fix))
    remedy = f"Fix {place or words or first_places(cases)} first{shared_change(cases)}"
    return pattern_of_cases(
        f"One cause{title}" if place or words else f"One cause in {first_places(cases)}",
        cases,
        case_names,
        description=f"{len(cases)} errors of one night tell the same cause.",
        suggestion=f"{remedy}: {best.root_cause}",
        because=tuple(filter(None, because)),
    )


def _with_own_titles(patterns: list[Pattern]) -> list[Pattern]:
    """Two causes in one line are two patterns: their titles say what else they speak of."""
    used = Counter(one.title for one in patterns)
    return [
        one.model_copy(update={"title": line(f"{one.title} ({one.because[-1]})", 120)})
        if used[one.title] > 1
        else one
        for one in patterns
    ]


def _cause(analysis: Analysis) -> CauseTerms:
    lines = ((one.path, one.line) for one in analysis.evidence if one.verified)
    return cause_terms(analysis.root_cause, lines)


def _most_cited(cited: Sequence[frozenset[Place]]) -> tuple[Place | None, int]:
    """The place that most of the cases cite; None where not two, and half of them, cite one."""
    counted = Counter(place for one in cited for place in one)
    place, count = min(counted.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))
    return (place, count) if count > 1 and 2 * count >= len(cited) else (None, 0)


def same_change(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> list[Pattern]:
    """Several cases of tonight that were traced to a commit of one merged change."""
    case_names = CaseNames(lessons)
    traced: dict[str, list[Analysis]] = defaultdict(list)
    for analysis in analyses:
        if change := proved_change(analysis):
            traced[change].append(analysis)
    return [
        pattern_of_cases(
            f"One change behind several errors: {change}",
            cases,
            case_names,
            description=f"{len(cases)} errors of one night are traced to {change}.",
            suggestion=f"Review {change}{_or_roll_back(cases)}.",
            because=(f"each analysis names a commit of {change}",),
        )
        for change, cases in traced.items()
        if count_errors(cases, case_names) > 1
    ]


def same_tags(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> list[Pattern]:
    """Three cases of tonight or more that share two tags or more, largest groups first.

    Words of a case's class or transaction are names, which say nothing about the cause.
    """
    case_names = CaseNames(lessons)
    confident = [one for one in analyses if is_confident(one)][:_MOST_PAIRS]
    tagged = [(one, telling_tags(one) - _OUTSIDE) for one in confident]
    themes = {one & other for (_, one), (_, other) in combinations(tagged, 2)}
    by_theme = {
        theme: cases
        for theme in themes
        if len(theme) > 1
        and (cases := [one for one, tags in tagged if theme <= tags])
        and count_errors(cases, case_names) >= SHARING
    }
    ranked = sorted(by_theme, key=lambda theme: (-len(by_theme[theme]), -len(theme), sorted(theme)))
    return [
        pattern_of_cases(
            f"Shared theme: {', '.join(sorted(theme))}",
            by_theme[theme],
            case_names,
            description=f"{len(by_theme[theme])} errors of one night share these tags.",
            suggestion=f"Look for one remedy in {first_places(by_theme[theme])}.",
            because=(f"all are tagged {', '.join(sorted(theme))}",),
            tags=tuple(sorted(theme)),
        )
        for theme in ranked
    ]


def all_transient(analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...]) -> list[Pattern]:
    """Cases of tonight that have no fix because what failed is outside the code.

    That is told by the error itself, however little is known about the cause.
    """
    case_names = CaseNames(lessons)
    cases = [one for one in analyses if _is_outside(one)]
    if count_errors(cases, case_names) < 2:
        return []
    places = first_places(cases)
    tags = sorted({tag for one in cases for tag in normalised_tags(one)} & _OUTSIDE)
    pattern = pattern_of_cases(
        "Errors from outside the code",
        cases,
        case_names,
        description=f"{len(cases)} errors of one night have no fix: what failed is outside.",
        suggestion=f"Bound the calls in {places} with timeouts, retries and a fallback.",
        because=(f"none has a fix, and each is tagged {' or '.join(tags)}",),
    )
    return [pattern.model_copy(update={"pattern_type": "transient_noise"})]


def _is_outside(analysis: Analysis) -> bool:
    tags = {*normalised_tags(analysis)}
    return not analysis.has_fix and bool(_OUTSIDE & tags) and not _WITHIN & tags


def _or_roll_back(cases: list[Analysis]) -> str:
    sure = sum(map(is_confident, cases)) >= ROLL_BACK
    return ", and roll it back if no fix is at hand" if sure else ""
