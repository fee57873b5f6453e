"""Who chooses model, effort, turns and tokens: one table for all of them."""

import pytest
from small_repo import case

from nightwatch_core.analysis.analyst import effort_for, plan
from nightwatch_core.models.conversation import AgentSpec
from nightwatch_core.models.options import NightOptions

SIMPLE, COMPLEX = case("KeyError", "m"), case("Net::ReadTimeout", "m")
FILE = "agents/x.md"


def planned(of=COMPLEX, given=(), own=None, **options):
    agent = AgentSpec(name="x", prompt="p", **(own or {}))
    return plan(of, agent, NightOptions(**{"model": "set-model", **options}), given)


def test_the_run_names_the_model_then_the_file_then_the_setting():
    def found(given=(), own=None):
        made = planned(given=given, own=own)
        return made.model, made.because["model"]

    own = {"model": "file-model"}
    assert found(("model",), own) == ("set-model", "run parameter")
    assert found(("concurrency",), own) == ("file-model", FILE)
    assert found() == ("set-model", "setting")


def test_the_file_names_the_effort_then_the_tier():
    made = planned(own={"effort": "low"})
    assert (made.effort, made.because["effort"]) == ("low", FILE)
    assert (planned().effort, planned().because["effort"]) == ("high", "tier complex")


@pytest.mark.parametrize(
    ("own", "of", "turns", "because"),
    [
        (None, COMPLEX, 20, "tier complex"),
        (None, SIMPLE, 12, "tier simple"),
        ({"max_iterations": 7}, SIMPLE, 7, "agents/x.md"),
        ({"max_iterations": 50}, SIMPLE, 20, "agents/x.md, 50; ceiling 20"),
    ],
    ids=["complex", "simple", "file", "ceiling"],
)
def test_the_ceiling_always_wins(own, of, turns, because):
    made = planned(of, (), own)
    assert (made.iterations, made.because["iterations"]) == (turns, because)


def test_a_thinking_budget_stands_for_an_effort():
    made = planned(own={"thinking_budget": 12_000}, of=SIMPLE)
    assert (made.effort, made.thinking_budget) == ("high", 12_000)
    assert made.because["effort"] == "agents/x.md: thinking_budget 12000"
    both = planned(own={"thinking_budget": 12_000, "effort": "low"})
    assert (both.effort, both.thinking_budget) == ("low", 12_000)
    assert [effort_for(n) for n in (1_024, 4_001, 8_001)] == ["low", "medium", "high"]


def test_no_file_takes_a_night_off_the_rules():
    made = planned(own={"model": "far-away"}, model="rules")
    assert (made.model, made.because["model"]) == ("rules", "the rules model takes no agent")
