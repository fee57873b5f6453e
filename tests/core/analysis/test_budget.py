"""A conversation stays inside what it may use, whatever the model writes and the tools tell."""

import pytest
from analysis_shapes import OPENING, allowance, answer, asks, says
from hypothesis import given, settings
from hypothesis import strategies as st
from twins.reading import MemoryClock, MemoryModel

from nightwatch_core.analysis.budget import concluding_tokens, split_budget
from nightwatch_core.analysis.loop import converse
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import Capabilities, ToolResult, UserTurn
from nightwatch_core.models.options import NightOptions

REMOTE = Capabilities(model="remote", input_price=5.0, output_price=25.0, context_tokens=10**6)
UNPRICED = Capabilities(model="qwen3", context_tokens=10**6)
LOCAL = Capabilities(model="memory", local=True, input_price=0.0, output_price=0.0)


def asking(shown):
    """Ask for one new file after the other until tools are off."""
    name = f"{len(shown.turns)}.py"
    return says(answer()) if shown.tools_off else asks(("read_file", {"path": name}))


class Billed(MemoryModel):
    """A model that writes all it may, with a cache that forbidding calls empties."""

    cached, written = 0, 0

    def reply(self, conversation, timeout):
        said = conversation.turns[-1]
        told = len(said.text) if isinstance(said, UserTurn) else 0
        told += sum(len(one.text) for one in getattr(said, "results", ()))
        prompt = self.cached + self.written + told // 4 + (0 if self.shown else 30)
        fresh = prompt if conversation.no_calls else prompt - self.cached
        most = conversation.max_tokens
        dollars = fresh * 1.25 * 5 + (prompt - fresh) * 0.5 + most * 25
        usage = Usage(
            calls=1, output_tokens=most, cache_write_tokens=fresh,
            cache_read_tokens=prompt - fresh, cost=dollars / 1_000_000,
        )  # fmt: skip
        self.cached, self.written = prompt, most
        self.last = usage
        return super().reply(conversation, timeout).model_copy(update={"usage": usage})


def telling(characters):
    def run(call, known=frozenset()):
        line = "x" * 96 + "\n"
        rows = characters // 100 if characters > 100 else 1
        text = "".join(f"{n:>3}|{line}" for n in range(rows))
        path = call.arguments["path"]
        text = f"{path} (lines 0-{rows} of 999)\n{text[: max(characters, 6)]}"
        shown = tuple(f"{path}:{n}" for n in range(rows))
        return ToolResult(id=call.id, name=call.name, text=text, shown=shown)

    return run


def talk(able=REMOTE, told=6, model=None, script=(asking,), clock=None, opening=OPENING, **may):
    model = model or MemoryModel(list(script), able=able)
    told_by = telling(told)
    may = allowance(**{"iterations": 90, "cost": None, **may})
    return converse(opening, model, told_by, may, clock or MemoryClock()), model


def test_every_call_is_reserved_before_it_is_made():
    model = Billed([asking], able=REMOTE)
    ended, _ = talk(model=model, tokens=120_000)
    assert ended.ending.detail == "tokens"
    assert ended.state.budget.used.new_tokens <= 120_000
    granted_each = [shown.max_tokens for shown in model.shown]
    assert granted_each[0] == 32_000
    assert granted_each[0] > granted_each[1] >= concluding_tokens(allowance(tokens=120_000)) // 2


def test_the_models_context_is_a_bound_too():
    small = REMOTE.model_copy(update={"context_tokens": 32_768, "max_output_tokens": 4_000})
    usage = Usage(calls=1, input_tokens=18_000, output_tokens=500)
    script = [lambda shown: asking(shown).model_copy(update={"usage": usage})]
    ended, model = talk(able=small, script=script, tokens=10**9)
    assert ended.ending.detail == "context"
    assert len(model.shown) == 2
    assert all(shown.max_tokens <= 4_000 for shown in model.shown)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1_000, 300_000),
    st.none() | st.floats(0.01, 3.0),
    st.integers(1, 60_000),
    st.booleans(),
    st.integers(500, 64_000),
)
def test_a_bound_is_passed_by_one_call_at_most(tokens, cost, told, torn, most):
    """And only by what tools told more than anybody could know."""

    def unreadable(shown):
        return says("prose") if shown.tools_off else asking(shown)

    model = Billed([unreadable if torn else asking], able=REMOTE)
    opening = OPENING.model_copy(update={"max_tokens": most})
    ending = "wrapped up"
    try:
        ended, _ = talk(model=model, told=told, tokens=tokens, cost=cost, opening=opening)
        used = ended.state.budget.used
    except GiveUp as trouble:
        used, ending = trouble.usage, trouble.ending.kind
    assert ending in (("invalid", "budget gone") if torn else ("wrapped up", "budget gone"))
    last = getattr(model, "last", Usage())
    before = used.new_tokens - last.new_tokens
    assert before <= tokens
    assert cost is None or used.cost - last.cost <= cost + 1e-9
    if told < 300 and not torn:
        assert used.new_tokens <= tokens
        assert cost is None or used.cost <= cost + 1e-9


def test_after_a_summary_the_prompt_is_short_again():
    summing = Usage(calls=1, cache_read_tokens=90_000, output_tokens=800, compactions=1)
    paused = says("", stop="paused", usage=summing)
    ended, model = talk(script=[paused, answer()], tokens=60_000)
    assert ended.ending.kind == "answered"
    assert not model.shown[1].tools_off


def test_an_allowance_too_small_for_one_call_is_not_begun():
    for may in ({"tokens": 0}, {"cost": 0.0}, {"tokens": -5}, {"tokens": 50}, {"cost": 0.0001}):
        model = MemoryModel([answer()], able=REMOTE)
        with pytest.raises(GiveUp, match="total_token_budget") as raised:
            talk(model=model, **may)
        assert raised.value.ending.kind == "budget gone"
        assert raised.value.usage == Usage()
        assert not model.shown


def test_a_first_message_that_does_not_fit_the_context_is_not_sent():
    small = REMOTE.model_copy(update={"context_tokens": 4_096})
    opening = OPENING.model_copy(update={"turns": (UserTurn(text="It broke. " * 1_300),)})
    with pytest.raises(GiveUp, match="model with a larger context") as raised:
        talk(able=small, opening=opening)
    assert raised.value.ending.kind == "context exceeded"


def test_a_local_model_is_bounded_by_turns_and_time_alone():
    ended, model = talk(able=LOCAL, tokens=0, cost=0.0, iterations=3)
    assert ended.ending.detail == "iterations"
    assert [shown.max_tokens for shown in model.shown] == [OPENING.max_tokens] * 3


@pytest.mark.parametrize("known", [{}, {"input_price": 1.0}, {"output_price": 1.0}])
def test_an_unknown_price_and_a_cap_on_usd_refuse_to_start(known):
    able = UNPRICED.model_copy(update=known)
    model = MemoryModel([answer()], able=able)
    with pytest.raises(StopTheNight, match="qwen3.*--cost-per-night 0"):
        talk(model=model, cost=1.0)
    assert not model.shown


def test_a_call_whose_price_turns_out_unknown_is_not_taken_for_free():
    usage = Usage(calls=1, input_tokens=10, cost=None)
    script = [lambda shown: asking(shown).model_copy(update={"usage": usage})]
    ended, model = talk(script=script, cost=1.0)
    assert ended.ending.detail == "cost"
    assert len(model.shown) == 2


class Slow(MemoryModel):
    """Takes its time, and notes how much it was given."""

    def reply(self, conversation, timeout):
        self.given.append(timeout)
        self.clock.pass_by(self.takes)
        return super().reply(conversation, timeout)


@pytest.mark.parametrize(
    ("takes", "given_times"), [(100, [600, 500, 400, 300, 200, 100, 90]), (599, [600, 90])]
)
def test_the_time_bound_and_the_time_a_call_is_given(takes, given_times):
    model = Slow([asking], able=LOCAL)
    model.given, model.clock, model.takes = [], MemoryClock(), takes
    ended, _ = talk(model=model, clock=model.clock, seconds=600)
    assert ended.ending.detail == "time"
    assert model.given == given_times


OPUS = Capabilities(model="opus", input_price=4, output_price=20)


CHEAP = OPUS.model_copy(update={"input_price": 0.1, "output_price": 0.5})
SPENT = Usage(
    input_tokens=400_000, output_tokens=50_000, cache_write_tokens=50_000,
    cache_read_tokens=9_000_000, cost=5.0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "errors", "used", "able", "shares"),
    [
        # where all would get too little, the best ranked are served
        ({"total_token_budget": 100_000, "cost_per_night": 1}, 8, None, None,
         [(50_000, 0.5)] * 2 + [(0, 0.0)] * 6),
        ({"total_token_budget": 1_000}, 2, None, None, [(1_000, 1.5), (0, 0.0)]),
        # what is useful in USD goes by the model's price
        ({"cost_per_night": 1}, 10, None, OPUS, [(120_000, 1 / 3)] * 3 + [(0, 0.0)] * 7),
        ({"cost_per_night": 1}, 10, None, CHEAP, [(100_000, 0.1)] * 10),
        # without a cap
        ({"cost_per_night": 0}, 2, None, None, [(120_000, None)] * 2),
        ({"cost_per_night": 0}, 1, Usage(cost=None), None, [(120_000, None)]),
        ({"cost_per_error": 0}, 2, None, None, [(120_000, 3.0)] * 2),
        # what is gone is gone, and an unknown price is never nothing
        ({}, 10, SPENT, None, [(50_000, 0.1)] * 10),
        ({}, 4, Usage(input_tokens=10, cost=None), None, [(120_000, 0.0)] * 4),
        ({"token_budget_per_error": 30_000}, 2, None, None, [(30_000, 1.5)] * 2),
        ({}, 0, None, None, []),
    ],
)  # fmt: skip
def test_the_shares_of_a_night(options, errors, used, able, shares):
    may = split_budget(NightOptions(**options), errors, used, able)
    assert [one.tokens for one in may] == [tokens for tokens, _ in shares]
    costs = [cost for _, cost in shares]
    assert [one.cost for one in may] == (costs if None in costs else pytest.approx(costs))


@given(st.integers(0, 300), st.integers(0, 2_000_000), st.floats(0, 20))
def test_all_shares_together_stay_inside_the_night(errors, tokens, cost):
    options = NightOptions()
    may = split_budget(options, errors, Usage(input_tokens=tokens, cost=cost), OPUS)
    assert len(may) == errors
    assert sum(one.tokens for one in may) <= max(options.total_token_budget - tokens, 0)
    assert sum(one.cost for one in may) <= max(options.cost_per_night - cost, 0) + 1e-9
    assert sorted(may, key=lambda one: -one.tokens) == list(may), "nobody gets more than a better"
