"""Who answers where Claude cannot be reached."""

import json

import pytest
from analysis_shapes import allowance, answer, asks, case, says, trace, tree
from claude_talks import claude, opening, results
from services.anthropic import Anthropic

from nightwatch_core.adapters.clock import SystemClock
from nightwatch_core.adapters.falling_back import FallingBack
from nightwatch_core.adapters.memory import MemoryModel
from nightwatch_core.adapters.rules import RulesModel
from nightwatch_core.agent.analysing import analyse
from nightwatch_core.agent.specs import BUILT_IN
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.conversation import FELL_BACK, Reply
from nightwatch_core.models.research import ResearchContext

READ = asks(("read_file", {"path": "shop/cart.py"}))


def failing(error, times=99):
    """A model that raises so many times before it answers."""
    left = iter(range(times))

    def reply(_shown):
        if next(left, None) is not None:
            raise error
        return says(answer(), usage=Usage(calls=1, input_tokens=7))

    return MemoryModel([reply])


def away(spent=None):
    error = TryLater("Claude is overloaded: try again later")
    error.usage = spent
    return error


def analysed(model):
    return analyse(
        case(), (trace(),), ResearchContext(), tree(), model, BUILT_IN, allowance(), SystemClock()
    )


def test_the_rules_answer_where_claude_cannot_be_reached():
    with Anthropic() as server:
        server.fail("529", times=99)
        found = analysed(FallingBack(claude(server), RulesModel()))
    assert found.tags[0] == FELL_BACK
    assert "529, overloaded_error" in found.next_steps[0]
    assert "Analyse this error again" in found.next_steps[0]
    assert found.title == analysed(RulesModel()).title


def test_what_can_be_reached_is_not_marked():
    with Anthropic() as server:
        found = analysed(FallingBack(claude(server), RulesModel()))
    assert FELL_BACK not in found.tags
    assert found.usage.calls == 2


def test_whoever_begins_leads_to_the_end():
    second = MemoryModel([READ, answer()])
    first = failing(away(), times=1)
    model = FallingBack(first, second)
    begun = model.reply(opening(), 5)
    ended = model.reply(opening().said(begun.turn), 5)
    assert begun.turn.calls == READ.turn.calls
    assert begun.detail == f"{FELL_BACK}: Claude is overloaded: try again later"
    assert json.loads(ended.turn.text)["tags"] == [FELL_BACK]
    assert len(first.shown) == 1
    assert model.reply(opening(), 5).usage.input_tokens == 7  # the next one is the first's again


def test_the_second_model_never_sees_the_marks():
    turn = READ.turn.model_copy(update={"opaque": "its own"})
    second = MemoryModel([Reply(turn=turn, stop="tools"), answer()])
    model = FallingBack(failing(away()), second)
    begun = model.reply(opening(), 5)
    model.reply(opening().said(begun.turn), 5)
    assert "its own" in begun.turn.opaque
    assert second.shown[1].turns[-1] == turn


def test_in_mid_conversation_it_is_the_callers_to_repeat():
    model = FallingBack(failing(away()), MemoryModel([answer()]))
    with pytest.raises(TryLater):
        model.reply(opening().said(READ.turn), 5)


def test_it_tries_as_often_as_it_is_told_and_counts_what_was_spent():
    error = away(Usage(calls=1, input_tokens=100))
    patient = FallingBack(failing(error, times=2), MemoryModel([answer()]), tries=3)
    reply = patient.reply(opening(), 5)
    assert (reply.usage.input_tokens, reply.detail) == (207, "")
    hasty = FallingBack(failing(error, times=2), MemoryModel([answer()]), tries=2)
    reply = hasty.reply(opening(), 5)
    assert reply.usage.input_tokens >= 200
    assert FELL_BACK in reply.detail


@pytest.mark.parametrize("error", [StopTheNight("the key is not valid"), GiveUp("too odd")])
def test_nothing_else_makes_it_fall_back(error):
    with pytest.raises(type(error)):
        FallingBack(failing(error), MemoryModel([answer()])).reply(opening(), 5)


def test_bad_credentials_stop_the_night():
    with Anthropic() as server:
        server.fail("401")
        with pytest.raises(StopTheNight):
            analysed(FallingBack(claude(server), RulesModel()))


def test_capabilities_say_who_stands_in():
    with Anthropic() as server:
        server.fail("529", times=3, path="/v1/models")
        model = FallingBack(claude(server), RulesModel())
        away, back = model.capabilities(), model.capabilities()
    assert away.local
    assert away.note.startswith(f"{FELL_BACK}: Claude answered 529")
    assert (back.model, back.note) == ("claude-opus-5-5", "")


@pytest.mark.parametrize("text", ["prose", "[1]", '{"tags": null}', ""])
def test_unreadable_answers_stay_unreadable(text):
    model = FallingBack(failing(away()), MemoryModel([says(text)]))
    said = model.reply(opening(), 5).turn.text
    assert said == text or json.loads(said)["tags"] == [FELL_BACK]


def test_midway_the_second_model_begins_anew_from_the_opening():
    with Anthropic() as server:
        server.fail("529", times=99, after=1)
        found = analysed(FallingBack(claude(server), RulesModel(), midway=True))
        assert len(server.bodies) == 4  # one turn, and three attempts at the next
    assert found.tags[0] == FELL_BACK
    assert "529" in found.next_steps[0]
    assert found.title == analysed(RulesModel()).title
    assert found.usage.calls >= 1
    assert found.usage.cost > 0


def test_midway_the_second_model_goes_on_with_its_own_turns_only():
    first = MemoryModel([READ])
    second = MemoryModel([READ, answer()])
    model = FallingBack(Once(first), second, midway=True)
    begun = model.reply(opening(), 5)
    talk = opening().said(begun.turn, results(begun))
    taken = model.reply(talk, 5)
    assert taken.detail == f"{FELL_BACK}: Claude is overloaded: try again later"
    talk = talk.said(taken.turn, results(taken))
    assert model.reply(talk, 5).stop == "answer"
    assert [len(shown.turns) for shown in second.shown] == [1, 3]
    assert second.shown[1].turns[1].opaque == READ.turn.opaque


def test_without_midway_a_conversation_that_breaks_is_the_callers():
    model = FallingBack(Once(MemoryModel([READ])), RulesModel())
    begun = model.reply(opening(), 5)
    with pytest.raises(TryLater):
        model.reply(opening().said(begun.turn, results(begun)), 5)


class Once:
    """A model that cannot be reached after its first turn."""

    def __init__(self, model):
        self._model, self._asked = model, 0

    def reply(self, conversation, timeout):
        self._asked += 1
        if self._asked > 1:
            raise away()
        return self._model.reply(conversation, timeout)

    def capabilities(self):
        return self._model.capabilities()
