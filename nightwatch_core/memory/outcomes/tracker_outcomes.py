"""What a night learns of one lesson's proposals and its error, and what the lesson keeps of it."""

import itertools
from collections.abc import Callable
from datetime import datetime, timedelta

from nightwatch_core.memory.limits import LONGEST_WORDS, MOST_FATES, MOST_QUOTED
from nightwatch_core.memory.outcomes.fix_verdict import LEAST_HOURS, judge_fix
from nightwatch_core.memory.outcomes.fix_watch import Stands, Tonight, update_watch
from nightwatch_core.memory.sightings import aware, night_date
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import (
    FixWatch,
    OutcomeEvent,
    OutcomeKind,
    OutcomeUpdate,
    PublishedItem,
)
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.text.escaping import line

LONGEST_WAIT = timedelta(days=14)  # for a deploy, and hours measured, before an error is news again
REOPENED = "its error had come back"  # why we open an issue again
SHUT: tuple[OutcomeKind, ...] = ("closed", "not planned")  # after which an issue can be reopened

Earlier = tuple[OutcomeEvent, ...]  # what was noticed of an item before
Noticed = Callable[[OwnItem, Earlier], OutcomeKind | None]


def follow_lesson(
    lesson: Lesson, items: tuple[OwnItem, ...], tonight: Tonight, stands: Stands
) -> OutcomeUpdate | None:
    """Find what tonight brought for a lesson; None where nothing is new.

    `items` are all our issues and pull requests; `stands` says whether a lesson's fix stands in
    tonight's code, and is asked only where no other sign tells.
    """
    mine = _mine(lesson, items)
    fates = tuple(fate for item in mine for fate in _fates(item, lesson, tonight))
    watch = lesson.watch
    if watch or any(item.kind == "pull" and item.state == "merged" for item in mine):
        watch = update_watch(lesson, mine, tonight, stands)
        watch, verdict = judge_fix(lesson, watch, tonight, fates)
        fates += (verdict,) if verdict else ()
    if not fates and watch == lesson.watch:
        return None
    outcome = fates[-1].kind if fates else lesson.outcome
    return no_news(lesson).model_copy(update={"fates": fates, "watch": watch, "outcome": outcome})


def no_news(lesson: Lesson) -> OutcomeUpdate:
    """How a lesson stands, before anything is added to it."""
    return OutcomeUpdate(
        fingerprint=lesson.fingerprint,
        file=lesson.file,
        title=lesson.title,
        watch=lesson.watch,
        outcome=lesson.outcome,
    )


def apply_outcomes(lesson: Lesson, news: OutcomeUpdate) -> Lesson:
    """Add what a night brought to a lesson; adding it again changes nothing."""
    earlier = {_name(fate) for fate in lesson.fates}
    new = tuple(fate for fate in news.fates[-MOST_FATES:] if _name(fate) not in earlier)
    proposed = lesson.proposed
    for fate in new:
        proposed = tuple(_updated(one, fate) for one in proposed)
    update = {
        "fates": (*lesson.fates, *new)[-MOST_FATES:],
        "watch": news.watch or lesson.watch,
        "outcome": new[-1].kind if new else lesson.outcome,
        "proposed": proposed,
    }
    return lesson.model_copy(update=update)


def open_trouble(lesson: Lesson) -> str:
    """Say why a lesson may not be reused because of what became of it; empty where it may.

    What was merged or verified later overtakes what had gone wrong. The sentence holds people's
    words on one line: escape it for where it goes.

    >>> from datetime import date
    >>> no = OutcomeEvent(kind="closed unmerged", number=4, on=date(2031, 3, 1),
    ...                   words=("Too slow.",))
    >>> open_trouble(Lesson(fingerprint="v1:0", error_class="E", root_cause="", fates=(no,),
    ...                   first_detected=date(2031, 3, 1)))
    'its fix was rejected in #4: Too slow.'
    """
    fate = next(iter(_troubles(lesson)), None)
    if fate is None:
        return ""
    number = f"#{fate.number}" if fate.number else "a proposal of ours"
    why = line(": ".join(filter(None, (*fate.words[:1], fate.because))), 300)
    return TROUBLES[fate.kind].format(number=number) + (f": {why}" if why else "")


def is_only_rejected(lesson: Lesson) -> bool:
    """Whether the open trouble is that people turned its fix down, and nothing else."""
    kinds = {fate.kind for fate in _troubles(lesson)}
    return kinds == {"closed unmerged"}


def _troubles(lesson: Lesson) -> tuple[OutcomeEvent, ...]:
    """What went wrong and was not answered since the last good outcome, the newest first."""
    since = itertools.takewhile(lambda fate: fate.kind not in OVERTAKES, reversed(lesson.fates))
    return tuple(fate for fate in since if fate.kind in TROUBLES and not fate.answered)


def mark_answered(lesson: Lesson) -> Lesson:
    """Mark a lesson once a fresh analysis took all that had happened into account."""
    fates = tuple(fate.model_copy(update={"answered": True}) for fate in lesson.fates)
    return lesson.model_copy(update={"fates": fates})


def why_no_news(lesson: Lesson, at: datetime | None = None) -> str:
    """Say why an error that still occurs is no news, given its merged fix; empty where it is.

    The fix is not deployed yet, or is being measured, for two weeks at most each; or it is
    verified, and so few occurrences are no regression. Not where something speaks against the fix
    (see `open_trouble`), nor where the watch names moments to come, or a verdict without figures: a
    document is no word on those. `at` is the end of tonight's window; the last one's by default.
    """
    watch, now = lesson.watch, at or lesson.seen_until
    if watch is None or open_trouble(lesson) or (now and not _has_been(watch, aware(now))):
        return ""
    merged = f"its fix was merged in #{watch.number}"
    if watch.verdict:
        few = f"{merged} and verified: so few occurrences are no regression"
        proved = watch.verdict == "verified" and watch.deployed_at and watch.before.occurrences > 0
        return few if proved and watch.after.hours >= LEAST_HOURS else ""
    if watch.deployed_at is None:
        late = now is not None and aware(now) - aware(watch.merged_at) > LONGEST_WAIT
        return "" if late else f"{merged} and is not yet in production"
    measuring = 0 <= watch.after.hours <= LONGEST_WAIT.total_seconds() / 3_600
    late = now is not None and aware(now) - aware(watch.deployed_at) > 2 * LONGEST_WAIT
    since = f"{merged} and is being measured since {watch.deployed_at.date()}"
    return since if measuring and not late else ""


def _has_been(watch: FixWatch, now: datetime) -> bool:
    """Whether its moments are no further ahead than a merge may be of an older window."""
    moments = filter(None, (watch.merged_at, watch.deployed_at, watch.until))
    return all(aware(one) - now <= LONGEST_WAIT for one in moments)


OVERTAKES: tuple[OutcomeKind, ...] = ("merged", "edited before merge", "verified")
TROUBLES: dict[OutcomeKind, str] = {
    "closed unmerged": "its fix was rejected in {number}",
    "no effect": "its fix in {number} had no effect",
    "regressed": "it came back after its fix in {number}",
    "reopened": "its issue {number} was reopened",
}


def _mine(lesson: Lesson, own: tuple[OwnItem, ...]) -> tuple[OwnItem, ...]:
    """The lesson's items: issues first, then pull requests as they ended; each one once."""
    mine = (item for item in own if not lesson.names.isdisjoint(item.names))
    items = sorted(mine, key=lambda one: (one.kind, _ended(one), one.number, one.model_dump_json()))
    return tuple({(one.kind, one.number): one for one in items}.values())


def _ended(item: OwnItem) -> float:
    """When it was merged or closed, in seconds from 1970; the end of time where nobody knows."""
    moment: datetime | None = item.merged_at or item.closed_at
    return aware(moment).timestamp() if moment else float("inf")


def _fates(item: OwnItem, lesson: Lesson, tonight: Tonight) -> tuple[OutcomeEvent, ...]:
    earlier = tuple(fate for fate in lesson.fates if fate.number == item.number)
    kinds = [kind for notice in NOTICED[item.kind] if (kind := notice(item, earlier))]
    return tuple(_fate(kind, item, lesson.watch, tonight) for kind in kinds)


def _fate(
    kind: OutcomeKind, item: OwnItem, watch: FixWatch | None, tonight: Tonight
) -> OutcomeEvent:
    """An issue that is open again after a regression was reopened for it: that is no more news."""
    because_of_us = kind == "reopened" and watch is not None and watch.verdict == "regressed"
    words = item.words if kind in ("closed unmerged", "not planned") else ()
    return OutcomeEvent(
        kind=kind,
        number=item.number,
        on=night_date(tonight.night),
        night=tonight.night.id,
        words=tuple(filter(None, (line(text, LONGEST_WORDS) for text in words[:MOST_QUOTED]))),
        because=REOPENED if because_of_us else "",
        answered=because_of_us,
    )


def _merged(item: OwnItem, earlier: Earlier) -> OutcomeKind | None:
    return _once("merged", earlier) if item.state == "merged" else None


def _edited(item: OwnItem, earlier: Earlier) -> OutcomeKind | None:
    is_edited = item.state == "merged" and item.edited
    return _once("edited before merge", earlier) if is_edited else None


def _rejected(item: OwnItem, earlier: Earlier) -> OutcomeKind | None:
    return _once("closed unmerged", earlier) if item.state == "closed" else None


def _closed(item: OwnItem, earlier: Earlier) -> OutcomeKind | None:
    if item.state == "open":
        return None
    kind: OutcomeKind = "not planned" if item.state_reason == "not_planned" else "closed"
    return None if _last(earlier) == kind else kind


def _reopened(item: OwnItem, earlier: Earlier) -> OutcomeKind | None:
    return "reopened" if item.state == "open" and _last(earlier) in SHUT else None


NOTICED: dict[str, tuple[Noticed, ...]] = {
    "pull": (_merged, _edited, _rejected),
    "issue": (_closed, _reopened),
}
"""What is noticed of our items, in the order in which it is told."""


def _once(kind: OutcomeKind, earlier: Earlier) -> OutcomeKind | None:
    return None if any(fate.kind == kind for fate in earlier) else kind


def _last(earlier: Earlier) -> OutcomeKind | None:
    """How an issue stood when it was last told of."""
    return next((one.kind for one in reversed(earlier) if one.kind in (*SHUT, "reopened")), None)


def _name(fate: OutcomeEvent) -> tuple[str, int | None, str]:
    return fate.kind, fate.number, fate.night


def _updated(one: PublishedItem, fate: OutcomeEvent) -> PublishedItem:
    """The entry of a proposal with what became of it; verdicts are those of the pull request."""
    kind = "issue" if fate.kind in (*SHUT, "reopened") else "pull"
    is_it = (one.kind, one.number) == (kind, fate.number)
    return one.model_copy(update={"outcome": fate.kind}) if is_it else one
