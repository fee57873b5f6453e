"""Analyses of a night that found what was known: the work that grouping or memory could have saved.

Counted are analyses made tonight that name a cause with more than low confidence. One is a
duplicate if a better ranked one of them came to its cause, or if a lesson on another error, which
still fits the code, told that cause before. (The error's own lesson does not count: it is analysed
again only where something was new.) Two analyses have one cause where they make the same change,
rest on the same line as their cause (`publish.twins`), or tell the same story
(`patterns.cause_similarity`, by average); a lesson's cause is compared by what it tells, and by the
lines it rests on.
"""

from collections.abc import Sequence
from itertools import combinations

from nightwatch_core.memory.prior_analyses import is_fallback
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.report import Duplicate, Duplicates
from nightwatch_core.patterns.detection import (
    ALIKE,
    CauseTerms,
    Rarity,
    cause_terms,
    group_similar,
    similarity,
)
from nightwatch_core.publish.overlap import causes

MOST = 200  # analyses that are compared with each other
MOST_LESSONS = 500  # that they are compared with, the newest
NAMED = 20  # duplicates that are listed


def duplicates(analyses: Sequence[Analysis], lessons: Sequence[Lesson] = ()) -> Duplicates | None:
    """Count the duplicates among ranked `analyses`; None where there is nothing to be one of.

    `lessons` may hold tonight's own.
    """
    judged = [analysis for analysis in analyses if _is_judged(analysis)][:MOST]
    if not judged:
        return None
    own = frozenset(name for item in judged for name in (item.fingerprint, *item.case.aliases))
    others = [lesson for lesson in lessons if _stands(lesson) and own.isdisjoint(lesson.names)][
        -MOST_LESSONS:
    ]
    terms = [_of_analysis(item) for item in judged]
    told = [_of_lesson(other) for other in others]
    rarity = Rarity((*terms, *told))
    pairs = _of_lessons(judged, terms, others, told, rarity) | _of_tonight(judged, terms, rarity)
    listed = tuple(pairs[at] for at in sorted(pairs))
    return Duplicates(
        judged=len(judged),
        count=len(listed),
        of_lessons=sum(item.is_lesson for item in listed),
        listed=listed[:NAMED],
    )


def _is_judged(analysis: Analysis) -> bool:
    fresh = analysis.ending.kind != "reused" and not is_fallback(analysis)
    told = analysis.has_cause and analysis.root_cause.strip() and not analysis.misfit
    return bool(fresh and told and analysis.confidence != "low")


def _stands(lesson: Lesson) -> bool:
    return lesson.has_cause and not lesson.stale and not lesson.superseded_by


def _of_tonight(
    judged: list[Analysis], terms: list[CauseTerms], rarity: Rarity
) -> dict[int, Duplicate]:
    alike = {
        (combination, other): similarity(terms[combination], terms[other], rarity)
        for combination, other in combinations(range(len(judged)), 2)
    }
    place = {analysis.fingerprint: at for at, analysis in enumerate(judged)}
    first = list(range(len(judged)))  # of each one's group
    signed = (tuple(place[item.fingerprint] for item in cause) for cause in causes(judged))
    for group in (*group_similar(len(judged), alike), *signed):
        roots = {first[at] for at in group}
        first = [min(roots) if root in roots else root for root in first]
    return {
        at: Duplicate(fingerprint=judged[at].fingerprint, same_as=judged[root].fingerprint)
        for at, root in enumerate(first)
        if root != at
    }


def _of_lessons(
    judged: list[Analysis],
    terms: list[CauseTerms],
    lessons: list[Lesson],
    told: list[CauseTerms],
    rarity: Rarity,
) -> dict[int, Duplicate]:
    pairs = {}
    for at, term in enumerate(terms):
        scores = [similarity(term, terms, rarity) for terms in told]
        best = max(range(len(scores)), key=scores.__getitem__, default=None)
        if best is not None and scores[best] >= ALIKE:
            pairs[at] = Duplicate(
                fingerprint=judged[at].fingerprint,
                same_as=lessons[best].file or lessons[best].fingerprint,
                is_lesson=True,
            )
    return pairs


def _of_analysis(analysis: Analysis) -> CauseTerms:
    return cause_terms(analysis.root_cause, ((e.path, e.line) for e in analysis.evidence if e.path))


def _of_lesson(lesson: Lesson) -> CauseTerms:
    return cause_terms(lesson.root_cause, ((e.path, e.line) for e in lesson.evidence if e.path))
