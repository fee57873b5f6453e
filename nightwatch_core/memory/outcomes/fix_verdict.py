"""What the figures say of a merged fix: verified, no effect, regressed, or nothing yet."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Literal

from nightwatch_core.memory.outcomes.exposure import bursts, looked_at
from nightwatch_core.memory.outcomes.fix_watch import Tonight
from nightwatch_core.memory.outcomes.rates import (
    Comparison,
    compare,
    count_text,
    expected,
    one_a_date,
    rose,
    total,
)
from nightwatch_core.memory.sightings import aware, night_date
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import FixWatch, OccurrenceCount, OutcomeEvent
from nightwatch_core.models.value import Value

LEAST_HOURS = 40.0  # looked at since the deploy: two nights, even if they are short of a day
ENOUGH = 5.0  # occurrences to be expected after the deploy, before silence or noise tells anything
SILENCE = 0.01  # chance at most of seeing none, were the rate the old one
VERIFIED_BELOW = 0.25  # of the old rate: the new one is surely less
NO_EFFECT_ABOVE = 0.5  # of the old rate: the new one is surely more
AS_BEFORE_NIGHTS, AS_BEFORE_HOURS = 3, 72.0  # looked at, before a rate near the old one tells
AS_BEFORE_SHARE = 0.8  # of the old rate, as observed: the new one is near it
LONG = 336.0  # hours after which a fix that left more than VERIFIED_BELOW has had no effect
COMES_BACK = 0.01  # chance at most of so many lately, had the verified rate stayed
COMES_BACK_SHARE = 0.05  # of the old rate at least: a stray occurrence is no regression
COMES_BACK_LEAST = 2  # occurrences
LATELY = (3, 14)  # days that are looked back for a comeback: at once, or slowly

Verdict = Literal["verified", "no effect", "regressed"]


class Evidence(Value):
    """All that a rule may look at; `watch` has counted tonight, `fates` are tonight's so far."""

    lesson: Lesson
    watch: FixWatch
    counted: OccurrenceCount  # what tonight added to the watch
    tonight: Tonight
    fates: tuple[OutcomeEvent, ...]
    compared: Comparison
    expected: float  # occurrences after the deploy, had nothing changed
    spread: float  # before the fix: what comes after a verdict is held against it


Rule = Callable[[Evidence], str]


def judge_fix(
    lesson: Lesson, watch: FixWatch, tonight: Tonight, fates: tuple[OutcomeEvent, ...]
) -> tuple[FixWatch, OutcomeEvent | None]:
    """The watch with its verdict, and the fate that says so where it is new.

    No verdict without time that was looked at since the deploy; none after "regressed", which
    only another merged fix ends.
    """
    if watch.deployed_at is None or watch.after.hours <= 0:
        return watch, None
    evidence = _evidence(lesson, watch, tonight, fates)
    for verdict, rule in VERDICTS[watch.verdict]:
        if because := rule(evidence):
            night = tonight.night
            fate = OutcomeEvent(
                kind=verdict,
                number=watch.number,
                on=night_date(night),
                night=night.id,
                because=because,
            )
            return watch.model_copy(update={"verdict": verdict}), fate
    return watch, None


def _evidence(
    lesson: Lesson, watch: FixWatch, tonight: Tonight, fates: tuple[OutcomeEvent, ...]
) -> Evidence:
    old = lesson.watch
    old = old if old and old.number == watch.number else None
    earlier = old.after if old else OccurrenceCount()
    counted = OccurrenceCount(
        occurrences=max(0, watch.after.occurrences - earlier.occurrences),
        hours=max(0.0, watch.after.hours - earlier.hours),
    )
    bursty, spread = bursts(lesson, watch, tonight.records, tonight.night, counted)
    return Evidence(
        lesson=lesson,
        watch=watch,
        counted=counted,
        tonight=tonight,
        fates=fates,
        compared=compare(watch.before, watch.after, bursty),
        expected=expected(watch.before, watch.after),
        spread=spread,
    )


def _tells(seen: Evidence) -> bool:
    """Whether it was looked at for so long that the error would have shown."""
    return seen.watch.after.hours >= LEAST_HOURS and seen.expected >= ENOUGH


def _silent(seen: Evidence) -> str:
    """None at all, where at the old rate there would almost surely have been some."""
    if seen.watch.after.occurrences or not _tells(seen) or seen.compared.p_fell >= SILENCE:
        return ""
    return f"{_after_all(seen)}{seen.compared.said}, where {seen.expected:,.0f} were to be expected"


def _fell(seen: Evidence) -> str:
    if not _tells(seen) or seen.compared.high >= VERIFIED_BELOW:
        return ""
    return f"{_after_all(seen)}{seen.compared.said}: {_ratio(seen)} of the rate"


def _goes_on(seen: Evidence) -> str:
    if not _tells(seen) or seen.compared.low <= NO_EFFECT_ABOVE:
        return ""
    return f"{seen.compared.said}: {_ratio(seen)} of the rate"


def _as_before(seen: Evidence) -> str:
    """Near the old rate for several nights, however little is known of that one.

    Bounds so wide that `_goes_on` stays silent, around such a ratio, hold no sign of a fall.
    """
    after, ratio = seen.watch.after, seen.compared.ratio
    long = after.nights >= AS_BEFORE_NIGHTS and after.hours >= AS_BEFORE_HOURS and _tells(seen)
    if not long or ratio is None or ratio < AS_BEFORE_SHARE:
        return ""
    return f"{seen.compared.said}: {_ratio(seen)} of the rate, no sign of a fall"


def _fell_too_little(seen: Evidence) -> str:
    long = seen.watch.after.hours >= LONG and _tells(seen)
    if not long or seen.compared.low <= VERIFIED_BELOW:
        return ""
    return f"{seen.compared.said}: it fell to {_ratio(seen)} of the rate only"


def _back_at_source(seen: Evidence) -> str:
    """The source says that it had been resolved, and came back after the deploy."""
    deployed = aware(seen.watch.deployed_at) if seen.watch.deployed_at else None
    backs = (
        aware(one.regressed_at)
        for one in seen.tonight.groups
        if one.regressed_at and not seen.lesson.names.isdisjoint(one.names)
    )
    later = [at for at in backs if deployed and at > deployed]
    if not later or not seen.counted.occurrences:
        return ""
    return f"its source says that it was resolved and came back on {min(later).date().isoformat()}"


def _reopened(seen: Evidence) -> str:
    number = next((fate.number for fate in seen.fates if fate.kind == "reopened"), None)
    return f"issue #{number} was reopened" if number is not None else ""


def _comes_back(seen: Evidence) -> str:
    """Lately more than the verified rate allows, and not just a stray one of many."""
    if not seen.counted.occurrences:
        return ""
    return next(filter(None, (_back_within(seen, days) for days in LATELY)), "")


def _back_within(seen: Evidence, days: int) -> str:
    recent, before, after = _lately(seen, days), seen.watch.before, seen.watch.after
    calm = OccurrenceCount(
        occurrences=max(0, after.occurrences - recent.occurrences),
        hours=max(0.0, after.hours - recent.hours),
    )
    enough = max(float(COMES_BACK_LEAST), COMES_BACK_SHARE * expected(_timed(before), recent))
    if recent.occurrences < enough or rose(calm, recent, seen.spread) >= COMES_BACK:
        return ""
    return (
        f"{count_text(recent)} lately, {count_text(calm)} since the fix until then, "
        f"{count_text(_timed(before))} before it"
    )


def _lately(seen: Evidence, days: int) -> OccurrenceCount:
    """What was seen in the last days since the error was called verified, tonight included."""
    night, lesson = seen.tonight.night, seen.lesson
    calls = (one for one in lesson.fates if one.kind == "verified")
    since = max((one.on for one in calls if one.number == seen.watch.number), default=None)
    today = night_date(night)
    first = today - timedelta(days=days - 1)
    nights = tuple(
        one
        for one in one_a_date(lesson.nights)
        if first <= one.date < today and one.night != night.id and (not since or one.date > since)
    )
    records = tuple(
        one
        for one in seen.tonight.records
        if one.night
        and first <= night_date(one.night) < today
        and (not since or night_date(one.night) > since)
    )
    window = night.window
    begin = window.until - timedelta(days=days + 1)
    looked = looked_at(records, night.kind.key, begin, window.since).hours
    hours = max(looked, total(nights).hours) + seen.counted.hours
    occurrences = total(nights).occurrences + seen.counted.occurrences
    return OccurrenceCount(occurrences=occurrences, hours=hours)


def _timed(count: OccurrenceCount) -> OccurrenceCount:
    """The same count, by hours alone."""
    return count.model_copy(update={"traffic": None})


def _after_all(seen: Evidence) -> str:
    return "after all: " if seen.watch.verdict == "no effect" else ""


def _ratio(seen: Evidence) -> str:
    ratio, low, high = seen.compared.ratio or 0.0, seen.compared.low, seen.compared.high
    return f"{ratio:.2g} ({low:.2g} to {high:.2g})"


VERDICTS: Mapping[str, tuple[tuple[Verdict, Rule], ...]] = {
    "": (
        ("regressed", _back_at_source),
        ("verified", _silent),
        ("verified", _fell),
        ("no effect", _goes_on),
        ("no effect", _as_before),
        ("no effect", _fell_too_little),
    ),
    "no effect": (("verified", _silent), ("verified", _fell)),
    "verified": (
        ("regressed", _reopened),
        ("regressed", _back_at_source),
        ("regressed", _comes_back),
    ),
    "regressed": (),
}
"""By the last verdict: what may be said next, the first rule that speaks wins."""
