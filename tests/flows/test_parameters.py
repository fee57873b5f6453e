import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from prefect.utilities.callables import parameter_schema
from typer.testing import CliRunner

from flows.act import act
from flows.commands.app import app
from flows.learn import learn
from flows.nightly import nightly
from flows.one_error import one_error
from nightwatch_core.models.options import SECTION_OF, SECTIONS, NightOptions
from nightwatch_core.settings import night_options
from tasks.parameters import ungrouped

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = NightOptions.model_fields


@pytest.mark.parametrize("flow", [nightly, act, learn], ids=lambda flow: flow.name)
def test_every_option_is_a_flow_parameter(flow: object) -> None:
    names = list(inspect.signature(flow.fn).parameters)
    assert {name for name in names if name in OPTIONS} == set(OPTIONS)


def test_the_form_in_the_ui_asks_a_few_things_and_has_the_rest_in_groups() -> None:
    schema = parameter_schema(nightly)
    first = ["errors", "repo", "publish", "model", "max_errors", "cost_per_night"]
    first += ["dry_run", "force"]
    groups = [f"more_{section}" for section in SECTIONS]
    assert list(schema.properties) == [*first, "collect", *groups]
    fields = {name: schema.properties[name] for name in first}
    for group in groups:
        fields |= schema.definitions[group]["properties"]
        assert {SECTION_OF[name] for name in schema.definitions[group]["properties"]} == {group[5:]}
    assert set(fields) == set(OPTIONS)
    for name, field in OPTIONS.items():
        assert fields[name]["description"].startswith(field.description)
        assert ("[default: " in fields[name]["description"]) == (field.default not in ("", None))
        # Beside null a form shows no field; a default is sent as if it were chosen, an untouched
        # switch as off.
        assert not {"default", "anyOf"} & set(fields[name])
        assert fields[name].get("type") != "boolean"
    assert fields["max_errors"]["maximum"] == 1000
    assert fields["publish"]["enum"] == ["all", "proved", "patches", "issues", "none"]
    assert fields["notify"]["enum"] == ["slack", "channels", "local"]
    assert fields["gate"]["enum"] == [True, False]


def test_options_of_groups_are_options_like_any_other() -> None:
    given = {"more_proof": {"gate": False}, "more_budget": {"concurrency": 2}, "publish": "none"}
    chosen = ungrouped(nightly.validate_parameters(given))
    del chosen["collect"]
    options = night_options(chosen)
    assert options == NightOptions(gate=False, concurrency=2, publish="none")
    for wrong in ({"more_proof": {"gates": False}}, {"more_budget": {"concurrency": 99}}):
        with pytest.raises(Exception, match="gates|concurrency"):
            nightly.validate_parameters(wrong)


def test_the_form_of_one_error_begins_with_it_and_is_short() -> None:
    form = parameter_schema(one_error)
    assert list(form.properties) == [
        *("error", "error_class", "transaction", "record", "others", "errors", "repo", "publish")
    ]
    assert not form.required
    assert all("description" in field for field in form.properties.values())
    assert form.properties["publish"]["description"].endswith("empty: nothing.")


def test_a_bad_parameter_is_refused_before_anything_runs() -> None:
    with pytest.raises(Exception, match="max_errors"):
        nightly.validate_parameters({"max_errors": 0})


@pytest.mark.parametrize("verb", ["night", "one", "check"])
def test_every_option_is_a_flag(verb: str) -> None:
    command = typer.main.get_command(app()).commands[verb]
    flags = {flag for parameter in command.params for flag in parameter.opts}
    assert {f"--{name.replace('_', '-')}" for name in OPTIONS} <= flags


def test_help_has_the_options_in_sections_and_cuts_no_name() -> None:
    shown = CliRunner().invoke(app(), ["night", "--help"], env={"COLUMNS": "80"}).output
    assert [head.lower() for head in re.findall(r"(?m)^(\w+):$", shown)] == ["options", *SECTIONS]
    assert not [name for name in OPTIONS if f"--{name.replace('_', '-')}" not in shown]


SLOW_PACKAGES = {"prefect", "anthropic", "githubkit", "slack_sdk", "gitlab"}


@pytest.mark.parametrize("arguments", [("--help",), ("night", "--help")])
def test_help_imports_no_package_that_takes_its_time(arguments: tuple[str, ...]) -> None:
    code = (
        f"import sys; sys.argv = ['nightwatch', *{arguments!r}]\n"
        "from flows.commands.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"found = {SLOW_PACKAGES!r} & set(sys.modules)\n"
        "assert not found, f'{found} imported'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "night" in done.stdout


def test_one_error_asks_which() -> None:
    done = CliRunner().invoke(app(), ["one"])
    assert done.exit_code == 2
    assert "fingerprint" in done.output
