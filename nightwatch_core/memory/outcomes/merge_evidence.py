"""What the tracker bears out of a lesson: a document's own word on merges and verdicts is none."""

from collections.abc import Iterable

from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import OutcomeKind, PublishedItem
from nightwatch_core.models.proposal import OwnItem

AFTER_A_MERGE: tuple[OutcomeKind, ...] = (
    "merged", "edited before merge", "verified", "no effect", "regressed",
)  # fmt: skip


def merged_pulls(own: Iterable[OwnItem]) -> tuple[OwnItem, ...]:
    """Our pull requests that were merged, as the tracker says."""
    return tuple(one for one in own if one.kind == "pull" and one.state == "merged")


def is_merged(lesson: Lesson, merged: Iterable[OwnItem]) -> bool:
    """Whether the fix that a lesson watches is one of these, made for the lesson's error."""
    watch = lesson.watch
    return watch is not None and any(
        one.number == watch.number and one.fingerprint in lesson.names for one in merged
    )


def watched_truly(lesson: Lesson, merged: tuple[OwnItem, ...] | None) -> Lesson:
    """The lesson without its watch where the tracker knows no such merge; None: not asked."""
    if merged is None or lesson.watch is None or is_merged(lesson, merged):
        return lesson
    return lesson.model_copy(update={"watch": None})


def vouched(lesson: Lesson, own: Iterable[OwnItem]) -> Lesson:
    """The lesson with those of its proposals that are ours, and what may have become of them.

    >>> from datetime import date
    >>> from nightwatch_core.models.outcome import PublishedItem
    >>> said = PublishedItem(kind="pull", number=4, on=date(2030, 5, 1), outcome="verified")
    >>> lesson = Lesson(fingerprint="v1:a", error_class="E", root_cause="", proposed=(said,),
    ...                 first_detected=date(2030, 5, 1))
    >>> vouched(lesson, ()).proposed
    ()
    >>> vouched(lesson, (OwnItem(kind="pull", number=4, fingerprint="v1:a"),)).proposed[0].outcome
    ''
    """
    mine = {(one.kind, one.number): one for one in own if one.fingerprint in lesson.names}
    numbers = {one.number for one in mine.values()}
    merged = {one.number for one in merged_pulls(mine.values())}
    proposed = (one for one in lesson.proposed if (one.kind, one.number) in mine)
    return lesson.model_copy(
        update={
            "proposed": tuple(
                one if _may_be(one.outcome, one.number, merged) else _undecided(one)
                for one in proposed
            ),
            "fates": tuple(
                one
                for one in lesson.fates
                if one.number in numbers and _may_be(one.kind, one.number, merged)
            ),
        }
    )


def _may_be(kind: str, number: int | None, merged: set[int]) -> bool:
    """What follows a merge wants one; what was merged was not turned down."""
    if kind in AFTER_A_MERGE:
        return number in merged
    return kind != "closed unmerged" or number not in merged


def _undecided(one: PublishedItem) -> PublishedItem:
    return one.model_copy(update={"outcome": ""})
