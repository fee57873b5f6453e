"""Who rejects a draft is told on it what became of the review, once, when something did."""

from dataclasses import replace
from datetime import timedelta

import pytest
from night_world import CART, PAY, SEEN, answer, worlds
from twins.reading import MemoryModel

from nightwatch_core.models.answer import Answer as Said
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.knowledge import Rejection
from nightwatch_core.models.proposals import Answer, OwnItem, receipt_for
from nightwatch_core.publish.answers import plan_answers
from nightwatch_core.rules.engine import RulesModel
from nightwatch_core.text.markers import read_marker

pytestmark = pytest.mark.usefixtures("own_results")

QUOTE = "return sum(line.price for line in lines)"
FIRST = Edit(path="shop/cart.py", old="line.price", new="line.cost")
OTHER = FIRST.model_copy(update={"new": "line.net_price"})
WORDS = "No: @everyone, <!-- nightwatch:v1 fp=v1:x key=k run=n --> see `price`"
UNSURE = Said(title="", root_cause="", confidence="low").model_dump_json()


class Shop:
    """A shop whose first draft, number 2, is rejected after its first night."""

    def __init__(self, then, *groups):
        def reply(conversation):
            is_first = len(self.model.shown) == 1
            return answer("shop/cart.py", QUOTE, (FIRST,)) if is_first else then

        self.model = MemoryModel([reply])
        self.world = worlds(groups=groups or (CART,), model=self.model)
        self.outbox = self.world.publishing.outbox(None)

    def night(self, **choices):
        report = self.world.night(**choices)
        self.world.reading.clock.pass_by(timedelta(days=1).total_seconds())
        return report

    def reject(self, number=2, **more):
        closed = {"state": "closed", "words": (WORDS,), **more}
        items = self.outbox.items
        items[:] = [i.model_copy(update=closed) if i.number == number else i for i in items]

    def see(self, *groups):
        self.world.reading.errors.groups = groups

    @property
    def answers(self):
        return [item for item in self.outbox.published if isinstance(item, Answer)]


def rejected(then, **choices):
    shop = Shop(then)
    shop.night(**choices)
    shop.reject()
    return shop


def test_another_fix_is_named_once():
    shop = rejected(answer("shop/cart.py", QUOTE, (OTHER,)))
    second = shop.night()
    assert [(r.kind, r.number) for r in second.receipts if r.kind in ("pull", "answer")] == [
        ("pull", 3),
        ("answer", 2),
    ]
    (told,) = shop.answers
    assert told.body.endswith("another fix is proposed in draft #3.\n")
    assert read_marker(told.body).key == told.key
    third = shop.night()
    assert (third.receipts, third.rejections) == ((), ())


def test_no_words_of_the_reviewer_come_back():
    shop = rejected(answer("shop/cart.py", QUOTE, (FIRST,)))
    report = shop.night()
    (told,) = shop.answers
    assert "no other fix was found" in told.body
    assert not any(part in told.body for part in ("@everyone", "price", "fp=v1:x"))
    assert report.analyses[0].news == "its fix was rejected in #2"
    assert shop.night().rejections == ()


def test_a_night_that_is_taken_up_again_answers_once():
    shop = rejected(answer("shop/cart.py", QUOTE, (FIRST,)))
    first, second = shop.world.night(), shop.world.night()
    (told,) = shop.answers
    again = [r.status for report in (first, second) for r in report.receipts if r.key == told.key]
    assert again == ["done"]
    assert shop.outbox.publish(told).status == "already there"


@pytest.mark.parametrize(("publish", "count"), [("none", 0), ("issues", 0), ("patches", 1)])
def test_a_night_that_makes_no_drafts_comments_on_none(publish, count):
    shop = rejected(answer("shop/cart.py", QUOTE, (FIRST,)))
    report = shop.night(publish=publish)
    assert len(shop.answers) == count
    assert len(report.rejections) == 1


def test_a_fix_that_waits_for_its_turn_is_no_answer_yet():
    shop = rejected(answer("shop/cart.py", QUOTE, (OTHER,)))
    shop.night(max_pull_requests=0)
    assert not shop.answers
    shop.night()
    assert "another fix is proposed in draft #3" in shop.answers[0].body


def test_an_error_that_stopped_is_said_when_that_is_no_chance():
    shop = rejected(UNSURE)
    shop.see(PAY)
    for _ in range(2):
        shop.night()
    [told] = shop.answers
    assert f"was not seen again since {SEEN.date() + timedelta(days=1)}" in told.body


def test_an_error_that_pauses_or_is_not_read_whole_has_not_stopped():
    shop = rejected(UNSURE)
    shop.world.reading.errors.partial = ("half of it",)
    shop.see(PAY)
    for _ in range(3):
        shop.night()
    assert not shop.answers


def test_the_rules_do_not_say_that_they_read_a_review():
    shop = Shop("")
    by_rules = replace(shop.world.reading, model=RulesModel())
    shop.world = replace(shop.world, reading=by_rules)
    rejection = Rejection(number=2, fingerprint=CART.fingerprint, names=(CART.fingerprint,))
    pull = OwnItem(kind="pull", number=2, fingerprint=CART.fingerprint, state="closed")
    report = shop.night(model="rules")
    (found,) = report.analyses
    found = found.model_copy(update={"failed_pulls": (2,)})
    report = report.model_copy(update={"analyses": (found,), "rejections": (rejection,)})
    (told,) = plan_answers(report, (pull,), (), ())
    assert "which cannot read a review, and no other fix was found" in told.body


class Locked:
    """An outbox whose pull requests are locked."""

    def __init__(self, outbox):
        self.outbox = outbox

    def publish(self, proposal):
        if isinstance(proposal, Answer):
            return receipt_for(proposal, "refused", reason="pull request 2 is locked")
        return self.outbox.publish(proposal)


def test_what_cannot_be_answered_is_not_tried_every_night():
    shop = rejected(answer("shop/cart.py", QUOTE, (FIRST,)))
    ports = replace(shop.world.publishing, outbox=lambda night: Locked(shop.outbox))
    shop.world = replace(shop.world, publishing=ports)
    assert [r.status for r in shop.night().receipts if r.kind == "answer"] == ["refused"]
    assert shop.night().rejections == ()


def test_an_old_rejection_is_left_alone():
    shop = rejected(UNSURE)
    shop.see(PAY)
    assert len(shop.night(max_errors=1).rejections) == 1
    shop.see(CART)
    shop.world.reading.clock.pass_by(timedelta(days=91).total_seconds())
    assert shop.night().rejections == ()
