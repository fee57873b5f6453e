"""`nightwatch init`: what it finds, asks and writes."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from git_repositories import git
from typer.testing import CliRunner

from flows.commands.app import app, main
from nightwatch_core.errors import StopTheNight
from nightwatch_core.settings import configuration

RECORD = '{"timestamp": "2026-11-20T02:11:09Z", "error.class": "KeyError", "error.message": "x"}\n'


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of the application with an export in it, and the folder of the test's home."""
    folder = tmp_path / "shop"
    (folder / "tests").mkdir(parents=True)
    (folder / "shop.py").write_text("def total():\n    return 1\n")
    (folder / "tests/test_shop.py").write_text("def test_total():\n    assert 1\n")
    (folder / "export.jsonl").write_text(RECORD)
    git(folder, "init", "--quiet", "--initial-branch=trunk")
    git(folder, "remote", "add", "origin", "https://github.com/acme/the-shop.git")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Sell")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NIGHTWATCH_CONFIG", "")  # `init` sets it: for this test alone
    monkeypatch.setenv("NIGHTWATCH_HOME", str(tmp_path))
    monkeypatch.delenv("NIGHTWATCH_CONFIG", raising=False)
    return folder


def run(*words: str, answers: str | None = None) -> str:
    done = CliRunner().invoke(app(["init"]), ["init", *words], input=answers)
    if isinstance(done.exception, StopTheNight):
        raise done.exception
    return done.output


def test_what_is_found_is_written_and_tried(checkout: Path) -> None:
    shown = run("--yes")
    file = checkout / "nightwatch.toml"
    written = tomllib.loads(file.read_text("utf-8"))
    assert written["application"]["name"] == "the-shop"
    assert written["source"] == {"from": "file", "errors": "export.jsonl"}
    assert written["code"] == {"from": "checkout", "checkout": ".", "branch": "trunk"}
    assert written["model"] == {"name": "rules"}
    assert (written["publish"]["to"], written["notify"]["to"]) == ("local", "local")
    assert configuration().file == file  # every key is one
    assert "# found: python" in file.read_text("utf-8")
    assert "errors (file)" in shown
    assert "failed" not in shown


def test_credentials_are_found_and_not_written(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = ("GITHUB_TOKEN", "ANTHROPIC_API_KEY", "SLACK_BOT_TOKEN", "NEW_RELIC_API_KEY")
    for name in (*secrets, "SENTRY_AUTH_TOKEN"):
        monkeypatch.setenv(name, "very-secret")
    monkeypatch.setenv("SENTRY_ORG", "acme")
    monkeypatch.setenv("SENTRY_PROJECT", "shop")
    monkeypatch.setenv("SENTRY_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SLACK_CHANNEL", "C1")
    monkeypatch.setenv("NEW_RELIC_ACCOUNT_ID", "12")
    monkeypatch.setenv("NEW_RELIC_APP_NAME", "shop")
    for name in ("GITHUB_API_URL", "SLACK_API_URL", "NEW_RELIC_API_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody answers there
    CliRunner().invoke(app(["init"]), ["init", "--yes"], env={"NIGHTWATCH_NOTIFY": "local"})
    text = (checkout / "nightwatch.toml").read_text("utf-8")
    written = tomllib.loads(text)
    assert written["source"] == {"from": "newrelic,sentry"}
    assert written["code"]["github_repo"] == "acme/the-shop"
    assert written["model"]["name"].startswith("claude-")
    assert (written["publish"]["to"], written["notify"]["to"]) == ("github", "slack")
    assert "very-secret" not in text


def test_a_remote_at_gitlab_is_told_from_one_at_github(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "https://gitlab.example.com/acme/web/the-shop"
    git(checkout, "remote", "set-url", "origin", f"{address}.git")
    monkeypatch.setenv("GITHUB_TOKEN", "very-secret")
    run("--yes")
    text = (checkout / "nightwatch.toml").read_text("utf-8")
    assert f"# GITLAB_PROJECT={address} belongs beside GITLAB_TOKEN" in text
    assert tomllib.loads(text)["publish"]["to"] == "local"
    assert "github_repo" not in text
    monkeypatch.setenv("GITLAB_TOKEN", "very-secret")
    monkeypatch.setenv("GITLAB_PROJECT", "http://127.0.0.1:9/acme/web/the-shop")
    CliRunner().invoke(app(["init"]), ["init", "--yes", "--force"])
    written = tomllib.loads((checkout / "nightwatch.toml").read_text("utf-8"))
    assert written["publish"]["to"] == "gitlab"


def test_a_file_is_never_written_over_unless_that_is_said(checkout: Path) -> None:
    file = checkout / "nightwatch.toml"
    file.write_text("[publish]\nissues = 7\n")
    with pytest.raises(StopTheNight, match="is there already"):
        run("--yes")
    assert "issues = 7" in file.read_text()
    run("--yes", "--force")
    assert "issues = 7" not in file.read_text()


def test_without_a_terminal_nothing_is_asked(checkout: Path) -> None:
    with pytest.raises(StopTheNight, match="use --yes"):
        run(answers="sample\n" * 5)
    assert not (checkout / "nightwatch.toml").exists()


def test_answers_are_checked_and_asked_again(checkout: Path) -> None:
    script = "nope.jsonl\nexport.jsonl\n.\nrules\nfax\nlocal\n25:00\n05:30 Europe/Berlin\n"
    command = (
        "import pty, sys; sys.exit(pty.spawn([sys.executable, '-m', 'flows.commands.app', 'init']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", command], input=script, text=True, capture_output=True, timeout=120
    )
    asked = " ".join(done.stdout.split())
    assert "nope.jsonl does not exist" in asked
    assert "choose local, github or gitlab" in asked
    assert "schedule '25:00' was not understood" in asked
    written = tomllib.loads((checkout / "nightwatch.toml").read_text("utf-8"))
    assert written["application"]["schedule"] == "05:30 Europe/Berlin"


def test_the_command_reads_the_named_file(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["nightwatch", "init", "--yes", "--config", "shop.toml"])
    with pytest.raises(SystemExit):
        main()
    assert (checkout / "shop.toml").is_file()
    assert "Try it: nightwatch --config shop.toml night" in capsys.readouterr().out
    assert not (checkout / "nightwatch.toml").exists()
    monkeypatch.delenv("NIGHTWATCH_CONFIG")
