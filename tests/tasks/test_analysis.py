"""What an analysis is kept under: a resumed night finds it again, and nothing else does."""

from dataclasses import replace

from night_world import CART, PAY, worlds
from prefect.context import TaskRunContext
from twins.reading import MemoryAgents

from nightwatch_core.models.assignment import Assignment
from nightwatch_core.models.code import Commit
from nightwatch_core.models.error import Case
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.usage import Allowance
from tasks.analysis import analysis_key
from tasks.dependencies import using

ALLOWANCE = Allowance(iterations=5, tokens=100_000, cost=1.0, seconds=600)
COMMIT = Commit(repository="shop", sha="a" * 40)
CASE = Assignment(case=Case(leader=CART), allowance=ALLOWANCE, commit=COMMIT, night="n1")
OPTIONS = NightOptions(model="memory")
(AGENT,) = MemoryAgents().agents


def key(assignment: Assignment = CASE, options: NightOptions = OPTIONS, **agent: object) -> str:
    world = worlds()
    shelf = MemoryAgents((AGENT.model_copy(update=agent),))
    with using(replace(world, reading=replace(world.reading, agents=shelf))):
        parameters = {"assignment": assignment, "options": options}
        return analysis_key(TaskRunContext.model_construct(), parameters)


def test_the_same_analysis_is_found_again() -> None:
    assert key() == key(CASE.model_copy(), OPTIONS.model_copy(update={"concurrency": 9}))
    assert key().startswith("analysis/n1/")


def test_whatever_shapes_an_analysis_makes_it_another_one() -> None:
    case, allowance = Case(leader=PAY), ALLOWANCE.model_copy(update={"tokens": 9})
    others = [
        key(digest="of another text"),
        key(effort="high"),
        key(options=OPTIONS.model_copy(update={"model": "another"})),
        key(options=OPTIONS.model_copy(update={"effort": "low"})),
        key(options=OPTIONS.model_copy(update={"max_tokens": 9_000})),
        key(CASE.model_copy(update={"case": case})),
        key(CASE.model_copy(update={"allowance": allowance})),
        key(CASE.model_copy(update={"night": "n2"})),
    ]
    assert len({key(), *others}) == 1 + len(others)
