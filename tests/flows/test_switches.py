"""The three switches of the design, through whole nights: off means off, and is said."""

from dataclasses import replace

import pytest
from night_world import CART, PAY, answer, by_case, night, on_prefect, worlds
from twins.reading import MemoryAgents, MemoryModel
from world import World

from flows.commands.setup import probes
from nightwatch_core.analysis.agent_specs import BUILT_IN
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.conversation import AgentSpec
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.view import as_markdown
from nightwatch_core.settings import settings
from tasks.night import nights_options

QUOTE = "return sum(line.price for line in lines)"


def published(report: RunReport) -> list[tuple[str, str]]:
    """What the night made, without what it says."""
    return [(receipt.kind, receipt.status) for receipt in report.receipts]


@on_prefect
def test_without_compounding_no_lesson_is_written_or_read() -> None:
    on, off = worlds(), worlds()
    usual, report = night(on), night(off, compound_enabled=False)
    assert len(on.publishing.knowledge.lessons) == 2
    assert off.publishing.knowledge.lessons == {}
    assert published(report) == published(usual)
    assert [item.root_cause for item in report.analyses] == [
        item.root_cause for item in usual.analyses
    ]
    assert report.status == usual.status
    assert any("Lessons are off" in text for text in report.banner)
    assert "nightwatch feedback" in as_markdown(usual)
    assert "nightwatch feedback" not in as_markdown(report)
    assert "nightwatch compound" not in as_markdown(report)
    assert not any("are off" in text for text in usual.banner)

    lessons = dict(on.publishing.knowledge.lessons)
    again = night(on, compound_enabled=False)
    assert [item.ending.kind for item in again.analyses] == ["answered", "answered"]
    assert again.receipts == ()
    reasons = [skip.reason for skip in again.skips if skip.kind == "comment"]
    unknown = "analysed again without lessons: changes since the last analysis are unknown"
    assert reasons == [unknown, unknown]
    assert on.publishing.knowledge.lessons == lessons
    assert [item.ending.kind for item in night(on).analyses] == ["reused", "reused"]


@on_prefect
def test_without_agents_the_built_in_prompt_leads() -> None:
    own = AgentSpec(name="base-analyzer", prompt="Sing of arms.", max_iterations=3)
    systems = []
    for choices in ({}, {"agents_enabled": False}):
        model = MemoryModel([by_case])
        world = worlds(groups=(CART,), model=model)
        reading = replace(world.reading, agents=MemoryAgents((own,)))
        report = night(replace(world, reading=reading), **choices)
        systems.append(model.shown[0].system)
        assert report.analyses[0].has_cause
        assert any("Agent files are off" in text for text in report.banner) is bool(choices)
    assert systems[0].startswith("Sing of arms.")
    assert "Sing of arms." not in systems[1]
    assert systems[1].startswith(BUILT_IN.prompt)


@on_prefect
def test_without_patterns_none_is_detected_kept_or_used() -> None:
    same = MemoryModel([answer("shop/cart.py", QUOTE)])
    on, off = (worlds(groups=(CART, PAY), model=same) for _ in range(2))
    usual, report = night(on), night(off, patterns_enabled=False)
    assert usual.learned.patterns
    assert on.publishing.knowledge.patterns
    assert (report.learned.patterns, report.learned.suggestions) == ((), ())
    assert not off.publishing.knowledge.patterns
    assert len(report.learned.lessons) == len(usual.learned.lessons)
    assert published(report) == published(usual)
    assert any("Patterns are off" in text for text in report.banner)


def said(world: World, options: NightOptions) -> dict[str, str]:
    return {probe.service: probe.answer for probe in probes(world.over(options))}


def test_a_check_says_what_is_off() -> None:
    names = ("compound_enabled", "agents_enabled", "patterns_enabled")
    off = said(worlds(), NightOptions().model_copy(update=dict.fromkeys(names, False)))
    assert off["knowledge"].startswith("off, 0 lessons kept: a night reads and writes none")
    assert off["agents"].startswith("off: the built-in prompt")
    assert off["patterns"].startswith("off: none is detected")
    usual = said(worlds(), NightOptions())
    assert (usual["knowledge"], usual["agents"]) == ("0 lessons", "base-analyzer")
    assert "patterns" not in usual


def test_an_agent_that_is_named_while_agents_are_off_is_refused() -> None:
    chosen = {"agent": "base-analyzer", "agents_enabled": False, "source": "sample"}
    with pytest.raises(StopTheNight, match="agent files are off: leave --agent"):
        nights_options(chosen, settings())
