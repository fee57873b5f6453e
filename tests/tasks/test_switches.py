"""What a night tells its analysts is switched off each for itself."""

from dataclasses import replace

import pytest
from core.lesson_shapes import lesson
from night_world import PAY, SEEN, TRACES, worlds
from twins.writing import MemoryTasks

from nightwatch_core.models.assignment import CodeTonight
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import Case, Selection, Window
from nightwatch_core.models.knowledge import Notes, Pattern, TaskFile
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from tasks.analysis import recall_cases, research_case
from tasks.dependencies import using

NIGHT = Night(id="n1", window=Window(since=SEEN, until=SEEN), now=SEEN)
CODE = CodeTonight(commit=Commit(repository="shop", sha="a" * 40))
CASE = Case(leader=PAY, trace=TRACES[PAY.fingerprint][0])
SHARED = {"error_class": PAY.error_class, "transaction": PAY.transaction, "message": PAY.message}
NOTED = TaskFile(id="task-1", notes=(Notes(gotchas=("TypeError in cart/pay: the card is nil",)),))
KNOWN = Pattern(
    title="Cards", description="They are nil.", pattern_type="systemic_issue",
    error_classes=(PAY.error_class,), fingerprints=(PAY.fingerprint,),
)  # fmt: skip


def told(**choices: bool) -> list[str]:
    """What one case's analyst would be told, by name."""
    world = worlds()
    world.publishing.knowledge.write(lesson("v1:other", **SHARED))
    world.publishing.knowledge.write_pattern(KNOWN)
    reading = replace(world.reading, tasks=MemoryTasks({NOTED.id: NOTED}))
    options = NightOptions(**choices)
    with using(replace(world, reading=reading)):
        recalled = recall_cases.fn(options, NIGHT, CODE, (CASE,), ())
        prepared = research_case.fn(recalled.unknown[0], options, CODE, Selection())
    research = prepared.research
    names = ("priors", "learnings", "patterns", "previews")
    return [name for name in names if getattr(research, name)]


def test_all_of_it_is_told() -> None:
    assert told() == ["priors", "learnings", "patterns", "previews"]


@pytest.mark.parametrize(
    ("switch", "silent"),
    [
        ("compound_enabled", "priors"),
        ("learnings_enabled", "learnings"),
        ("patterns_enabled", "patterns"),
        ("research_enabled", "previews"),
    ],
)
def test_each_switch_silences_its_own_and_nothing_else(switch: str, silent: str) -> None:
    assert told(**{switch: False}) == [name for name in told() if name != silent]
