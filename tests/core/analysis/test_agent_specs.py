"""Agent files: read strictly, with what their bases give, chosen by name or language."""

import re

import pytest
from tables import tables_of

from nightwatch_core.analysis.agent_specs import (
    BUILT_IN,
    BrokenFile,
    FrontMatter,
    agents_of,
    choose,
    inherited,
)
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.conversation import READING, Agents, AgentSpec, BrokenAgent

TABLES = tables_of(__file__)

TEXT = TABLES["text"]


def spec_from(text, name):
    return inherited(name, {name: text}.get)


def test_every_key_is_read():
    spec = spec_from(TEXT, "go-services")
    assert spec == AgentSpec(
        name="go-services",
        description="For Go.",
        languages=("go", "rust"),
        model="some-model",
        effort="high",
        thinking_budget=8_000,
        max_iterations=12,
        max_tokens=20_000,
        tools=("read_file", "blame"),
        examples=("One.", "Two\nlines.\n"),
        prompt=(
            "Find the cause.\n\n# Worked examples\n\n"
            "<example>\nOne.\n</example>\n\n<example>\nTwo\nlines.\n</example>"
        ),
        digest=spec.digest,
    )
    assert re.fullmatch("[0-9a-f]{12}", spec.digest)
    assert spec.digest != spec_from(TEXT + " ", "go-services").digest
    assert set(FrontMatter.model_fields) == set(AgentSpec.model_fields) - {"prompt", "digest"}


def test_empty_values_are_defaults_and_no_tools_are_none():
    spec = spec_from("---\nmodel:\ntools:\n---\nx", "a")
    assert (spec.model, spec.tools) == (None, READING)
    assert spec_from("---\ntools: []\n---\nx", "a").tools == ()


@pytest.mark.parametrize(("front", "said"), TABLES["a_wrong_file_is_named_with_its_key"])
def test_a_wrong_file_is_named_with_its_key(front, said):
    with pytest.raises(StopTheNight) as raised:
        spec_from(f"---\n{front}\n---\nprompt", "x")
    assert str(raised.value).startswith(f"agents/x.md: {said}")


@pytest.mark.parametrize("body", ["", " \n ", "x" * 60_001], ids=["empty", "blank", "long"])
def test_a_prompt_is_needed_and_bounded(body):
    with pytest.raises(StopTheNight, match="the prompt below the front matter"):
        spec_from(f"---\nname: x\n---\n{body}", "x")


# bases

FAMILY = TABLES["family"]


def test_a_base_gives_its_prompt_first_and_what_is_not_said():
    child = inherited("child", FAMILY.get)
    assert child.prompt == "Base.\n\nChild.\n\n# Worked examples\n\n<example>\nE\n</example>"
    assert (child.model, child.effort, child.tools) == ("m", "high", ("blame",))
    assert (child.name, child.description, child.languages) == ("child", "D", ())
    last = inherited("grandchild", FAMILY.get)
    assert last.prompt.startswith("Base.\n\nChild.\n\n# Worked examples\n\n<example>\nF\n")
    assert (last.effort, last.description, last.extends) == ("high", "", "child")


def test_a_base_analyser_without_a_file_is_the_built_in_one():
    spec = inherited("x", {"x": "---\nextends: base-analyzer\n---\nAnd so on."}.get)
    assert spec.prompt == f"{BUILT_IN.prompt}\n\nAnd so on."


@pytest.mark.parametrize(
    ("name", "said", "languages"), TABLES["test_a_base_that_does_not_work_is_named"]
)
def test_a_base_that_does_not_work_is_named(name, said, languages):
    with pytest.raises(BrokenFile) as raised:
        inherited(name, FAMILY.get)
    assert str(raised.value).startswith(said)
    assert raised.value.languages == tuple(languages)


# a shelf, and the choice


class Shelf:
    def __init__(self, files):
        self.files = files

    def names(self):
        return tuple(sorted(self.files))

    def agent(self, name):
        return inherited(name, self.files.get)


def agents(*broken, **languages):
    specs = tuple(
        AgentSpec(name=name.replace("_", "-"), prompt="p", languages=tuple(spoken))
        for name, spoken in languages.items()
    )
    return Agents(specs=specs, broken=broken)


def test_a_broken_file_stops_nobody_who_does_not_use_it():
    found = agents_of(Shelf(FAMILY))
    assert [spec.name for spec in found.specs] == ["base", "child", "grandchild"]
    assert [one.name for one in found.broken] == ["lost", "odd", "one", "two", "under-odd"]
    assert found.complaints[0] == "agents/nobody.md: there is no such file"
    assert choose(found, "go").name == "base"
    assert choose(found, "ruby") == BUILT_IN
    for language, name in (("php", ""), ("perl", ""), ("", "lost")):
        with pytest.raises(StopTheNight, match=r"agents/(nobody|odd)\.md: |agents/lost"):
            choose(found, language, name)


def test_chosen_by_name_then_language_then_base():
    found = agents(base_analyzer=(), other=["ruby", "go"], rails=["ruby"])
    assert choose(found, "ruby", "rails").name == "rails"
    assert choose(found, "Ruby").name == "other"
    assert choose(found, "go").name == "other"
    assert choose(found, "perl").name == "base-analyzer"
    assert choose(found, "").name == "base-analyzer"
    assert choose(Agents(), "ruby") == BUILT_IN
    assert choose(agents(rails=["ruby"]), "go") == BUILT_IN
    assert choose(Agents(), "", "base-analyzer") == BUILT_IN


def test_a_name_that_is_not_there_lists_those_that_are():
    wrong = BrokenAgent(name="lost", complaint="?")
    with pytest.raises(StopTheNight, match="no agent 'x y': choose lost, rails, base-analyzer"):
        choose(agents(wrong, rails=["ruby"]), "ruby", "x\ny")
