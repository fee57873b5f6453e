"""Every name of the design works, or is refused with what to do instead."""

import re

import pytest
import typer

from flows.commands import app as command
from nightwatch_core.analysis.agent_specs import CHECKS
from nightwatch_core.models.options import DESIGNED
from nightwatch_core.settings import CHECKOUT, names

_DESIGN = CHECKOUT.parent / "shared/seeds"


def _flags():
    night = typer.main.get_command(command.app(["night"])).commands["night"]
    return {flag for parameter in night.params for flag in parameter.opts}


def test_what_is_not_refused_is_there_by_the_name_it_has_today():
    known = {
        "setting": set(names()),
        "flag": _flags(),
        "verb": {f"nightwatch {verb}" for verb in command.VERBS},
        "agent field": set(CHECKS),
    }
    missing = [one.name for one in DESIGNED if one.today and one.today not in known[one.kind]]
    assert not missing
    assert not [one.name for one in DESIGNED if not (one.today == one.name or one.refused)]


def test_nothing_is_refused_that_works():
    works = {*names(), *_flags(), *command.VERBS, *CHECKS}
    assert not [one.name for one in DESIGNED if one.refused and one.name in works]


@pytest.mark.skipif(not _DESIGN.is_dir(), reason="the design lies beside the checkout")
def test_every_name_in_the_design_is_in_the_table():
    text = "\n".join(path.read_text(encoding="utf-8") for path in _DESIGN.glob("*.txt"))
    settings = set(re.findall(r"\b(?:settings\.)?nightwatch_[a-z_]+\b(?=`|:| )", text))
    settings = {name.removeprefix("settings.").upper() for name in settings}
    settings |= set(re.findall(r"\bNIGHTWATCH_[A-Z_]+\b", text))
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+\b", text))
    fields = set(re.findall(r"^([a-z_]+):", _agent_files(text), re.MULTILINE))
    told = {one.name for one in DESIGNED}
    assert settings | flags | fields
    assert not (settings | flags | fields) - told


def _agent_files(text):
    return "\n".join(re.findall(r"^---\n(name: .*?)^---$", text, re.MULTILINE | re.DOTALL))


def test_a_verb_of_the_design_names_todays(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["nightwatch", "run", "--agent", "ruby-rails"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 1
    assert "`nightwatch night`" in " ".join(capsys.readouterr().err.split())
