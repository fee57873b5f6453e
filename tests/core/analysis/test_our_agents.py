"""The agents we ship: each can be read, and its prompt names what the analyst has and owes."""

import re
from pathlib import Path

import pytest

from nightwatch_core.adapters.stores.task_files import AgentFiles
from nightwatch_core.analysis.agent_specs import BUILT_IN, inherited
from nightwatch_core.analysis.tools import SPECS
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.knowledge import Decision, Problem
from nightwatch_core.text.plain_text import estimated_tokens
from nightwatch_core.traces.grammar import LANGUAGES

FOLDER = Path(__file__).parents[3] / "agents"
OURS = AgentFiles(FOLDER).names()
SPECIALISTS = ("java-spring", "javascript-node", "python-web", "ruby-rails")
ANALYSTS = ("base-analyzer", *SPECIALISTS)
LARGEST = 6_000  # tokens of system prompt and tools: they are paid for with every first call
SMALLEST_CACHED = 512  # tokens, of the models we propose


def text_of(name):
    path = FOLDER / f"{name}.md"
    return path.read_text(encoding="utf-8") if path.is_file() else None


def ours(name):
    return BUILT_IN if name == "built-in" else inherited(name, text_of)


@pytest.mark.parametrize("name", ANALYSTS)
def test_an_analyst_leaves_the_model_to_the_options(name):
    spec = ours(name)
    assert spec.description
    assert (spec.model, spec.effort, spec.max_tokens, spec.max_iterations) == (None,) * 4
    assert spec.thinking_budget is None
    assert set(spec.tools) == {tool.name for tool in SPECS}
    assert set(spec.languages) <= LANGUAGES.keys() - {"other"}
    assert bool(spec.languages) == (name in SPECIALISTS)


@pytest.mark.parametrize("name", SPECIALISTS)
def test_a_specialist_adds_to_the_base(name):
    base, spec = ours("base-analyzer"), ours(name)
    shared = base.prompt.partition("# Worked examples")[0].strip()
    assert spec.prompt.startswith(shared)
    assert spec.extends == "base-analyzer"
    assert 2 <= len(spec.examples) <= 3
    assert not set(spec.examples) & set(base.examples)


@pytest.mark.parametrize("name", [*ANALYSTS, "built-in"])
def test_a_prompt_names_what_the_analyst_has_and_owes(name):
    prompt = ours(name).prompt
    if name == "built-in":
        needed = ("never an", "Confidence is high", "exact quote", "in one turn")
    else:
        needed = (
            *(f"`{tool.name}(" for tool in SPECS),
            *(f"`{field}`" for field in Answer.model_json_schema()["properties"]),
        )
    assert [word for word in needed if word not in prompt] == []


@pytest.mark.parametrize("name", [*OURS, "built-in"])
def test_no_prompt_holds_what_would_spoil_the_cache(name):
    spec = ours(name)
    assert re.search(r"\b20\d\d\b|\{\w+\}", spec.prompt) is None  # dates, and places to fill in
    tools = "".join(tool.model_dump_json() for tool in SPECS if tool.name in spec.tools)
    assert len(spec.prompt + tools) // 4 > SMALLEST_CACHED  # few tokens for many characters
    assert estimated_tokens(spec.prompt + tools) < LARGEST


@pytest.mark.parametrize("name", ANALYSTS)
def test_calls_in_prompts_are_calls_that_can_be_made(name):
    known = {spec.name: spec.parameters["properties"] for spec in SPECS}
    calls = re.findall(r"`(\w+)\(([^`]*)\)`", ours(name).prompt)
    made = [(tool, given) for tool, given in calls if tool in known]
    assert len(made) > 5
    for tool, given in made:
        names = re.findall(r"(\w+): ", re.sub(r'"[^"]*"', "", given))
        names += given.split(", ") if re.fullmatch(r"[a-z]+(, [a-z]+)*", given) else []
        assert set(names) <= set(known[tool]), (tool, given)


def test_the_notes_prompt_names_every_field_of_the_answer():
    prompt = ours("compound-notes").prompt
    fields = (*Problem.model_fields, *Decision.model_fields)
    assert [field for field in fields if f"`{field}`" not in prompt] == []
