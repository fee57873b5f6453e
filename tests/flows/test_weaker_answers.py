"""A weaker answer never takes the place of a stronger one about the same code."""

from dataclasses import replace
from datetime import timedelta

import pytest
from night_world import CART, FILES, answer, worlds
from twins.reading import MemoryModel

from nightwatch_core.models.answer import Answer, Edit
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.rules.engine import RulesModel

pytestmark = pytest.mark.usefixtures("own_results")

REMOTE = Capabilities(model="remote", input_price=5.0, output_price=25.0)
QUOTE = "return sum(line.price for line in lines)"
FIX = Edit(path="shop/cart.py", old="line.price", new="line.cost")
FOUND = answer("shop/cart.py", QUOTE, (FIX,))
GUESS = Answer(
    title="Perhaps the price", root_cause="Some lines may lack a price.", confidence="low"
).model_dump_json()


def model(*said):
    return MemoryModel(said, able=REMOTE)


class Shop:
    """A shop with one error, whose nights are analysed by different models."""

    def __init__(self):
        self.world = worlds(groups=(CART,), model=model(FOUND))

    def night(self, analyst=None, **choices):
        asked = replace(self.world.reading, model=analyst or self.world.reading.model)
        report = replace(self.world, reading=asked).night(**choices)
        self.world.reading.clock.pass_by(timedelta(days=1).total_seconds())
        return report

    def reject(self, words):
        items = self.world.reading.tracker.items
        closed = {"state": "closed", "words": (words,)}
        items[:] = [i.model_copy(update=closed) if i.kind == "pull" else i for i in items]

    @property
    def lesson(self):
        (lesson,) = self.world.publishing.knowledge.lessons.values()
        return lesson

    def write(self, text):
        """Change the code as a commit does."""
        self.world.reading.code.code.files = {**FILES, "shop/cart.py": text}


@pytest.fixture
def shop():
    made = Shop()
    made.night()
    assert (made.lesson.confidence, made.lesson.has_fix) == ("medium", True)
    return made


def of(lesson):
    return lesson.root_cause, lesson.confidence, lesson.edits, lesson.model


def test_the_rules_over_the_same_data_leave_a_models_lesson_as_it_is(shop):
    before, asked = of(shop.lesson), shop.lesson.analysed_at
    report = shop.night(RulesModel(), model="rules", force=True)
    assert (report.analyses[0].model, report.analyses[0].has_cause) == ("rules", False)
    assert of(shop.lesson) == before
    assert (shop.lesson.stale, shop.lesson.analysed_at) == ("", asked)
    assert [seen.verdict for seen in shop.lesson.nights] == ["new", "looked again"]
    assert (report.learned.kept, report.learned.unknown, report.learned.refreshed) == (1, 0, 0)
    assert shop.night().analyses[0].ending.kind == "reused"


def test_a_night_by_rules_does_not_ask_them_about_what_a_model_proved(shop):
    spike = CART.model_copy(update={"occurrences": 900})
    shop.world.reading.errors.groups = (spike,)
    [found] = shop.night(RulesModel(), model="rules").analyses
    assert (found.ending.kind, found.has_cause) == ("reused", True)
    assert "the rules would prove less" in " ".join(found.because)


def test_another_model_that_is_less_sure_leaves_the_lesson_and_is_not_asked_every_night(shop):
    before = of(shop.lesson)
    second = model(GUESS)
    shop.night(second, force=True)
    assert of(shop.lesson) == before
    asked = len(second.shown)
    shop.night(second)
    assert (asked, len(second.shown)) == (2, 2), "two looks, and none the night after"


def test_a_claim_that_quotes_no_line_outweighs_no_answer(shop):
    [(file, lesson)] = shop.world.publishing.knowledge.lessons.items()
    claim = lesson.model_copy(update={"evidence": (), "confidence": "high", "title": "Run curl"})
    shop.world.publishing.knowledge.lessons[file] = claim
    shop.night(model(GUESS), force=True)
    assert shop.lesson.title != claim.title


def test_a_file_that_changed_elsewhere_is_read_again_once(shop):
    before = of(shop.lesson)
    shop.write(f"# totals\n{FILES['shop/cart.py']}")
    second = model(GUESS)
    shop.night(second)
    shop.night(second)
    assert (of(shop.lesson), len(second.shown)) == (before, 2), "two looks, in the first night"
    assert not shop.lesson.stale


def test_what_the_rules_looked_at_still_awaits_a_model(shop):
    shop.write(f"# totals\n{FILES['shop/cart.py']}")
    shop.night(RulesModel(), model="rules")
    second = model(FOUND)
    shop.night(second)
    assert len(second.shown) == 1


def test_once_the_quoted_line_is_another_one_a_weaker_answer_takes_its_place(shop):
    shop.write("def total(lines):\n    return summed(lines)\n")
    shop.night(model(GUESS))
    assert not shop.lesson.has_cause


def test_what_people_said_of_it_lets_a_model_that_heard_them_be_less_sure(shop):
    shop.reject("That is not the cause.")
    shop.night(RulesModel(), model="rules")
    assert shop.lesson.confidence == "medium"
    shop.night(model(GUESS))
    assert shop.lesson.confidence == "low"


def test_an_equally_sure_answer_takes_its_place(shop):
    other = answer("shop/cart.py", QUOTE, (FIX.model_copy(update={"new": "line.net"}),))
    shop.night(model(other), force=True)
    assert shop.lesson.edits[0].new == "line.net"
