"""Every name of the design works, or is refused with what to do instead."""

import re

import pytest
import typer

from flows.commands import app as command
from nightwatch_core.analysis.agent_specs import FrontMatter
from nightwatch_core.models.options import REPLACED
from nightwatch_core.settings import CHECKOUT, names

_DESIGN = CHECKOUT.parent / "shared/seeds"


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
    assert settings | flags | fields
    assert not (settings | flags | fields) - _works() - set(REPLACED)


def _agent_files(text):
    return "\n".join(re.findall(r"^---\n(name: .*?)^---$", text, re.MULTILINE | re.DOTALL))


def test_a_verb_of_the_design_names_todays(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["nightwatch", "run", "--agent", "ruby-rails"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 1
    assert "`nightwatch night`" in " ".join(capsys.readouterr().err.split())
