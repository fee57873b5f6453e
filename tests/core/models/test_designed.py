"""Every name of the design works, or is refused with what to do instead."""

import re
from pathlib import Path

import pytest
import typer

from flows.commands import app as command
from nightwatch_core.analysis.agent_specs import FrontMatter
from nightwatch_core.models.options import REPLACED, NightOptions
from nightwatch_core.settings import CHECKOUT, PREFIX, names, night_options, settings

_DESIGN = CHECKOUT.parent / "shared/seeds"


# Every variable that the design names, with values that its readers may have set: the value that
# holds then. All of them are taken, none is refused.
VARIABLES = {
    "MODEL": {"claude-opus-4-6": "claude-opus-4-6"},
    "MAX_ITERATIONS": {"15": 15},
    "TOKEN_BUDGET_PER_ERROR": {"30000": 30_000},
    "TOTAL_TOKEN_BUDGET": {"200000": 200_000},
    "USE_COMPACTION": {"false": False, "true": True, "0": False, "1": True},
    "BATCH_MODE": {"false": False, "true": True},
    "KNOWLEDGE_DIR": {"nightwatch/knowledge": Path("nightwatch/knowledge")},
    "COMPOUND_ENABLED": {"false": False, "true": True, "0": False, "1": True},
    "AGENTS_ENABLED": {"false": False, "true": True, "0": False, "1": True},
    "PATTERNS_ENABLED": {"false": False, "true": True, "0": False, "1": True},
}


@pytest.fixture
def no_env_file(tmp_path, monkeypatch):
    monkeypatch.setenv("NIGHTWATCH_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("name", "given"), [(name, given) for name, held in VARIABLES.items() for given in held]
)
def test_every_variable_of_the_design_is_taken(name, given, no_env_file, monkeypatch):
    monkeypatch.setenv(f"{PREFIX}{name}", given)
    read = night_options() if name.lower() in NightOptions.model_fields else settings()
    assert getattr(read, name.lower()) == VARIABLES[name][given]


def _works():
    night = typer.main.get_command(command.app(["night"])).commands["night"]
    flags = {flag for parameter in night.params for flag in parameter.opts}
    return {*names(), *flags, *command.VERBS, *FrontMatter.model_fields}


def test_nothing_is_refused_that_works():
    assert not set(REPLACED) & _works()


@pytest.mark.skipif(not _DESIGN.is_dir(), reason="the design lies beside the checkout")
def test_every_name_in_the_design_works_or_is_refused():
    text = "\n".join(path.read_text(encoding="utf-8") for path in _DESIGN.glob("*.txt"))
    settings = set(re.findall(r"\b(?:settings\.)?nightwatch_[a-z_]+\b(?=`|:| )", text))
    settings = {name.removeprefix("settings.").upper() for name in settings}
    settings |= set(re.findall(r"\bNIGHTWATCH_[A-Z_]+\b", text))
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+\b", text))
    fields = set(re.findall(r"^([a-z_]+):", _agent_files(text), re.MULTILINE))
    assert {name.removeprefix(PREFIX) for name in settings} == set(VARIABLES)
    assert not (settings | flags | fields) - _works() - set(REPLACED)


def _agent_files(text):
    return "\n".join(re.findall(r"^---\n(name: .*?)^---$", text, re.MULTILINE | re.DOTALL))


def test_a_verb_of_the_design_names_todays(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["nightwatch", "run", "--agent", "ruby-rails"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 1
    assert "`nightwatch night`" in " ".join(capsys.readouterr().err.split())
