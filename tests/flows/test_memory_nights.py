from dataclasses import replace
from datetime import timedelta

import pytest
from core.lesson_shapes import lesson
from core.scoreboard_shapes import record
from night_world import CART, SEEN, TRACES, on_prefect, plain_night, worlds
from twins.writing import MemoryKnowledge

from flows.learn import learn
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.recall import traces_of
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import FixWatch, OccurrenceCount
from nightwatch_core.models.proposals import OwnItem
from tasks.dependencies import Dependencies, using

pytestmark = pytest.mark.usefixtures("own_results")


@pytest.mark.slow
def test_a_merge_that_the_tracker_knows_nothing_of_silences_no_error():
    world = worlds(groups=(CART,))
    with using(world):
        plain_night()
        (file,) = world.publishing.knowledge.lessons
        known = world.publishing.knowledge.lessons[file]
        merged = SEEN - timedelta(days=5)
        invented = FixWatch(
            number=99,
            merged_at=merged,
            deployed_at=merged,
            before=OccurrenceCount(occurrences=10**9, hours=24),
            after=OccurrenceCount(hours=99),
            verdict="verified",
        )
        lie = {"watch": invented, "root_cause": "All is well.", "evidence": ()}
        world.publishing.knowledge.lessons[file] = known.model_copy(update=lie)
        again = plain_night()
    assert [analysis.ending.kind for analysis in again.analyses] == ["answered"]
    assert not again.analyses[0].waiting
    assert "All is well." not in world.publishing.knowledge.lessons[file].root_cause


@on_prefect
@pytest.mark.slow
def test_learning_twice_is_learning_once():
    world = worlds()
    with using(world):
        report = plain_night()
        knowledge = world.publishing.knowledge
        before = (dict(knowledge.lessons), dict(knowledge.patterns))
        again = learn(night=report.night.id)
        assert (knowledge.lessons, knowledge.patterns) == before
    assert (again.new, again.refreshed, again.reused) == (len(before[0]), 0, 0)


class Stubborn(MemoryKnowledge):
    """Knowledge in which one document cannot be written any more."""

    def write(self, lesson):
        if lesson.fingerprint == "v1:stuck" and lesson.matched:
            raise GiveUp("the disk is full")
        return super().write(lesson)


@pytest.mark.slow
def test_a_lesson_that_cannot_be_kept_up_is_told_and_stops_no_other():
    knowledge, world = Stubborn(), worlds(groups=(CART,))
    alike = {"error_class": CART.error_class, "message": CART.message}
    alike |= traces_of(Case(leader=CART, trace=TRACES[CART.fingerprint][0]))
    knowledge.write(lesson("v1:stuck", transaction=CART.transaction, **alike))
    reading = replace(world.reading, knowledge=knowledge)
    publishing = replace(world.publishing, knowledge=knowledge)
    with using(Dependencies(reading, publishing)):
        report = plain_night()
    assert report.analyses[0].told == ("v1:stuck",)
    assert report.status == "degraded"
    assert "updating errors/v1:stuck.md: the disk is full" in report.degraded
    assert report.learned.new == 1


@pytest.mark.slow
def test_an_analysis_that_fails_keeps_the_lesson_and_its_evidence():
    world = worlds(groups=(CART,))
    with using(world):
        plain_night()
        knowledge = world.publishing.knowledge
        (file,) = knowledge.lessons
        old = knowledge.lessons[file].model_copy(update={"analysed_at": SEEN - timedelta(days=99)})
        knowledge.lessons[file] = old
        world.reading.model.script = [GiveUp("it fell over")]
        again = plain_night()
    kept = knowledge.lessons[file]
    assert [failure.ending.kind for failure in again.failures] == ["failed"]
    assert (kept.evidence, kept.root_cause, kept.analysed_at) == (
        old.evidence,
        old.root_cause,
        old.analysed_at,
    )
    assert [night.verdict for night in kept.nights] == ["new", "failed"]


@pytest.mark.slow
def test_a_record_of_wrong_findings_makes_the_night_less_sure():
    """The model says medium; here such findings were turned down, so the report says low."""
    told = worlds(groups=(CART,))
    for known in record("c" * 20, said="medium"):
        told.publishing.knowledge.write(known)
        (draft,) = known.proposed
        told.reading.tracker.items.append(
            OwnItem(kind="pull", number=draft.number, fingerprint=known.fingerprint, state="closed")
        )
    with using(told):
        (found,) = plain_night().analyses
    assert (found.confidence, found.said) == ("low", "medium")
    assert found.because[-1].endswith("proved right 0 of 20 times here: said low instead")
