from datetime import date, timedelta

import pytest
from core.lesson_shapes import lesson
from night_world import CART_API, PAY, PREFECT, worlds
from world import World

from nightwatch_core.errors import NotTonight, StopTheNight
from nightwatch_core.models.knowledge import Lesson, NightSeen
from nightwatch_core.models.report import RunReport

pytestmark = PREFECT


def one(world: World, **parameters: object) -> RunReport:
    return world.one_error(on_prefect=True, **parameters)


@pytest.mark.slow
def test_a_fingerprint_is_analysed_afresh_and_publishes_nothing() -> None:
    world = worlds()
    world.night_on_prefect()
    published = len(world.reading.tracker.published)
    asked = len(world.reading.model.shown)
    report = one(world, error=PAY.fingerprint)
    assert [a.case.leader for a in report.analyses] == [PAY]
    assert report.analyses[0].ending.kind == "answered"
    assert len(world.reading.model.shown) == asked + 1
    assert len(world.reading.tracker.published) == published
    assert report.night.id.startswith(f"one-{PAY.fingerprint[3:11]}")


@pytest.mark.slow
def test_the_beginning_of_a_fingerprint_brings_its_whole_case() -> None:
    world = worlds()
    world.night_on_prefect()
    report = one(world, error=CART_API.fingerprint[3:11])
    assert {group for a in report.analyses for group in a.case.groups} >= {CART_API}


def test_an_error_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(StopTheNight, match="AttributeError in cart/show"):
        one(worlds(), error="v1:0000000000000000")


def test_several_errors_of_a_class_are_listed_not_guessed() -> None:
    world = worlds()
    with pytest.raises(NotTonight, match="several error groups match 'AttributeError'"):
        one(world, error_class="AttributeError")
    assert not world.publishing.notifier.told


def test_publishing_is_possible_when_asked_for() -> None:
    world = worlds()
    report = one(world, error_class="TypeError", publish="issues")
    assert [r.kind for r in report.receipts] == ["issue"]


@pytest.mark.slow
def test_a_night_is_published_and_learned_from_later() -> None:
    world = worlds()
    report = world.night_on_prefect(publish="none")
    assert not world.reading.tracker.published
    acted = world.act(report.night.id, publish="all")
    for number in range(3):  # of three nights: a class that recurs
        world.publishing.knowledge.write(recurring(number, report.night.now.date()))
    learned = world.learn(report.night.id)
    assert [pattern.rule for pattern in learned.patterns] == ["recurring_class"]
    assert [r.kind for r in acted.receipts] == ["issue", "issue", "pull"]
    assert len(learned.lessons) == 2


def recurring(number: int, tonight: date) -> Lesson:
    """A lesson of one of three nights, all of one class; tonight's is the last."""
    day = tonight - timedelta(days=2 - number)
    seen = NightSeen(date=day, night=f"n{number}", occurrences=5, verdict="new")
    return lesson(
        f"v1:recurs{number}", error_class="shop.RateMissing", first_detected=day, nights=(seen,)
    )
