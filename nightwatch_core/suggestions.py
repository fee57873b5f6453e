"""Ignore rules that a person might want: argued with numbers, never added by us.

A class is never called noise because of its name: of the errors that word lists of "transient"
classes would hide, developers had fixed two in three.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from nightwatch_core.escaping import line
from nightwatch_core.ignoring import ignored_by
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules, IgnoreSuggestion, MatchMode
from nightwatch_core.patterns import recent

NIGHTS = 3
MOST = 10
TRANSIENT = "transient"  # the tag an analyst gives
_SHORTEST_PREFIX, _LONGEST_PREFIX = 16, 120
_FIXED_START = re.compile(r"[^\d'\"`<>{}\[\]()#=@/\\]*")  # of a message: up to what may vary


def suggest(
    analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...], rules: IgnoreRules
) -> tuple[IgnoreSuggestion, ...]:
    """Errors seen on three nights or more, without a fix, that are transient or stay unexplained.

    An error counts as unexplained when its confidence was low on every night. Nothing is suggested
    that a rule covers, that would hide an error with a fix, or that was not seen in the last month.
    Most occurrences first, at most 10.
    """
    fixed = {name for one in analyses if one.has_fix for name in _names(one)}
    tagged = {name for one in analyses if _is_transient(one.tags) for name in _names(one)}
    known = recent(lessons)
    noise = [
        lesson
        for lesson in known
        if not (lesson.has_fix or lesson.pr_number or lesson.names & fixed)
        and len({seen.date for seen in lesson.nights}) >= NIGHTS
        and (_is_transient(lesson.tags) or lesson.names & tagged or _always_low(lesson))
        and not ignored_by(rules.rules, _as_group(lesson))
    ]
    return tuple(_suggested(noise, known, tagged))[:MOST]


def _suggested(
    noise: list[Lesson], known: tuple[Lesson, ...], tagged: set[str]
) -> Iterable[IgnoreSuggestion]:
    groups: dict[tuple[str, MatchMode], list[Lesson]] = defaultdict(list)
    for lesson in noise:
        if rule := _narrowest(lesson, noise, known):
            groups[rule].append(lesson)
    for (pattern, match), covered in sorted(groups.items(), key=lambda item: -_times(item[1])):
        transient = any(_is_transient(one.tags) or one.names & tagged for one in covered)
        yield IgnoreSuggestion(
            pattern=pattern,
            match=match,
            reason="passes by itself" if transient else "no cause was found in the code",
            evidence=_evidence(covered),
        )


def _narrowest(
    lesson: Lesson, noise: list[Lesson], known: tuple[Lesson, ...]
) -> tuple[str, MatchMode] | None:
    """The first rule that hides nothing but noise: the message's fixed start, else the class."""
    start = _FIXED_START.match(lesson.message[:_LONGEST_PREFIX])
    prefix = start.group().strip() if start else ""
    candidates: tuple[tuple[str, MatchMode], ...] = (
        (prefix if len(prefix) >= _SHORTEST_PREFIX else "", "prefix"),
        (lesson.error_class, "exact"),
    )
    harmless = {one.fingerprint for one in noise}
    for pattern, match in candidates:
        rule = IgnoreRule(pattern=pattern, match=match)
        hidden = [one for one in known if ignored_by((rule,), _as_group(one))]
        if pattern and hidden and all(one.fingerprint in harmless for one in hidden):
            return pattern, match
    return None


def _evidence(lessons: list[Lesson]) -> str:
    dates = sorted({seen.date for one in lessons for seen in one.nights})
    low = sum(seen.confidence == "low" for one in lessons for seen in one.nights)
    told = sum(len(one.nights) for one in lessons)
    names = "; ".join(_as_group(one).title for one in lessons[:3])
    return line(
        f"seen on {len(dates)} nights from {dates[0]} to {dates[-1]}, {_times(lessons)} times, "
        f"no fix is known; confidence was low on {low} of {told} sightings: {names}",
        600,
    )


def _always_low(lesson: Lesson) -> bool:
    return bool(lesson.nights) and all(seen.confidence == "low" for seen in lesson.nights)


def _is_transient(tags: tuple[str, ...]) -> bool:
    return TRANSIENT in (tag.strip().lower() for tag in tags)


def _times(lessons: list[Lesson]) -> int:
    return sum(seen.occurrences for one in lessons for seen in one.nights)


def _names(analysis: Analysis) -> tuple[str, ...]:
    return (analysis.fingerprint, *analysis.case.aliases)


def _as_group(lesson: Lesson) -> ErrorGroup:
    return ErrorGroup(
        fingerprint=lesson.fingerprint,
        source="knowledge",
        error_class=lesson.error_class,
        transaction=lesson.transaction,
        message=lesson.message,
    )
