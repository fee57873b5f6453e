from contextlib import suppress
from pathlib import Path

import pytest
from claude_talks import opening
from pydantic import SecretStr
from services import nerdgraph
from services.anthropic import Anthropic
from services.github import GitHub
from services.nerdgraph import NerdGraphService
from services.sentry import SentryService
from services.slack import Slack
from twins.reading import MemoryClock

from nightwatch_core.adapters.git.command import new_repository
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.options import NightOptions
from nightwatch_core.settings import Settings
from tasks.wiring import services

WHOLE = {
    "NEW_RELIC_API_KEY": "NRAK-1",
    "NEW_RELIC_ACCOUNT_ID": "12345",
    "NEW_RELIC_APP_NAME": "Shop",
    "SENTRY_AUTH_TOKEN": "sntryu_1",
    "SENTRY_ORG": "acme",
    "SENTRY_PROJECT": "shop",
    "GITHUB_TOKEN": "ghp_1",
    "GITHUB_REPO": "acme/shop",
    "GITLAB_TOKEN": "glpat-1",
    "GITLAB_PROJECT": "acme/shop",
    "ANTHROPIC_API_KEY": "sk-ant-1",
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_CHANNEL": "C0123456789",
    "NIGHTWATCH_NOTIFY_URLS": "jsons://example.org/hook",
}


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NIGHTWATCH_HOME", str(tmp_path))

    def settings(**values: str) -> Settings:
        return Settings(_env_file=None, **values)

    return settings


@pytest.mark.parametrize("compacts", [True, False])
def test_compaction_is_asked_for_unless_it_is_off(said, compacts: bool) -> None:
    with Anthropic() as server:
        at = said(ANTHROPIC_API_KEY=server.key, ANTHROPIC_BASE_URL=server.url)
        options = NightOptions(model="claude-opus-5-5", use_compaction=compacts)
        services.claude(options, at).reply(opening(), 20)
        edits = server.bodies[-1]["context_management"]["edits"]
    assert ("compact_20260112" in [edit["type"] for edit in edits]) is compacts


def test_a_service_is_ready_once_all_it_needs_is_said(said) -> None:
    assert services.lacking(said(**WHOLE)) == {}
    assert set(services.lacking(said())) == set(services.NEEDED)


@pytest.mark.parametrize("name", WHOLE)
def test_each_missing_setting_is_named(said, name: str) -> None:
    lacking = services.lacking(said(**{k: v for k, v in WHOLE.items() if k != name}))
    [(_, missing)] = lacking.items()
    assert len(missing) == 1
    assert name in missing[0].split(" or ")


def test_an_app_or_another_address_will_do_instead(said) -> None:
    other = {k: v for k, v in WHOLE.items() if k not in ("GITHUB_TOKEN", "ANTHROPIC_API_KEY")}
    there = {"GITHUB_APP_ID": "7", "ANTHROPIC_BASE_URL": "http://127.0.0.1:11434"}
    assert services.lacking(said(**other, **there)) == {}


def test_what_was_begun_is_told_but_a_token_in_the_shell_is_not(said) -> None:
    shell = said(GITHUB_TOKEN="ghp_1", SENTRY_AUTH_TOKEN="sntryu_1", SENTRY_URL="https://a.example")
    assert services.half_described(shell) == {}
    assert services.half_described(said(GITHUB_REPO="acme/shop")) == {
        "github": ("GITHUB_TOKEN or GITHUB_APP_ID",)
    }
    assert services.half_described(said(NEW_RELIC_API_KEY="NRAK-1", SLACK_CHANNEL="C01234567")) == {
        "newrelic": ("NEW_RELIC_ACCOUNT_ID", "NEW_RELIC_APP_NAME"),
        "slack": ("SLACK_BOT_TOKEN",),
    }
    assert services.half_described(said(**WHOLE)) == {}


@pytest.mark.parametrize("account", ["twelve", "-1", "12 34", "1" * 16])
def test_an_account_that_is_no_number_is_refused(said, account: str) -> None:
    at = said(**WHOLE | {"NEW_RELIC_ACCOUNT_ID": account})
    with pytest.raises(StopTheNight, match="has to be a number"):
        services.new_relic(NightOptions(), at, None, MemoryClock())


def test_a_token_of_its_own_reads(said) -> None:
    at = said(**WHOLE, GITHUB_READ_TOKEN="ghp_read")
    assert services.sign_in(at, writes=False).token == SecretStr("ghp_read")
    assert services.sign_in(at, writes=True).token == SecretStr("ghp_1")


def test_what_stays_on_this_machine_goes_through_no_proxy(
    said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unencrypted addresses are this machine's, and a proxy would be sent what they are."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody answers there
    options, clock = NightOptions(), MemoryClock()
    (tmp_path / "shop.git").mkdir()
    new_repository(tmp_path / "shop.git", "main")
    with (
        Anthropic() as claude,
        GitHub(tmp_path / "shop.git") as github,
        NerdGraphService() as new_relic,
        SentryService() as sentry,
        Slack() as slack,
    ):
        at = said(
            **{"ANTHROPIC_BASE_URL": claude.url, "ANTHROPIC_API_KEY": claude.key},
            **{"GITHUB_API_URL": github.url, "GITHUB_TOKEN": github.token},
            **{"GITHUB_REPO": github.repository, "NEW_RELIC_API_URL": new_relic.url},
            **{"NEW_RELIC_API_KEY": nerdgraph.KEY, "NEW_RELIC_ACCOUNT_ID": "1"},
            **{"NEW_RELIC_APP_NAME": "shop", "SLACK_API_URL": slack.url},
            **{"SLACK_BOT_TOKEN": slack.token, "SLACK_CHANNEL": "C0NIGHTS"},
            **{"SENTRY_URL": sentry.url, "SENTRY_AUTH_TOKEN": sentry.token},
            **{"SENTRY_ORG": "acme", "SENTRY_PROJECT": "shop"},
        )
        for service in (
            services.claude(options.model_copy(update={"model": "claude-opus-5-5"}), at),
            services.github_outbox(options, at, clock, str),
            services.new_relic(options, at, None, clock),
            services.sentry(options, at, None, clock),
            services.slack(at, clock),
        ):
            with suppress(GiveUp):
                service.probe()
        for there in (claude, github, new_relic, sentry, slack):
            assert there.requests
