"""The services as the settings describe them: which can be used, what is missing, and each made.

A vendor's library is imported where its service is made: importing all of them takes a second, and
most commands need none.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.options import NightOptions, listed
from nightwatch_core.models.usage import Usage
from nightwatch_core.ports import Clock, Records
from nightwatch_core.privacy.values import Scrub
from nightwatch_core.settings import Settings
from tasks.wiring import manifest, privacy
from tasks.wiring.pace import pace
from tasks.wiring.tuning import tuning

if TYPE_CHECKING:
    from nightwatch_core.adapters.claude.batches import ClaudeBatches
    from nightwatch_core.adapters.claude.model import Claude
    from nightwatch_core.adapters.github.client import GitHubClient
    from nightwatch_core.adapters.github.code_host import GitHubHost
    from nightwatch_core.adapters.github.outbox import GitHubOutbox
    from nightwatch_core.adapters.github.ownership import Ours
    from nightwatch_core.adapters.github.sign_in import GitHubSignIn
    from nightwatch_core.adapters.github.tracker import GitHubTracker
    from nightwatch_core.adapters.new_relic.source import NewRelic
    from nightwatch_core.adapters.slack.notifier import SlackNotifier

NEEDED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "newrelic": (("NEW_RELIC_API_KEY",), ("NEW_RELIC_ACCOUNT_ID",), ("NEW_RELIC_APP_NAME",)),
    "github": (("GITHUB_TOKEN", "GITHUB_APP_ID"), ("GITHUB_REPO",)),
    "claude": (("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),),
    "slack": (("SLACK_BOT_TOKEN",), ("SLACK_CHANNEL",)),
}
"""Of each group one setting has to be there."""

NO_KEY = "none"  # for compatible servers that ask for none


def lacking(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Every service that cannot be used, with the settings it still needs."""
    given = {
        field.alias
        for name, field in type(settings).model_fields.items()
        if getattr(settings, name)
    }
    missing = {
        service: tuple(" or ".join(group) for group in groups if not given.intersection(group))
        for service, groups in NEEDED.items()
    }
    return {service: names for service, names in missing.items() if names}


def half_described(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Services that somebody began to describe; a GitHub token alone means nothing."""
    begun = {
        "newrelic": settings.new_relic_api_key
        or settings.new_relic_account_id
        or settings.new_relic_app_name,
        "github": settings.github_repo or settings.github_app_id,
        "slack": settings.slack_bot_token or settings.slack_channel,
    }
    return {service: names for service, names in lacking(settings).items() if begun.get(service)}


def new_relic(
    options: NightOptions, settings: Settings, watermark: datetime | None, clock: Clock
) -> NewRelic:
    """The application's errors in New Relic."""
    from nightwatch_core.adapters.new_relic.nerdgraph import TIMES, NerdGraph
    from nightwatch_core.adapters.new_relic.source import NewRelic

    manifest.open_list(settings)
    account = settings.new_relic_account_id
    if not account.isdecimal() or len(account) > 15:
        raise StopTheNight(f"NEW_RELIC_ACCOUNT_ID has to be a number, not {account[:20]!r}")
    key = settings.new_relic_api_key.get_secret_value() if settings.new_relic_api_key else ""
    url = settings.new_relic_api_url or settings.new_relic_region
    return NewRelic(
        key,
        int(account),
        settings.new_relic_app_name,
        url,
        watermark,
        clock,
        app_prefixes=listed(options.app_prefixes),
        client=NerdGraph(key, url, pace().silence or TIMES, pause=pace().pause),
    )


def github_code(
    options: NightOptions, settings: Settings, records: Records, *, may_clone: bool = True
) -> GitHubHost:
    """The repository, cloned or read through the API."""
    from nightwatch_core.adapters.github.api_host import ApiHost
    from nightwatch_core.adapters.github.code_host import CloneHost, GitHubHost

    client, repo = _reader(settings), settings.github_repo
    api = ApiHost(client, repo, records, options.base_branch)
    clone = CloneHost(client, repo, settings.state / "clones", options.base_branch)
    return GitHubHost(api, clone if settings.github_clone and may_clone else None)


def github_tracker(settings: Settings) -> GitHubTracker:
    """Our issues and pull requests."""
    from nightwatch_core.adapters.github.tracker import GitHubTracker

    return GitHubTracker(_reader(settings), settings.github_repo, _ours(settings))


def github_outbox(
    options: NightOptions, settings: Settings, clock: Clock, folder: Path, scrub: Scrub
) -> GitHubOutbox:
    """Where issues are published, and pull requests; patches too long for one lie in `folder`."""
    from nightwatch_core.adapters.github.outbox import GitHubOutbox
    from nightwatch_core.adapters.github.patches import PatchDesk

    pulls = options.highest_tier()[0] == "draft" and options.drafts == "branch"
    client, ours = _github(settings, read_only=False), _ours(settings)
    repo, desk = settings.github_repo, PatchDesk(folder, scrub)
    pause = pace().pause
    return GitHubOutbox(client, repo, clock, pause, pulls=pulls, ours=ours, patches=desk)


def claude(options: NightOptions, settings: Settings) -> Claude:
    """The model at Anthropic's address or a compatible server's."""
    from nightwatch_core.adapters.claude.limits import SILENCE
    from nightwatch_core.adapters.claude.model import Claude

    manifest.open_list(settings)
    key, tonight = settings.anthropic_api_key or SecretStr(NO_KEY), pace()
    return Claude(
        key,
        options.model,
        settings.anthropic_base_url,
        silence=tonight.silence or SILENCE,
        tuning=tuning(options, settings),
        pause=tonight.pause,
    )


def claude_batches(options: NightOptions, settings: Settings, clock: Clock) -> ClaudeBatches:
    """The same for many errors at once."""
    from nightwatch_core.adapters.claude.batches import ClaudeBatches

    manifest.open_list(settings)
    key = settings.anthropic_api_key or SecretStr(NO_KEY)
    return ClaudeBatches(key, options.model, clock, settings.anthropic_base_url)


def priced(model: str, usage: Usage) -> Usage:
    """Add what usage of a model costs; unknown where no price of it is known."""
    from nightwatch_core.adapters.claude import prices

    return prices.priced(model, usage)


def slack(settings: Settings, clock: Clock) -> SlackNotifier:
    """The team's channel."""
    from nightwatch_core.adapters.slack.notifier import SILENCE, SlackNotifier

    manifest.open_list(settings)
    token = settings.slack_bot_token or SecretStr("")
    database = settings.state / "nightwatch.db"
    return SlackNotifier(
        *(token, settings.slack_channel, database, clock),
        api_url=settings.slack_api_url,
        sleep=pace().pause,
        timeout=pace().silence or SILENCE,
        withhold=partial(privacy.second_check(settings).withhold, "Slack"),
    )


def _reader(settings: Settings) -> GitHubClient:
    return _github(settings, read_only=True)


@lru_cache(maxsize=4)
def _ours(settings: Settings) -> Ours:
    """What we published, judged under the sign-in that publishes, which it cannot write with."""
    from nightwatch_core.adapters.github.ownership import Ours
    from nightwatch_core.adapters.stores.ledger import published

    client = _github_as(settings, writing_sign_in(settings), read_only=True)
    ledger = settings.state / "nightwatch.db"
    return Ours(client, lambda: published(ledger), listed(settings.former_accounts))


@lru_cache(maxsize=4)
def _github(settings: Settings, *, read_only: bool) -> GitHubClient:
    sign_in = reading_sign_in(settings) if read_only else writing_sign_in(settings)
    return _github_as(settings, sign_in, read_only=read_only)


def _github_as(settings: Settings, sign_in: GitHubSignIn, *, read_only: bool) -> GitHubClient:
    from nightwatch_core.adapters.github.client import GitHubClient
    from nightwatch_core.adapters.github.limits import SILENCE

    manifest.open_list(settings)
    return GitHubClient(
        sign_in,
        settings.github_api_url,
        repository=settings.github_repo,
        read_only=read_only,
        answers=settings.state / "answers",
        api_version=settings.github_api_version,
        pause=pace().pause,
        timeout=pace().silence or SILENCE,
    )


def reading_sign_in(settings: Settings) -> GitHubSignIn:
    """The token for reading where there is one, else what writes, too."""
    from nightwatch_core.adapters.github.sign_in import GitHubSignIn

    if settings.github_read_token:
        return GitHubSignIn(token=settings.github_read_token)
    return writing_sign_in(settings)


def writing_sign_in(settings: Settings) -> GitHubSignIn:
    """The token or App that publishes."""
    from nightwatch_core.adapters.github.sign_in import GitHubSignIn

    return GitHubSignIn(
        token=settings.github_token,
        app_id=settings.github_app_id,
        installation_id=settings.github_app_installation_id,
        private_key=settings.github_app_private_key,
    )
