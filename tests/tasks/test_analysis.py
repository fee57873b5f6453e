"""What an analysis is kept under: a resumed night finds it again, and nothing else does."""

from contextlib import suppress
from dataclasses import replace

from night_world import CART, PAY, worlds
from prefect.context import TaskRunContext
from twins.reading import MemoryAgents

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import Allowance
from nightwatch_core.models.assignment import Assignment
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import Case
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.research import ResearchContext
from tasks.analysis import analysis_key
from tasks.progress import NightProgress, shown_by

ALLOWANCE = Allowance(iterations=5, tokens=100_000, cost=1.0, seconds=600)
COMMIT = Commit(repository="shop", sha="a" * 40)
CASE = Assignment(case=Case(leader=CART), allowance=ALLOWANCE, commit=COMMIT, night="n1")
OPTIONS = NightOptions(model="memory")
(AGENT,) = MemoryAgents().agents


def key(assignment: Assignment = CASE, options: NightOptions = OPTIONS, **agent: object) -> str:
    world = worlds()
    shelf = MemoryAgents((AGENT.model_copy(update=agent),))
    world.reading = replace(world.reading, agents=shelf)
    parameters = {"assignment": assignment, "night": world.over(options)}
    return analysis_key(TaskRunContext.model_construct(), parameters)


def test_the_same_analysis_is_found_again() -> None:
    assert key() == key(CASE.model_copy(), OPTIONS.model_copy(update={"concurrency": 9}))
    assert key().startswith("analysis/n1/")


def test_whatever_shapes_an_analysis_makes_it_another_one() -> None:
    case, elsewhere = Case(leader=PAY), COMMIT.model_copy(update={"sha": "b" * 40})
    told = ResearchContext(leader_findings=("a leader's",))
    others = [
        key(digest="of another text"),
        key(effort="high"),
        key(options=OPTIONS.model_copy(update={"model": "another"})),
        key(options=OPTIONS.model_copy(update={"lead_model": "cheaper"})),
        key(CASE.model_copy(update={"case": case})),
        key(options=OPTIONS.model_copy(update={"total_token_budget": 9_000})),
        key(CASE.model_copy(update={"commit": elsewhere})),
        key(CASE.model_copy(update={"research": told})),
        key(CASE.model_copy(update={"night": "n2"})),
    ]
    assert len({key(), *others}) == 1 + len(others)


def test_what_was_learned_or_counted_since_the_night_began_does_not() -> None:
    learned = ResearchContext(conventions="Tests come first.")
    counted = CART.model_copy(update={"occurrences": 99})
    others = [
        key(CASE.model_copy(update={"research": learned})),
        key(CASE.model_copy(update={"case": Case(leader=counted)})),
        key(CASE.model_copy(update={"allowance": ALLOWANCE.model_copy(update={"tokens": 9})})),
    ]
    assert {key(), *others} == {key()}


def test_whoever_watches_sees_the_wave_the_error_and_what_was_spent():
    told, night = [], NightProgress()
    with shown_by(told.append, 0.0):
        night.begin((CASE, CASE), NightOptions(cost_per_night=2.5))
        with night.analysing(CASE) as costs:
            costs.append(0.5)
        with suppress(GiveUp), night.analysing(CASE):
            raise GiveUp("no answer")
        night.begin((CASE,), NightOptions())
        with night.analysing(CASE):
            night.begin((), NightOptions())
    assert told[0] == f"wave 1: 0 of 2 errors analysed, $0.00 of $2.50; now {CART.short}"
    assert not [text for text in told if "2 of 2" in text]
    assert told[1:3:2] == ["wave 1: 1 of 2 errors analysed, $0.50 of $2.50"]
    assert str(night) == "wave 2: 1 of 1 error analysed, $0.50 of $6.00"
    assert told[-1] == ""  # nothing of the last wave stays
    night.begin((CASE.model_copy(update={"night": "n2"}),), NightOptions())
    assert str(night).startswith("wave 1: 0 of 1 error analysed, $0.00")
