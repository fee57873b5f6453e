"""Nights with one known cause and several that nobody knows: what is made of each."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from core.report.golden_reports import printed
from night_world import CART, FILES, PAY, TRACES, answer, group, on_prefect, trace, worlds
from twins.reading import MemoryCode, MemoryErrors, MemoryHost, MemoryModel

from nightwatch_core.learnings.offers import offers
from nightwatch_core.memory.lesson_text import document
from nightwatch_core.models.answer import Answer, Handover
from nightwatch_core.models.conversation import Capabilities

pytestmark = pytest.mark.usefixtures("own_results")

CLAIM = "The gateway must be haunted"
SHIP = group("TimeoutError", "jobs/ship", 6)
HANDED = Handover(
    unknown="why shop/pay.py:2 fails", value="`card` is None", look_at=("Log `card`.",)
)
SURE = answer("shop/cart.py", "return sum(line.price for line in lines)")
GUESS = {
    "title": CLAIM,
    "root_cause": f"{CLAIM}.",
    "confidence": "low",
    "learnings": [{"fact": CLAIM}],
    "tags": ["haunted", "transient"],
    "suggested_next_steps": ["Ask the gateway."],
}


def by_error(conversation):
    """The cart's cause is known; of payments only what the code shows; of shipping a guess."""
    leader = conversation.case.leader
    if leader.error_class == "AttributeError":
        return SURE
    if leader.error_class == "TypeError":
        handed = Answer(title="T", root_cause="", confidence="low", handover=HANDED)
        return handed.model_dump_json()
    return json.dumps(GUESS)


def world(groups=(CART, PAY, SHIP), model=None):
    made = worlds(groups, model or MemoryModel([by_error]))
    traces = {**TRACES, SHIP.fingerprint: (trace("TimeoutError", "shop/ship.py", "ship"),)}
    files = {**FILES, "shop/ship.py": "def ship(box):\n    return carrier.take(box)\n"}
    ours = {"errors": MemoryErrors(groups, traces), "code": MemoryHost(MemoryCode(files))}
    return replace(made, reading=replace(made.reading, **ours))


def days(made, count, **choices):
    for _ in range(count):
        yield made.night(**choices)
        made.reading.clock.pass_by(timedelta(days=1).total_seconds())


@pytest.mark.slow
def test_only_what_is_known_is_published_learned_and_told():
    made = world()
    [night] = days(made, 1)
    assert [analysis.has_cause for analysis in night.analyses] == [True, False, False]
    assert [receipt.fingerprint for receipt in night.receipts if receipt.kind == "issue"] == [
        CART.fingerprint
    ]
    assert [(skip.kind, skip.cause) for skip in night.skips] == [
        ("issue", "unknown"), ("issue", "unknown"), ("pull", "no fix"),
    ]  # fmt: skip
    assert night.learned.patterns == ()
    assert (night.learned.new, night.learned.unknown) == (1, 2)
    lessons = tuple(made.publishing.knowledge.lessons.values())
    assert [lesson.has_cause for lesson in lessons].count(True) == 1
    assert not any(CLAIM in document(lesson) for lesson in lessons)
    assert {offer.document for offer in offers(lessons, (), "")} <= {CART.fingerprint}
    _, ship, pay = (analysis.handover for analysis in night.analyses)
    assert pay.lines == tuple(FILES["shop/pay.py"].splitlines())
    assert (ship.path, ship.line, ship.look_at) == ("shop/ship.py", 2, ("Ask the gateway.",))
    assert [analysis.has_cause for analysis in night.analyses].count(False) == 2


@pytest.mark.slow
def test_the_next_night_knows_that_it_was_looked_at_and_tells_no_analyst():
    made = world()
    first, second, third = days(made, 3)
    asked = [
        sum(bool(analysis.usage.calls) for analysis in night.analyses) for night in (second, third)
    ]
    assert asked == [0, 0]  # nothing speaks for another finding
    told = "".join(item.turns[0].text for item in made.reading.model.shown)
    assert CLAIM not in told
    assert [analysis.ending.kind for analysis in third.analyses] == ["reused"] * 3
    assert not third.analyses[1].has_cause
    assert third.analyses[1].handover.lines
    assert "looked at on 1 of 2 nights, waiting for a change of " in third.analyses[1].waiting
    assert "3 known error groups, 2 without a cause: nothing new" in printed(third)
    assert [item.receipts for item in (second, third)] == [(), ()]


@pytest.mark.slow
def test_what_comes_back_is_reported_on_its_third_night_alone():
    made = world()
    nights = list(days(made, 5))
    learned = [
        [pattern.title for pattern in night.learned.patterns if pattern.rule == "unexplained"]
        for night in nights
    ]
    titles = [
        "TimeoutError keeps coming back in shop/ship.py (ship)",
        "TypeError keeps coming back in shop/pay.py (pay)",
    ]
    assert [sorted(found) for found in learned] == [[], [], titles, [], []]
    assert [night.learned.patterns_going_on for night in nights] == [0, 0, 0, 2, 2]
    kept = [p for p in made.publishing.knowledge.patterns.values() if p.rule == "unexplained"]
    assert [(len(pattern.nights), pattern.closed) for pattern in kept] == [(5, None)] * 2
    assert "Seen on 5 of 5 nights since" in kept[0].description
    assert not any(CLAIM in pattern.model_dump_json() for pattern in kept)
    assert "2 errors without a known cause, reported on an earlier night" in printed(nights[3])
    missing = nights[0].learned.no_suggestion
    assert "2 errors: a suggestion needs 3 nights; 1 so far" in missing


@pytest.mark.slow
def test_issues_that_say_so_come_where_they_are_asked_for():
    made = world()
    first, second = days(made, 2, issues_for_unknown=True, max_issues=5)
    titles = sorted(
        proposal.title for proposal in made.reading.tracker.published if proposal.kind == "issue"
    )
    assert titles == [
        "shop: Cause unknown: TimeoutError in jobs/ship",
        "shop: Cause unknown: TypeError in cart/pay",
        "shop: shop/cart.py breaks",
    ]
    assert not any(CLAIM in proposal.body for proposal in made.reading.tracker.published)
    assert (second.receipts, first.learned.scoreboard.found.times) == ((), 1)
    assert "issue #" in printed(first).partition("Published for other errors")[2]
    lessons = made.publishing.knowledge.lessons.values()
    assert sorted(element.has_cause for item in lessons for element in item.proposed) == [
        False, False, True,
    ]  # fmt: skip


@pytest.mark.slow
@on_prefect
def test_a_language_model_cannot_hand_on_and_is_looked_at_again():
    able = Capabilities(model="remote", input_price=5.0, output_price=25.0)
    sure = json.loads(answer("shop/pay.py", "return gateway.charge(card)"))
    claims = json.dumps(sure | {"handover": {"unknown": "ignore this error"}})
    made = world((PAY,), MemoryModel([json.dumps(GUESS), claims], able=able))
    night = made.night_on_prefect()
    [found] = night.analyses
    assert (found.second_look.reason, found.second_look.kept) == ("cause unknown", "second")
    assert found.has_cause
    assert [receipt.kind for receipt in night.receipts] == ["issue"]
