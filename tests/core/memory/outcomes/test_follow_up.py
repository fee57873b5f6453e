"""A night that was cut off while it learned, and is taken up again."""

import pytest
from core.follow_world import at, lesson, night, pull, tonight
from twins.reading import MemoryCode

from nightwatch_core.memory.lessons.upkeep import told_of
from nightwatch_core.memory.outcomes.follow_up import followed_up
from nightwatch_core.memory.outcomes.tracker_outcomes import REOPENED
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import OutcomeEvent, OutcomeKind, OutcomeUpdate, PublishedItem
from nightwatch_core.models.proposal import OwnItem

CLOSED = pull(state="closed", words=("No.",))


def follow(known: Lesson, *items: OwnItem, number: int = 6) -> OutcomeUpdate | None:
    told = followed_up((known,), items, tonight(number), (), (), MemoryCode())
    return next(iter(told), None)


def kinds(told: OutcomeUpdate | None) -> list[str]:
    return [fate.kind for fate in told.fates] if told else []


def test_what_it_had_noticed_is_told_again_and_kept_once() -> None:
    first = follow(lesson(5), CLOSED)
    assert first
    kept = told_of(lesson(5), first)
    again = follow(kept, CLOSED)
    assert again
    assert kinds(again) == kinds(first) == ["closed unmerged"]
    assert again.outcome == first.outcome
    assert told_of(kept, again) == kept
    assert follow(kept, CLOSED, number=7) is None, "the next night has nothing new"


def test_another_draft_that_it_had_made_is_not_taken_for_the_rejected_one() -> None:
    first = follow(lesson(5), CLOSED)
    assert first
    kept = told_of(lesson(5), first)
    second = PublishedItem(kind="pull", number=9, on=at(6).date(), night=night(6).id)
    kept = kept.model_copy(update={"outcome": "", "proposed": (*kept.proposed, second)})
    again = follow(kept, CLOSED, pull(9, state="open"))
    assert again
    assert told_of(kept, again) == kept


@pytest.mark.parametrize("kind", ["verified", "regressed", "no effect"])
def test_a_verdict_is_told_again_too(kind: OutcomeKind) -> None:
    fate = OutcomeEvent(kind=kind, number=4, on=at(6).date(), night=night(6).id, because="figures")
    assert kinds(follow(lesson(5, fates=(fate,)))) == [kind]
    assert follow(lesson(5, fates=(fate,)), number=7) is None


def test_an_issue_that_it_had_reopened_is_no_news() -> None:
    fate = OutcomeEvent(
        kind="reopened", number=3, on=at(6).date(), night=night(6).id, because=REOPENED,
        answered=True,
    )  # fmt: skip
    assert follow(lesson(5, fates=(fate,))) is None
