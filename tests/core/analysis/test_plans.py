"""Who chooses model, effort, turns and tokens: one table for all of them."""

import pytest
from small_repo import case, frame

from nightwatch_core.analysis.analyst import effort_for, plan
from nightwatch_core.models.conversation import AgentSpec
from nightwatch_core.models.options import NightOptions

SIMPLE, COMPLEX = case("KeyError", "m"), case("Net::ReadTimeout", "m")
FILE = "agents/x.md"
# field of the plan, its option, its field in an agent file; by the run, the file, the setting, tier
FIELDS = (
    ("model", "model", "model", "run-model", "file-model", "set-model", "set-model"),
    ("effort", "effort", "effort", "low", "medium", "high", "high"),
)


def planned(of=COMPLEX, given=(), own=None, **options):
    agent = AgentSpec(name="x", prompt="p", **(own or {}))
    return plan(of, agent, NightOptions(**{"model": "set-model", **options}), given)


@pytest.mark.parametrize(("field", "option", "in_file", "run", "file", "setting", "tier"), FIELDS)
def test_run_then_file_then_setting_then_tier(field, option, in_file, run, file, setting, tier):
    def found(given=(), own=None, **options):
        made = planned(given=given, own=own, **options)
        return getattr(made, field), made.because[field]

    own = {in_file: file}
    assert found((option,), own, **{option: run}) == (run, "run parameter")
    assert found((), own, **{option: setting}) == (file, FILE)
    assert found((), None, **{option: setting}) == (setting, "setting")
    told = {"model": "setting"}.get(field, "tier complex")
    assert found() == (tier, told)
    other = "concurrency"  # that something else was given says nothing
    assert found((other,), own, **{option: setting}) == (file, FILE)


@pytest.mark.parametrize(
    ("ceiling", "own", "of", "turns", "because"),
    [
        (20, None, COMPLEX, 20, "tier complex"),
        (8, None, COMPLEX, 8, "tier complex, 20; ceiling 8"),
        (15, None, SIMPLE, 12, "tier simple"),
        (8, {"max_iterations": 50}, SIMPLE, 8, "agents/x.md, 50; ceiling 8"),
        (1, None, SIMPLE, 1, "tier simple, 12; ceiling 1"),
    ],
    ids=["under", "tier", "below", "file", "one"],
)
def test_the_ceiling_always_wins(ceiling, own, of, turns, because):
    made = planned(of, (), own, max_iterations=ceiling)
    assert (made.iterations, made.because["iterations"]) == (turns, because)


def test_a_thinking_budget_stands_for_an_effort():
    made = planned(own={"thinking_budget": 12_000}, of=SIMPLE)
    assert (made.effort, made.thinking_budget) == ("high", 12_000)
    assert made.because["effort"] == "agents/x.md: thinking_budget 12000"
    both = planned(own={"thinking_budget": 12_000, "effort": "low"})
    assert (both.effort, both.thinking_budget) == ("low", 12_000)
    run = planned(given=("effort",), own={"thinking_budget": 12_000}, effort="low")
    assert (run.effort, run.thinking_budget) == ("low", None)
    assert [effort_for(n) for n in (1_024, 4_001, 8_001)] == ["low", "medium", "high"]


def test_no_file_takes_a_night_off_the_rules():
    made = planned(own={"model": "far-away"}, model="rules")
    assert (made.model, made.because["model"]) == ("rules", "the rules model takes no agent")


def test_every_field_says_because():
    assert set(planned().because) == {"model", "effort", "iterations", "max_tokens"}


def test_a_wrapped_error_is_as_hard_as_what_it_wraps():
    wrapped = case("ActionView::Template::Error", "m", frame("a.rb", 1))
    (link,) = wrapped.trace.links
    root = link.model_copy(update={"error_class": "Net::ReadTimeout"})
    trace = wrapped.trace.model_copy(update={"links": (link, root)})
    assert planned(wrapped.model_copy(update={"trace": trace})).iterations == 20
