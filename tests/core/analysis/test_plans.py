"""Who chooses model, effort, turns and tokens: one table for all of them."""

import pytest
from small_repo import case, frame
from tables import tables_of

from nightwatch_core.analysis.analyst import plan
from nightwatch_core.analysis.budget import LEADS, may_be_led, tier_of
from nightwatch_core.code.symptoms import RULES
from nightwatch_core.models.conversation import AgentSpec
from nightwatch_core.models.errors import ExceptionLink
from nightwatch_core.models.options import NightOptions

TABLES = tables_of(__file__)
SIMPLE, COMPLEX = case("KeyError", "m"), case("Net::ReadTimeout", "m")


def planned(of=COMPLEX, given=(), own=None, **options):
    agent = AgentSpec(name="x", prompt="p", **(own or {}))
    return plan(of, agent, NightOptions(**{"model": "set-model", **options}), given)


@pytest.mark.parametrize(
    ("of", "given", "own", "options", "expected"),
    [
        (COMPLEX, ("model",), {"model": "file"}, {}, {"model": "set-model"}),
        (COMPLEX, ("concurrency",), {"model": "file"}, {}, {"model": "file"}),
        (COMPLEX, (), {}, {}, {"model": "set-model", "effort": "high", "iterations": 20}),
        (COMPLEX, (), {"effort": "low"}, {}, {"effort": "low"}),
        (SIMPLE, (), {}, {}, {"iterations": 12}),
        (SIMPLE, (), {"max_iterations": 7}, {}, {"iterations": 7}),
        (SIMPLE, (), {"max_iterations": 50}, {}, {"iterations": 20}),
        (SIMPLE, (), {"max_iterations": 50}, {"max_iterations": 30}, {"iterations": 30}),
        (SIMPLE, (), {"max_iterations": 7}, {"max_iterations": 30}, {"iterations": 7}),
        (SIMPLE, (), {}, {"max_iterations": 30}, {"iterations": 12}),
        (COMPLEX, (), {}, {"max_iterations": 5}, {"iterations": 5}),
        (SIMPLE, (), {"thinking_budget": 12_000}, {}, {"effort": "high"}),
        (SIMPLE, (), {"thinking_budget": 12_000, "effort": "low"}, {}, {"effort": "low"}),
        (COMPLEX, (), {"model": "far-away"}, {"model": "rules"}, {"model": "rules"}),
    ],
)
def test_run_then_agent_file_then_setting_then_tier(of, given, own, options, expected):
    made = planned(of, given, own, **options)
    assert {name: getattr(made, name) for name in expected} == expected
    assert made.thinking_budget == own.get("thinking_budget")


@pytest.mark.parametrize(("error_class", "message", "cause", "may"), TABLES["led"])
def test_a_cheaper_model_leads_only_where_the_cause_is_local(error_class, message, cause, may):
    causes = (ExceptionLink(error_class=cause[0], message=cause[1]),) if cause else ()
    assert may_be_led(case(error_class, message, frame("a.rb", 1), causes=causes)) is may


def test_what_a_cheaper_model_leads_is_known_and_does_not_depend_on_load_or_rights():
    others = {*TABLES["not_local"]}
    assert LEADS.kinds | others < {rule.kind for rule in RULES.symptoms}
    assert LEADS.kinds.isdisjoint(others)
    assert {"auth", "database", "complex"}.isdisjoint(LEADS.tiers)


def test_a_case_is_as_hard_as_its_class_or_else_as_what_caused_it():
    causes = (ExceptionLink(error_class="PG::Error"), ExceptionLink(error_class="KeyError"))
    wrapped = case("ActionView::Template::Error", "m", frame("a.rb", 1), causes=causes)
    assert tier_of(wrapped) == "simple"
    assert tier_of(case("PG::Error", "m", causes=causes)) == "database"
    assert tier_of(case("Oops", "m")) == "other"
