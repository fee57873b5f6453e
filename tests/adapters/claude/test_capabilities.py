"""Capabilities and prices."""

import pytest

from nightwatch_core.adapters.claude.capabilities import Able, able, capabilities
from nightwatch_core.analysis.model_facts import priced
from nightwatch_core.models.analysis import Usage


@pytest.mark.parametrize(("prompt", "dollars"), [(100_000, 0.01), (100_001, 0.0500005)])
def test_a_long_prompt_has_its_own_price(prompt, dollars):
    assert priced("claude-haiku-5-5", Usage(input_tokens=prompt)).cost == pytest.approx(dollars)


def test_what_the_cache_holds_counts_for_the_length_of_a_prompt():
    used = Usage(input_tokens=1, cache_read_tokens=100_000)
    assert priced("claude-haiku-5-5", used).cost == pytest.approx((0.5 + 100_000 * 0.05) / 1e6)


def test_an_unknown_model_has_no_price():
    assert priced("qwen", Usage(input_tokens=5)).cost is None
    assert capabilities(Able(model="qwen")).output_price is None


@pytest.mark.parametrize(
    "info",
    [
        {},
        {"capabilities": []},
        {"capabilities": {"thinking": None, "effort": {"low": True}}},
        {"capabilities": {"thinking": {"types": "adaptive"}, "structured_outputs": "yes"}},
        {"max_tokens": "many", "max_input_tokens": -1, "lifecycle": None, "retires_at": None},
        {"id": "m", "object": "model", "created": 1, "owned_by": "somebody"},
    ],
)
def test_odd_answers_support_nothing(info):
    plain = Able(model="m", listed=True)
    assert able("m", info).model_copy(update={"caching": False}) == plain


@pytest.mark.parametrize(
    ("has", "wanted", "taken"),
    [
        (("low", "medium", "high"), "medium", "medium"),
        (("low", "high"), "medium", "low"),
        (("high",), "low", ""),
        ((), "high", ""),
    ],
)
def test_efforts(has, wanted, taken):
    assert Able(model="m", efforts=has).effort(wanted) == taken


def test_notes():
    gone = Able(model="m", lifecycle="deprecated", line="haiku")
    assert capabilities(gone).note == "will be retired: claude-haiku-5-5 takes its place"
    assert capabilities(Able(model="m")).note == ""
