"""A model without a known price: refused before anything is read, or limited by tokens alone."""

from pathlib import Path

import pytest
from services.anthropic import Anthropic

from flows.commands.setup import probes
from nightwatch_core.errors import StopTheNight
from nightwatch_core.settings import night_options, settings
from tasks.night import nights_options, single_options
from tasks.wiring import for_a_command

ADVICE = r"price of the model {} is unknown.*set NIGHTWATCH_COST_PER_NIGHT=0 .*are the limits"
UNCAPPED = {"cost_per_night": 0}


@pytest.fixture
def own_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A server whose models are its own; the errors are not there to be read."""
    monkeypatch.setenv("NIGHTWATCH_HOME", str(tmp_path))
    monkeypatch.setenv("NIGHTWATCH_ERRORS", str(tmp_path / "not-there.log"))
    for name in ("GITHUB_TOKEN", "ANTHROPIC_API_KEY", "SLACK_BOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with Anthropic(compatible=True) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", server.key)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


def options(**given):
    local = {"source": "file", "code": "sample", "delivery": "local", "notify": "local"}
    return {**local, **given}


@pytest.mark.parametrize(
    ("given", "model"),
    [({"model": "qwen3"}, "qwen3"), ({"model": "claude-opus-5-5", "lead_model": "qwen3"}, "qwen3")],
)
def test_a_night_is_refused_before_anything_is_asked(own_server, given, model) -> None:
    with pytest.raises(StopTheNight, match=ADVICE.format(model)):
        nights_options(options(**given), settings())
    with pytest.raises(StopTheNight, match=ADVICE.format(model)):
        single_options("", "", options(**given), settings())
    assert nights_options(options(**given, **UNCAPPED), settings()).cost_per_night == 0
    assert not own_server.requests


def test_so_is_the_model_that_an_agent_file_names(own_server, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents/go.md").write_text("---\nlanguages: [go]\nmodel: qwen3\n---\nFind it.\n")
    monkeypatch.setenv("NIGHTWATCH_MODEL", "claude-opus-5-5")
    with pytest.raises(StopTheNight, match=ADVICE.format("qwen3")):
        nights_options(options(), settings())
    assert nights_options(options(agents_enabled=False), settings()).model == "claude-opus-5-5"
    assert (
        nights_options(options(model="claude-sonnet-5-5"), settings()).model == "claude-sonnet-5-5"
    )
    assert nights_options(options(model="rules"), settings()).model == "rules"
    (tmp_path / "agents/go.md").write_text("---\nmodel: qwen3\n---\nFind it.\n")
    assert nights_options(options(), settings()).model == "claude-opus-5-5"


def model_row(**given):
    opened = for_a_command(night_options(options(model="qwen3", **given)), settings())
    return next(row for row in probes(opened) if row.service == "model (qwen3)")


def test_a_check_says_so_too(own_server) -> None:
    refused = model_row()
    assert not refused.is_well
    assert "set NIGHTWATCH_COST_PER_NIGHT=0" in refused.answer
    taken = model_row(**UNCAPPED)
    assert taken.is_well
    assert taken.answer.endswith("price unknown: limited by tokens, not by USD")
