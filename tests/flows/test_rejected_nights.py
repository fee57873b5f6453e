"""What becomes of a proved finding whose draft was closed unmerged: only its fix is asked for."""

from datetime import timedelta

import pytest
from night_world import CART, answer, worlds
from twins.reading import MemoryModel

from nightwatch_core.models.answer import Answer, Edit, Usage
from nightwatch_core.models.conversation import AssistantTurn, Capabilities, Reply
from nightwatch_core.text.plain_text import estimated_tokens

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_results")]

QUOTE = "return sum(line.price for line in lines)"
REMOTE = Capabilities(model="remote", input_price=5.0, output_price=25.0)
FIRST = Edit(path="shop/cart.py", old="line.price", new="line.cost")
OTHER = FIRST.model_copy(update={"new": "line.net_price"})
WORDS = "The field is called net_price."
ALONE = "Only the fix is wanted"


def fix_alone(*edits, **more):
    said = {"title": "", "root_cause": "", "confidence": "medium", "has_fix": bool(edits)}
    return Answer(**{**said, "file_changes": edits, **more}).model_dump_json()


def model(then):
    """Finds the cause with its first fix; asked for the fix alone it says `then`."""

    def reply(conversation):
        said = (
            then if ALONE in conversation.turns[0].text else answer("shop/cart.py", QUOTE, (FIRST,))
        )
        sent = estimated_tokens(
            f"{conversation.system}{conversation.tools}{conversation.answer_schema}"
            f"{conversation.turns}"
        )
        usage = Usage(calls=1, input_tokens=sent, output_tokens=300, cost=0.01)
        return Reply(turn=AssistantTurn(text=said), usage=usage)

    return MemoryModel((reply,), able=REMOTE)


def next_day(world):
    world.reading.clock.pass_by(timedelta(days=1).total_seconds())
    return world.night()


def reject(world, *words):
    items = world.reading.tracker.items
    items[:] = [
        item.model_copy(update={"state": "closed", "words": words}) if item.kind == "pull" else item
        for item in items
    ]


@pytest.fixture
def night():
    """The nights of a world, each within it."""

    def play(then, *words, nights=1, before=lambda world: None):
        world = worlds(groups=(CART,), model=model(then))
        reports = [world.night()]
        reject(world, *words)
        before(world)
        reports += [next_day(world) for _ in range(nights)]
        return world, reports

    return play


def test_another_fix_is_asked_for_alone_with_the_reviewers_words(night):
    world, (first, second, third) = night(fix_alone(OTHER), WORDS, nights=2)
    [found] = second.analyses
    told = world.reading.model.shown[1].turns[0].text
    assert WORDS in told
    assert "not to be proposed again unchanged" in told
    assert "+line.cost" in told
    assert (found.fix, found.usage.calls, found.confidence) == ((OTHER,), 1, "medium")
    assert found.root_cause == first.analyses[0].root_cause
    assert found.news == "its fix was rejected in #2"
    assert [receipt.kind for receipt in second.receipts] == ["comment", "pull", "answer"]
    assert found.usage.new_tokens < 0.7 * first.analyses[0].usage.new_tokens
    assert third.analyses[0].usage.calls == 0


def test_a_doubted_cause_is_unsettled_and_analysed_afresh_on_its_turn(night):
    doubt = fix_alone(confidence="low", question="Who sets the price?")
    world, (_, second, third, fourth) = night(doubt, "That is not the cause.", nights=3)
    [found] = second.analyses
    assert (found.confidence, found.fix, found.question) == ("low", (), "Who sets the price?")
    assert (found.usage.calls, found.second_look) == (1, None)
    assert [receipt.kind for receipt in second.receipts] == ["answer"]
    [again] = third.analyses
    assert again.news == "its confidence was low, and this is its 2nd night"
    assert ALONE not in world.reading.model.shown[2].turns[0].text
    assert "That is not the cause." in world.reading.model.shown[2].turns[0].text
    assert again.confidence == "medium"
    assert fourth.analyses[0].usage.calls == 0
