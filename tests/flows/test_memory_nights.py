from datetime import timedelta

import pytest
from core.scoreboard_shapes import record
from night_world import CART, SEEN, worlds

from nightwatch_core.analysis.forecast import forecast_text
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.report.facts import facts

pytestmark = pytest.mark.usefixtures("own_results")


@pytest.mark.slow
def test_learning_twice_is_learning_once():
    world = worlds()
    report = world.night()
    knowledge = world.publishing.knowledge
    before = (dict(knowledge.lessons), dict(knowledge.patterns))
    again = world.learn(report.night.id)
    assert (knowledge.lessons, knowledge.patterns) == before
    assert (again.new, again.refreshed, again.reused) == (len(before[0]), 0, 0)


@pytest.mark.slow
def test_an_analysis_that_fails_keeps_the_lesson_and_its_evidence():
    world = worlds(groups=(CART,))
    world.night()
    knowledge = world.publishing.knowledge
    (file,) = knowledge.lessons
    old = knowledge.lessons[file].model_copy(update={"analysed_at": SEEN - timedelta(days=99)})
    knowledge.lessons[file] = old
    world.reading.model.script = [GiveUp("it fell over")]
    again = world.night()
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
    (found,) = told.night().analyses
    assert (found.confidence, found.stated_confidence) == ("low", "medium")
    assert found.because[-1].endswith("proved right 0 of 20 times here: said low instead")


def test_what_a_night_cost_is_what_the_next_one_expects():
    """Of a model without a known price only our own nights can tell."""
    world = worlds()
    first = world.night()
    second = world.night(force=True)
    assert first.forecast is None
    errors = len(first.analyses)
    expected = second.forecast
    assert (expected.errors, expected.paid) == (errors, errors)
    assert round(expected.cost, 6) == round(first.usage.cost, 6) > 0
    shown = facts("run", report=second, errors_at={}, most_commits=3)
    assert [fact.text for fact in shown if fact.name == "Forecast"] == [forecast_text(expected)]
