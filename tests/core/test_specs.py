"""Agent files: read strictly, chosen by name or language, and the ones we ship."""

import re
from pathlib import Path

import pytest

from nightwatch_core.agent.specs import BUILT_IN, CHECKS, choose, spec_from
from nightwatch_core.agent.tools import SPECS as TOOL_SPECS
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.agent import TOOLS, AgentSpec
from nightwatch_core.models.analysis import Answer
from nightwatch_core.stacktrace.parsing import PARSERS

OURS = sorted((Path(__file__).parents[2] / "agents").glob("*.md"))
ANALYSTS = ("base-analyzer", "java-spring", "node-web", "python-web", "ruby-rails")

TEXT = """---
name: go-services
description: For Go.
languages: [go, rust]
model: some-model
effort: high
max_iterations: 12
max_tokens: 20000
tools: [read_file, blame]
---

Find the cause.
"""


def test_every_key_is_read():
    spec = spec_from(TEXT, "go-services")
    assert spec == AgentSpec(
        name="go-services",
        description="For Go.",
        languages=("go", "rust"),
        model="some-model",
        effort="high",
        max_iterations=12,
        max_tokens=20_000,
        tools=("read_file", "blame"),
        prompt="Find the cause.",
        digest=spec.digest,
    )
    assert re.fullmatch("[0-9a-f]{12}", spec.digest)
    assert spec.digest != spec_from(TEXT + " ", "go-services").digest
    assert set(CHECKS) == set(AgentSpec.model_fields) - {"prompt", "digest"}


def test_a_prompt_without_front_matter_is_an_agent():
    spec = spec_from("Find the cause.", "plain")
    assert (spec.name, spec.prompt, spec.tools) == ("plain", "Find the cause.", TOOLS)
    assert (spec.model, spec.effort, spec.languages) == (None, None, ())


def test_empty_values_are_defaults():
    spec = spec_from("---\nmodel:\ntools:\n---\nx", "a")
    assert (spec.model, spec.tools) == (None, TOOLS)


@pytest.mark.parametrize(
    ("front", "said"),
    [
        (
            "thinking_budget: 8000",
            "thinking_budget: models take an effort instead: low, medium or high",
        ),
        ("temprature: 1", "temprature: it is not known, only name, description"),
        ("tools: [read_file, bash]", "tools: 'bash' is not one of read_file, search_code"),
        ("tools: [{a: b}]", "tools: "),
        ("tools: read_file", "tools: it has to be a list of read_file"),
        ("tools: []", "tools: it has to be a list of read_file"),
        ("effort: max", "effort: 'max' is not one of low, medium, high"),
        ("effort: [low]", "effort: "),
        ("languages: Ruby", "languages: it has to be a list"),
        ("languages: [Ruby]", "languages: it has to be a list of languages in small letters"),
        ("max_iterations: 0", "max_iterations: it has to be a whole number from 1 to 100"),
        ("max_iterations: true", "max_iterations: "),
        ("max_tokens: many", "max_tokens: it has to be a whole number from 1 to 128000"),
        ("model: 4", "model: it has to be text"),
        ("name: other", "name: it has to be 'x', as the file is called"),
        ("name: [x", "front matter: line"),
        ("- a", "front matter: a mapping is needed"),
        ("tools: &a [blame]", "front matter: line 1: anchors"),
    ],
)
def test_a_wrong_file_stops_the_night_with_its_key(front, said):
    with pytest.raises(StopTheNight) as raised:
        spec_from(f"---\n{front}\n---\nprompt", "x")
    assert str(raised.value).startswith(f"agents/x.md: {said}")


@pytest.mark.parametrize("body", ["", " \n ", "x" * 60_001])
def test_a_prompt_is_needed_and_bounded(body):
    with pytest.raises(StopTheNight, match="the prompt below the front matter"):
        spec_from(f"---\nname: x\n---\n{body}", "x")


def shelf(*names, **languages):
    told = {name: () for name in names} | languages
    return tuple(
        AgentSpec(name=n, prompt="p", languages=tuple(spoken)) for n, spoken in told.items()
    )


def test_chosen_by_name_then_language_then_base():
    specs = shelf("base-analyzer", rails=["ruby"], other=["ruby", "go"])
    assert choose(specs, "ruby", "other").name == "other"
    assert choose(specs, "Ruby").name == "rails"
    assert choose(specs, "go").name == "other"
    assert choose(specs, "perl").name == "base-analyzer"
    assert choose(specs, "").name == "base-analyzer"
    assert choose((), "ruby") == BUILT_IN
    assert choose(shelf(rails=["ruby"]), "go") == BUILT_IN
    assert choose((), "", "base-analyzer") == BUILT_IN


def test_a_name_that_is_not_there_lists_those_that_are():
    with pytest.raises(StopTheNight, match="no agent 'x y': choose rails, base-analyzer"):
        choose(shelf(rails=["ruby"]), "ruby", "x\ny")


# the agents we ship


def test_the_analysts_are_there():
    assert {path.stem for path in OURS} >= set(ANALYSTS)


@pytest.mark.parametrize("name", ANALYSTS)
def test_an_analyst_leaves_the_model_to_the_options(name):
    path = next(path for path in OURS if path.stem == name)
    spec = spec_from(path.read_text(encoding="utf-8"), name)
    assert spec.name == name
    assert spec.description
    assert (spec.model, spec.effort, spec.max_tokens, spec.max_iterations) == (None,) * 4
    assert set(spec.tools) == {tool.name for tool in TOOL_SPECS}
    assert set(spec.languages) <= {parser.language for parser in PARSERS}
    assert bool(spec.languages) == (name != "base-analyzer")


@pytest.mark.parametrize("name", [*ANALYSTS, "built-in"])
def test_a_prompt_names_what_the_analyst_has_and_owes(name):
    if name == "built-in":
        prompt = BUILT_IN.prompt
        needed = ("never an", "Confidence is high", "exact quote")
    else:
        prompt = next(path for path in OURS if path.stem == name).read_text(encoding="utf-8")
        needed = (
            *(f"`{tool.name}(" for tool in TOOL_SPECS),
            *(f"`{f}`" for f in Answer.model_fields),
        )
        assert prompt.count("<example>") == prompt.count("</example>") == 2
    assert [word for word in needed if word not in prompt] == []
    assert re.search(r"\b20\d\d\b", prompt) is None  # a date would spoil the cache


def test_each_language_of_a_specialist_has_one_agent():
    specs = [spec_from(path.read_text(encoding="utf-8"), path.stem) for path in OURS]
    languages = [language for spec in specs for language in spec.languages]
    assert sorted(languages) == sorted(set(languages))
