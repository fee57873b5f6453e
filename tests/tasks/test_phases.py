"""The phases of a night can be switched off in every combination, each for itself."""

from dataclasses import replace
from itertools import product

import pytest
from core.lesson_shapes import lesson
from night_world import CART, TRACES, worlds
from twins.writing import MemoryTasks

from nightwatch_core.adapters.local.quiet import MemoryKnowledge
from nightwatch_core.analysis.agent_specs import BUILT_IN
from nightwatch_core.intake.cases import cases
from nightwatch_core.models.answer import Allowance
from nightwatch_core.models.assignment import Assignment, CodeTonight, Traced
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import Selection, Window
from nightwatch_core.models.knowledge import Notes, Pattern, TaskFile
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.report.sections import switched_off
from tasks.analysis import agent_for, recall_cases, research_case
from tasks.dependencies import using
from tasks.errors import known_errors

PHASES = ("compound", "learnings", "patterns", "research", "agents")
COMMIT = Commit(repository="shop", sha="a" * 40)
CODE = CodeTonight(commit=COMMIT)
TRACED = (Traced(group=CART, traces=TRACES[CART.fingerprint], commit=COMMIT),)
PATTERN = Pattern(
    title="Carts break",
    description="",
    pattern_type="systemic_issue",
    fingerprints=(CART.fingerprint,),
)
TASK = TaskFile(
    id="task-cart", notes=(Notes(gotchas=("AttributeError broke cart show: total of no lines",)),)
)
NOTED = Notes(gotchas=("cart total show AttributeError",))


def world():
    knowledge = MemoryKnowledge()
    knowledge.write(
        lesson("v1:near", error_class=CART.error_class, transaction="cart/list", notes=(NOTED,))
    )
    knowledge.write_pattern(PATTERN)
    given = worlds(groups=(CART,))
    return replace(
        given,
        reading=replace(given.reading, knowledge=knowledge, tasks=MemoryTasks({TASK.id: TASK})),
    )


@pytest.mark.parametrize("choice", list(product((True, False), repeat=len(PHASES))), ids=str)
def test_each_phase_is_switched_off_for_itself(choice: tuple[bool, ...]) -> None:
    on = dict(zip(PHASES, choice, strict=True))
    options = NightOptions(model="memory", **{f"{name}_enabled": on[name] for name in PHASES})
    seen = CART.last_seen
    assert seen is not None
    night = Night(id="n", window=Window(since=seen, until=seen), now=seen)
    with using(world()):
        known = known_errors.fn(options, night)
        (case,) = cases(tuple((one.group, one.traces[0]) for one in TRACED))
        recalled = recall_cases.fn(options, night, CODE, (case,), TRACED)
        (unknown,) = recalled.unknown
        research = research_case.fn(unknown, options, CODE, Selection()).research
        assignment = Assignment(
            case=case,
            commit=COMMIT,
            night="n",
            allowance=Allowance(iterations=1, tokens=1, cost=None, seconds=1),
        )
        agent = agent_for(assignment, options)
    told = {one.task_id for one in research.learnings}
    assert bool(known.names) is on["compound"]
    assert bool(research.priors) is on["compound"]
    assert ("task-cart" in told) is on["learnings"]
    assert "v1:near" not in told or (on["learnings"] and on["compound"])
    assert bool(research.patterns) is on["patterns"]
    assert bool(research.previews) is bool(research.likely_files) is on["research"]
    assert (agent is BUILT_IN) is not on["agents"]

    (sentence,) = switched_off(options) or ("",)
    names = ("lessons", "notes", "patterns", "research", "agent files")
    missing = sentence.partition(".")[0]
    assert [name for name in names if name in missing] == [
        name for name, phase in zip(names, choice, strict=True) if not phase
    ]
    assert ("of this night alone" in sentence) is (on["patterns"] and not on["compound"])
