import inspect
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
from nightwatch_core.models.options import NightOptions

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = NightOptions.model_fields


@pytest.mark.parametrize("flow", [nightly, act, learn], ids=lambda flow: flow.name)
def test_every_option_is_a_flow_parameter(flow: object) -> None:
    names = list(inspect.signature(flow.fn).parameters)
    assert [name for name in names if name in OPTIONS] == list(OPTIONS)


def test_the_form_in_the_ui_has_bounds_and_descriptions() -> None:
    schema = parameter_schema(nightly.fn)
    assert set(schema.properties) == {*OPTIONS, "collect"}
    for name, field in OPTIONS.items():
        assert schema.properties[name]["description"] == field.description
        assert schema.properties[name]["default"] is None
    assert schema.properties["max_errors"]["anyOf"][0]["maximum"] == 1000
    choices = ["all", "proved", "patches", "issues", "none"]
    assert schema.properties["publish"]["anyOf"][0]["enum"] == choices


def test_the_form_of_one_error_begins_with_it_and_is_short() -> None:
    form = parameter_schema(one_error.fn)
    assert list(form.properties) == [
        *("error", "error_class", "transaction", "record", "others", "errors", "repo", "publish")
    ]
    assert not form.required
    assert all("description" in field for field in form.properties.values())


def test_a_bad_parameter_is_refused_before_anything_runs() -> None:
    with pytest.raises(Exception, match="max_errors"):
        nightly.validate_parameters({"max_errors": 0})


@pytest.mark.parametrize("verb", ["night", "one", "check"])
def test_every_option_is_a_flag(verb: str) -> None:
    command = typer.main.get_command(app()).commands[verb]
    flags = {flag for parameter in command.params for flag in parameter.opts}
    assert {f"--{name.replace('_', '-')}" for name in OPTIONS} <= flags


def test_help_does_not_import_prefect() -> None:
    code = (
        "import sys; sys.argv = ['nightwatch', '--help']\n"
        "from flows.commands.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "assert 'prefect' not in sys.modules, 'prefect was imported'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "night" in done.stdout


def test_one_error_asks_which() -> None:
    done = CliRunner().invoke(app(), ["one"])
    assert done.exit_code == 2
    assert "fingerprint" in done.output
