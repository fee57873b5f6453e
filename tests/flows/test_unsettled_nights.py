"""What becomes of findings over the nights: proved ones are kept, weak ones wait for their turn."""

from dataclasses import replace
from datetime import timedelta

import pytest
from night_world import CART, answer, worlds
from twins.reading import MemoryHost, MemoryModel

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import Answer, Edit, Usage
from nightwatch_core.models.conversation import AssistantTurn, Capabilities, Reply, ToolCall
from nightwatch_core.text.plain_text import estimated_tokens

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_results")]

QUOTE = "return sum(line.price for line in lines)"
REMOTE = Capabilities(model="remote", input_price=5.0, output_price=25.0)
WORKFLOW = Edit(path=".github/workflows/ci.yml", action="create", new="on: push  # curl evil")
GUESS = Answer(
    title="Perhaps the price",
    root_cause="Some lines may lack a price.",
    confidence="low",
    suggested_next_steps=("Which lines have no price?",),
).model_dump_json()


def remote(*script):
    return MemoryModel(script, able=REMOTE)


def days(world, count, **choices):
    """As many nights, one a day."""
    for _ in range(count):
        yield world.night(**choices)
        world.reading.clock.pass_by(timedelta(days=1).total_seconds())


def read(conversation):
    """Reads what it has read before, until it is told to conclude."""
    if conversation.tools_off:
        return answer("shop/cart.py", QUOTE)
    call = ToolCall(id=f"c{len(conversation.turns)}", name="blame", arguments={"line": 1})
    usage = Usage(calls=1, input_tokens=1_000, output_tokens=50, cost=0.01)
    return Reply(turn=AssistantTurn(calls=(call,)), stop="tools", usage=usage)


def test_a_proved_finding_is_kept_even_where_it_was_wrapped_up():
    first, second = days(worlds(groups=(CART,), model=remote(read)), 2)
    [found], [known] = first.analyses, second.analyses
    assert (found.ending.kind, found.confidence) == ("wrapped up", "medium")
    assert found.usage.new_tokens > 3_000
    assert (known.ending.kind, known.usage.new_tokens) == ("reused", 0)
    assert known.evidence[0].verified
    assert [receipt.kind for receipt in second.receipts] == []


class ContentsOnly(MemoryHost):
    """A host whose token may not read pull requests."""

    def pulls_merged_since(self, since):
        raise GiveUp("GitHub refused the request: Resource not accessible")


def test_a_night_without_the_permission_to_read_pull_requests_goes_on():
    world = worlds(groups=(CART,))
    reading = replace(world.reading, code=ContentsOnly(world.reading.code.code))
    [report] = days(replace(world, reading=reading), 1)
    assert len(report.analyses) == 1
    assert any("reading merged pulls: GitHub refused" in reason for reason in report.degraded)


def test_a_weak_finding_waits_until_anything_speaks_for_another():
    model = remote(GUESS)
    world = worlds(groups=(CART,), model=model)
    nights = [*days(world, 4), *days(world, 3, model="another")]
    asked = [bool(night.analyses[0].usage.calls) for night in nights]
    assert [number for number, called in enumerate(asked, 1) if called] == [1, 5]
    waiting = nights[2].analyses[0].waiting
    assert waiting.startswith("seen since 2026-11-2")
    assert "looked at on 1 of 2 nights, waiting for a change of shop/cart.py, a" in waiting
    assert "Which lines have no price?" in waiting
    assert "looked at on 2 of 6 nights" in nights[6].analyses[0].waiting
    assert not any(night.receipts for night in nights)


def test_a_model_that_obeys_what_it_reads_proposes_nothing():
    obeys = answer("shop/cart.py", QUOTE, (WORKFLOW,))
    world = worlds(groups=(CART,), model=remote(obeys))
    first, second, third = days(world, 3)
    [found] = first.analyses
    assert (found.fix, found.has_fix) == ((), False)
    assert [(item.path, item.is_slip) for item in found.refused] == [(WORKFLOW.path, False)]
    assert (found.confidence, found.doubt) == ("low", "said medium, but its fix was refused")
    assert (first.receipts, second.receipts, list(world.reading.tracker.items)) == ((), (), [])
    [lesson] = world.publishing.knowledge.lessons.values()
    assert (lesson.has_fix, lesson.edits, lesson.fix_owed) == (False, (), "")
    assert "curl evil" not in first.model_dump_json() + lesson.model_dump_json()
    assert third.analyses[0].usage.new_tokens == 0


FIX = Edit(path="shop/cart.py", old="line.price", new="line.cost")
SLIP = FIX.model_copy(update={"old": "line.prize"})


def counted(text):
    """An answer that is paid by what was sent."""

    def reply(conversation):
        sent = estimated_tokens(f"{conversation.system}{conversation.turns}")
        usage = Usage(calls=1, input_tokens=sent, output_tokens=300, cost=0.01)
        said = text(conversation) if callable(text) else text
        return Reply(turn=AssistantTurn(text=said), usage=usage)

    return reply


def test_a_fix_with_a_slip_is_mended_in_the_same_night():
    def mended(conversation):
        return answer("shop/cart.py", QUOTE, (FIX if len(conversation.turns) > 1 else SLIP,))

    model = remote(counted(mended))
    [night] = days(worlds(groups=(CART,), model=model), 1)
    assert (night.analyses[0].fix, night.analyses[0].refused) == ((FIX,), ())
    assert len(model.shown) == 2
    assert "the old text occurs 0 times" in model.shown[1].turns[-1].text
    assert [receipt.kind for receipt in night.receipts] == ["issue", "pull"]


def test_a_fix_that_stays_broken_is_asked_for_alone_the_next_night():
    def mended(conversation):
        alone = "Only the fix is wanted" in conversation.turns[0].text
        return answer("shop/cart.py", QUOTE, (FIX if alone else SLIP,))

    model = remote(counted(mended))
    world = worlds(groups=(CART,), model=model)
    first, second, third = days(world, 3)
    [lesson] = world.publishing.knowledge.lessons.values()
    assert [item.is_slip for item in first.analyses[0].refused] == [True]
    assert [receipt.kind for receipt in first.receipts] == ["issue"]
    [found] = second.analyses
    assert (found.fix, found.usage.calls, found.root_cause) == ((FIX,), 1, lesson.root_cause)
    assert found.news.startswith("its fix is owed: shop/cart.py: the old text occurs 0 times")
    assert "pull" in [receipt.kind for receipt in second.receipts]
    assert found.usage.new_tokens < first.analyses[0].usage.new_tokens
    assert (lesson.fix_owed, lesson.unsettled_nights, lesson.has_fix) == ("", 0, True)
    assert third.analyses[0].usage.new_tokens == 0
