"""Ignore rules that a person might want: argued with numbers, never added by us.

A class is never called noise because of its name: of the errors that word lists of "transient"
classes would hide, developers had fixed two in three. What counts is what nights have shown, so
every rule is tried on the nights that were, and only one that hides nothing but noise is suggested.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain

from nightwatch_core.intake.ignore_rules import ignored_by, matches
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules, IgnoreSuggestion
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns.ignore_suggestions.backtest import (
    NightGroups,
    backtest,
    is_steady,
    only_covered,
    rates,
    recoveries,
    tripwire,
)
from nightwatch_core.patterns.ignore_suggestions.narrowing import candidates
from nightwatch_core.patterns.ignore_suggestions.noise import (
    KNOWLEDGE,
    NIGHTS,
    TOO_FEW,
    NoiseEvidence,
    always_low,
    as_group,
    is_transient,
    noise_evidence,
    why_not_noise,
)
from nightwatch_core.text.escaping import line
from nightwatch_core.text.message_templates import message_template

MOST = 10
MOST_TRIED = 50  # errors for which a rule is sought, the most frequent ones
HOLDS = timedelta(days=30)  # how long a suggested rule holds
LOW, PASSES = "no cause was found in the code", "passes by itself"


def suggest_rules(
    report: RunReport,
    lessons: tuple[Lesson, ...],
    rules: IgnoreRules,
    nights: Sequence[NightGroups],
) -> tuple[IgnoreSuggestion, ...]:
    """Rules for errors seen on three nights or more, without a fix, that nobody can do much about.

    Such an error is unexplained (its confidence was low on every night), or an analyst who read the
    code calls it transient and it went away by itself twice at least. `nights` are those of
    `backtest.comparable_nights`; a rule has to prove itself there:

    - it hides the error on three nights or more, and its rate on none of them jumps,
    - it hides no error that later got a merged fix, or any fix, or that somebody is at,
    - everything else it hides is noise too, or the same failure at another place.

    Nothing is suggested that a rule covers which has not expired: one that does not hold tonight,
    because the error comes too often, is no reason for another. Each rule holds for 30 days, and up
    to a rate. Most occurrences first, at most 10.
    """
    evidence = noise_evidence(report, lessons, rules, nights)
    noise = [one for one in lessons if not why_not_noise(one, evidence)]
    noise.sort(key=lambda one: (-_times(one), one.fingerprint))
    by_rule: dict[IgnoreRule, list[Lesson]] = {}
    for lesson in noise[:MOST_TRIED]:
        if rule := _narrowest(lesson, noise, lessons, evidence):
            by_rule.setdefault(rule, []).append(lesson)
    suggestions = (_suggestion(rule, about, lessons, evidence) for rule, about in by_rule.items())
    ranked = sorted(suggestions, key=lambda one: (-one.backtest.occurrences, one.pattern))
    return tuple(ranked[:MOST])


def rule_from(suggestion: IgnoreSuggestion) -> IgnoreRule:
    """The rule as it would stand in ignore.yml."""
    return IgnoreRule(**suggestion.model_dump(exclude={"evidence", "backtest"}))


def _narrowest(
    lesson: Lesson, noise: list[Lesson], lessons: tuple[Lesson, ...], tonight: NoiseEvidence
) -> IgnoreRule | None:
    """The first rule, from narrow to wide, that proves itself on the nights that were."""
    names = lesson.names
    past = chain((g for night in tonight.nights for g in night.groups), map(as_group, lessons))
    alike = [group for group in past if group.error_class == lesson.error_class]
    own = [g for g in alike if not names.isdisjoint(g.names) and g.source != KNOWLEDGE]
    for rule in candidates(own, alike):
        if _proves_itself(rule, lesson, noise, lessons, tonight):
            return rule
    return None


def _proves_itself(
    rule: IgnoreRule,
    lesson: Lesson,
    noise: list[Lesson],
    lessons: tuple[Lesson, ...],
    tonight: NoiseEvidence,
) -> bool:
    names, nights = lesson.names, only_covered(rule, tonight.nights)
    if sum(any(not names.isdisjoint(g.names) for g in night.groups) for night in nights) < NIGHTS:
        return False
    if not is_steady(rates(rule, nights)) or backtest(rule, nights, lessons).fixed_later:
        return False
    taught = (group for one in lessons if matches(rule, group := as_group(one)))
    harmless = {name for one in noise for name in one.names}
    lesson_of = {name: one for one in lessons for name in one.names}
    return all(
        not harmless.isdisjoint(group.names)
        or _same_elsewhere(group, _known(group, lesson_of), lesson, tonight)
        for group in chain(*(night.groups for night in nights), taught)
    )


def _known(group: ErrorGroup, lesson_of: Mapping[str, Lesson]) -> Lesson | None:
    return next((lesson_of[name] for name in group.names if name in lesson_of), None)


def _same_elsewhere(
    group: ErrorGroup, known: Lesson | None, noise: Lesson, tonight: NoiseEvidence
) -> bool:
    """Whether a group is the noise's failure in another transaction, and nobody knows better."""
    if known is not None and why_not_noise(known, tonight) != TOO_FEW:
        return False
    if known is not None and not always_low(known):
        return False
    same = message_template(group.message) == message_template(noise.message)
    return same and group.error_class == noise.error_class


def _suggestion(
    rule: IgnoreRule, about: list[Lesson], lessons: tuple[Lesson, ...], tonight: NoiseEvidence
) -> IgnoreSuggestion:
    nights = only_covered(rule, tonight.nights)
    return IgnoreSuggestion(
        pattern=rule.pattern,
        match=rule.match,
        field=rule.field,
        reason=LOW if all(map(always_low, about)) else PASSES,
        evidence=_evidence(about, tonight),
        expires=tonight.today + HOLDS,
        unless_rate_above=tripwire(rates(rule, nights)),
        backtest=backtest(rule, nights, lessons),
    )


def _evidence(lessons: list[Lesson], tonight: NoiseEvidence) -> str:
    dates = sorted({seen.date for one in lessons for seen in one.nights})
    low = sum(seen.confidence == "low" for one in lessons for seen in one.nights)
    sightings = sum(len(one.nights) for one in lessons)
    names = "; ".join(as_group(one).title for one in lessons[:3])
    times = sum(map(_times, lessons))
    return line(
        f"seen on {len(dates)} nights from {dates[0]} to {dates[-1]}, {times} times, "
        f"no fix is known; confidence was low on {low} of {sightings} sightings"
        f"{''.join(_asides(lessons, tonight))}: {names}",
        600,
    )


def _asides(lessons: list[Lesson], tonight: NoiseEvidence) -> Iterator[str]:
    """What else there is to know, where there is anything."""
    gone = sum(
        recoveries(one.names, tonight.nights) for one in lessons if is_transient(one, tonight)
    )
    if gone:
        yield f"; it went away by itself {gone} times"
    declined = [fate.number for one in lessons for fate in one.fates if fate.kind == "not planned"]
    if declined:
        yield f"; issue #{declined[-1]} was closed as not planned"
    lapsed = [ignored_by(tonight.lapsed, as_group(one)) for one in lessons]
    ended = [rule.expires for rule in lapsed if rule and rule.expires]
    if ended:
        yield f"; was ignored until {max(ended)}"


def _times(lesson: Lesson) -> int:
    return sum(seen.occurrences for seen in lesson.nights)
