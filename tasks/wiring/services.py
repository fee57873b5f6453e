"""Build the services that settings describe, and say what is missing.

A vendor's library is imported where its service is made: importing all of them takes a second, and
most commands need none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import SecretStr

from nightwatch_core import ports
from nightwatch_core.adapters.claude.features import PRICES as PRICES
from nightwatch_core.adapters.claude.features import priced as priced
from nightwatch_core.adapters.local.quiet import SystemClock, quiet_batch_store, quiet_batches
from nightwatch_core.adapters.sandbox.local_sandbox import LocalSandbox, open_place
from nightwatch_core.adapters.sandbox.supervision import TREE_BYTES, TREE_FILES, runner
from nightwatch_core.adapters.stores.code_cache import READS, new_memory, recorded_host
from nightwatch_core.adapters.stores.state_folder import BatchFiles, state_folder
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.intake import default_ports
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.code import CodeReads, Commit
from nightwatch_core.models.options import NightOptions, StateFolder, listed
from nightwatch_core.privacy.redaction import redacted_host, redacted_records
from nightwatch_core.privacy.scrubber import Scrub
from nightwatch_core.settings import Settings
from tasks.wiring import local, masks
from tasks.wiring.local import pace

NEEDED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "newrelic": (("NEW_RELIC_API_KEY",), ("NEW_RELIC_ACCOUNT_ID",), ("NEW_RELIC_APP_NAME",)),
    "sentry": (("SENTRY_AUTH_TOKEN",), ("SENTRY_ORG",), ("SENTRY_PROJECT",)),
    "github": (("GITHUB_TOKEN", "GITHUB_APP_ID"), ("GITHUB_REPO",)),
    "gitlab": (("GITLAB_TOKEN",), ("GITLAB_PROJECT",)),
    "claude": (("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),),
    "slack": (("SLACK_BOT_TOKEN",), ("SLACK_CHANNEL",)),
    "channels": (("NIGHTWATCH_NOTIFY_URLS",),),
}
"""Of each group one setting has to be there."""

# of extras of the package
_LIBRARIES = {"GitLab": "gitlab", "Dask": "prefect_dask", "Ray": "prefect_ray"}
_INSTALL = (
    '{name} needs an extra: pip install "nightwatch[{extra}]", or in a checkout '
    '.venv/bin/pip install -c constraints.txt -e ".[{extra}]"'
)

NO_KEY = "none"  # for compatible servers that ask for none


def lacking(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return every service that cannot be used, with the missing settings."""
    given = _given(settings)
    missing = {
        service: tuple(" or ".join(group) for group in groups if not given.intersection(group))
        for service, groups in NEEDED.items()
    }
    return {service: names for service, names in missing.items() if names}


def _given(settings: Settings) -> set[str | None]:
    fields = type(settings).model_fields.items()
    return {field.alias for name, field in fields if getattr(settings, name)}


def half_described(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return services that are half set up; tokens that shells often have mean nothing alone."""
    given = _given(settings) - {"GITHUB_TOKEN", "GITLAB_TOKEN", "SENTRY_AUTH_TOKEN"}
    return {
        service: names
        for service, names in lacking(settings).items()
        if any(given.intersection(group) for group in NEEDED[service])
    }


def check_installed(options: NightOptions, settings: Settings) -> None:
    """Raise `StopTheNight` where a service of the night, or its runner, lacks its library."""
    chosen = {"GitLab": "gitlab" in (options.code, options.delivery)}
    chosen[settings.task_runner.partition("=")[0].capitalize()] = True
    lacking = (n for n, library in _LIBRARIES.items() if chosen.get(n) and not find_spec(library))
    if advice := [_INSTALL.format(name=name, extra=name.lower()) for name in lacking]:
        raise StopTheNight("\n".join(advice))


def new_relic(
    options: NightOptions, settings: Settings, watermark: datetime | None, clock: ports.Clock
) -> ports.ErrorSource:
    """Return the application's errors in New Relic."""
    from nightwatch_core.adapters.new_relic.nerdgraph import TIMES, NerdGraph
    from nightwatch_core.adapters.new_relic.source import NewRelic

    account = settings.new_relic_account_id
    if not account.isdecimal() or len(account) > 15:
        raise StopTheNight(f"NEW_RELIC_ACCOUNT_ID has to be a number, not {account[:20]!r}")
    key = settings.new_relic_api_key.get_secret_value() if settings.new_relic_api_key else ""
    url = settings.new_relic_api_url or settings.new_relic_region
    client = NerdGraph(key, url, pace.silence or TIMES, pause=pace.pause)
    app, prefixes = settings.new_relic_app_name, listed(options.app_prefixes)
    return NewRelic(client, int(account), app, watermark, clock, prefixes)


def sentry(
    options: NightOptions, settings: Settings, watermark: datetime | None, clock: ports.Clock
) -> ports.ErrorSource:
    """Return the errors of projects in Sentry."""
    from nightwatch_core.adapters.sentry.client import TIMES, SentryApi
    from nightwatch_core.adapters.sentry.source import Sentry

    token = settings.sentry_auth_token.get_secret_value() if settings.sentry_auth_token else ""
    place, times = (settings.sentry_url, settings.sentry_org), pace.silence or TIMES
    api = SentryApi(token, *place, times=times, pause=pace.pause)
    names = settings.sentry_project, settings.sentry_environment, options.app_prefixes
    projects, environments, prefixes = map(listed, names)
    return Sentry(api, projects, environments, watermark, clock, prefixes)


class LiveSource(NamedTuple):
    """Makes a source that goes on while we look; `places` are the settings that say what it is."""

    make: Callable[[NightOptions, Settings, datetime | None, ports.Clock], ports.ErrorSource]
    places: tuple[str, ...]  # nights over other ones share no watermark


LIVE: Mapping[str, LiveSource] = {
    "newrelic": LiveSource(new_relic, ("new_relic_account_id", "new_relic_app_name")),
    "sentry": LiveSource(sentry, ("sentry_org", "sentry_project", "sentry_environment")),
}


def github_code(
    options: NightOptions, settings: Settings, *, may_clone: bool = True
) -> ports.CodeHost:
    """Return the repository, cloned or read through the API."""
    from nightwatch_core.adapters.github.code_host import ApiHost, GitHubClone, GitHubHost

    client, repo = _github(settings, "read"), settings.github_repo
    api = ApiHost(client, repo, options.base_branch)
    clone = GitHubClone(client, repo, settings.state / "clones", options.base_branch)
    return GitHubHost(api, clone if may_clone else None)


def github_tracker(settings: Settings) -> ports.Tracker:
    """Return our issues and pull requests."""
    from nightwatch_core.adapters.github.tracker import GitHubTracker

    return GitHubTracker(_github(settings, "read"), settings.github_repo, _ours(settings))


def github_outbox(
    options: NightOptions, settings: Settings, clock: ports.Clock, scrub: Scrub
) -> ports.Outbox:
    """Make the outbox for issues and pull requests."""
    from nightwatch_core.adapters.github.outbox import GitHubOutbox

    return GitHubOutbox(
        *(_github(settings, "write"), settings.github_repo, clock, pace.pause),
        pulls=options.publish == "all",
        ours=_ours(settings),
        scrub=scrub,
    )


def gitlab_code(
    options: NightOptions, settings: Settings, *, may_clone: bool = True
) -> ports.CodeHost:
    """Return the project, which is always cloned."""
    from nightwatch_core.adapters.gitlab.code_host import GitLabHost

    clones = settings.state / "clones"
    return GitLabHost(_gitlab(settings, read_only=True), clones, options.base_branch)


def gitlab_tracker(settings: Settings) -> ports.Tracker:
    """Return our issues and merge requests."""
    from nightwatch_core.adapters.gitlab.tracker import GitLabTracker

    project = _gitlab(settings, read_only=True)
    return GitLabTracker(project, _who_is_ours(settings, project.account))


def gitlab_outbox(
    options: NightOptions, settings: Settings, clock: ports.Clock, scrub: Scrub
) -> ports.Outbox:
    """Make the outbox for issues and merge requests."""
    from nightwatch_core.adapters.gitlab.outbox import GitLabOutbox

    project = _gitlab(settings, read_only=False)
    return GitLabOutbox(
        *(project, clock, pace.pause),
        pulls=options.publish == "all",
        ours=_who_is_ours(settings, project.account),
        scrub=scrub,
    )


@lru_cache(maxsize=4)
def _gitlab(settings: Settings, *, read_only: bool) -> Any:
    from nightwatch_core.adapters.gitlab.client import SILENCE, Project

    token = settings.gitlab_token.get_secret_value() if settings.gitlab_token else ""
    return Project(
        *(settings.gitlab_project, token),
        read_only=read_only,
        pause=pace.pause,
        silence=pace.silence or SILENCE,
    )


class Host(NamedTuple):
    """Makes what reads a code host and publishes there."""

    code: Callable[..., ports.CodeHost]
    tracker: Callable[[Settings], ports.Tracker]
    outbox: Callable[[NightOptions, Settings, ports.Clock, Scrub], ports.Outbox]


HOSTS: Mapping[str, Host] = {
    "github": Host(github_code, github_tracker, github_outbox),
    "gitlab": Host(gitlab_code, gitlab_tracker, gitlab_outbox),
}


def claude(options: NightOptions, settings: Settings) -> ports.Model:
    """Return the model at Anthropic's address or a compatible server's."""
    from nightwatch_core.adapters.claude.client import SILENCE
    from nightwatch_core.adapters.claude.model import Claude

    key = settings.anthropic_api_key or SecretStr(NO_KEY)
    return Claude(
        key,
        options.model,
        settings.anthropic_base_url,
        silence=pace.silence or SILENCE,
        pause=pace.pause,
        compacts=options.use_compaction,
    )


def slack(settings: Settings, clock: ports.Clock) -> ports.Notifier:
    """Return the team's channel."""
    from nightwatch_core.adapters.slack.notifier import SILENCE, SlackNotifier

    token = settings.slack_bot_token or SecretStr("")
    return SlackNotifier(
        *(token, settings.slack_channel, settings.database, clock),
        api_url=settings.slack_api_url,
        sleep=pace.pause,
        timeout=pace.silence or SILENCE,
        withhold=partial(masks.second_check(settings).withhold, "Slack"),
    )


def channels(settings: Settings, clock: ports.Clock) -> ports.Notifier:
    """Return the team's channels that Apprise knows."""
    from nightwatch_core.adapters.channels.notifier import SERVICE, DigestNotifier

    addresses = settings.notify_urls or SecretStr("")
    withhold = partial(masks.second_check(settings).withhold, SERVICE)
    return DigestNotifier(addresses, settings.database, clock, withhold=withhold)


@lru_cache(maxsize=4)
def _ours(settings: Settings) -> Any:
    from nightwatch_core.adapters.github.client import account

    return _who_is_ours(settings, partial(account, _github(settings, "read as who writes")))


def _who_is_ours(settings: Settings, account: Callable[[], str]) -> Any:
    from nightwatch_core.adapters.hosts.ownership import Ours
    from nightwatch_core.adapters.stores.database import published

    former = listed(settings.former_accounts)
    return Ours(account, lambda: published(settings.database), former)


@lru_cache(maxsize=4)
def _github(settings: Settings, use: Literal["read", "write", "read as who writes"]) -> Any:
    from nightwatch_core.adapters.github.client import GitHubClient
    from nightwatch_core.adapters.github.connection import SILENCE

    return GitHubClient(
        sign_in(settings, writes=use != "read"),
        settings.github_api_url,
        repository=settings.github_repo,
        read_only=use != "write",
        api_version=settings.github_api_version,
        pause=pace.pause,
        timeout=pace.silence or SILENCE,
    )


def sign_in(settings: Settings, *, writes: bool) -> Any:
    """Return the token or App that publishes, or the token for reading if there is one."""
    from nightwatch_core.adapters.github.sign_in import GitHubSignIn

    if settings.github_read_token and not writes:
        return GitHubSignIn(token=settings.github_read_token)
    return GitHubSignIn(
        token=settings.github_token,
        app_id=settings.github_app_id,
        installation_id=settings.github_app_installation_id,
        private_key=settings.github_app_private_key,
    )


# The code: masked for everybody, and as it is for the files of drafts.


def recorded_code(options: NightOptions, at: Settings) -> ports.CodeHost:
    """Return the code, masked before it is kept."""
    by, kept = masks.scrubber(at), local.CodeRecords(at)
    records = redacted_records(kept, by.scrub)
    return recorded_host(redacted_host(_bare(options, at), by), records, kept, code_memory())


@lru_cache(maxsize=1)
def code_memory() -> Any:
    """Return what this process has read of code, whatever the options."""
    return new_memory()


@lru_cache(maxsize=4)
def bare_code(options: NightOptions, at: Settings) -> ports.CodeHost:
    """Return the code unmasked, which is never kept."""
    return _bare(options, at)


def _bare(options: NightOptions, at: Settings, *, may_clone: bool = True) -> ports.CodeHost:
    host = HOSTS.get(options.code)
    return host.code(options, at, may_clone=may_clone) if host else local.checkout(options, at)


# What a check says of the repository that drafts go to, and of who may write there.


def few_files(options: NightOptions, at: Settings) -> ports.CodeHost:
    """Return the code for reading a few files: not cloned where that can be."""
    return _bare(options, at, may_clone=False)


def one_token_does_both(options: NightOptions, at: Settings) -> bool:
    """Tell whether what reads on GitHub could write, too."""
    is_github = "github" in (options.code, options.delivery)
    return is_github and not (at.github_read_token or at.github_app_id)


# Where code is run that nobody has read.


def sandbox(options: NightOptions, at: Settings) -> LocalSandbox:
    """Return the sandbox of this machine; it checks nothing before the first run."""
    return LocalSandbox(
        at.state,
        partial(_lay_out, options, at),
        folders=tuple(
            Path(item).expanduser().resolve() for item in listed(options.sandbox_folders)
        ),
        network=options.prepare_network,
        libraries=local.library_folders(options, at),
    )


def sandbox_place(at: Settings) -> Path:
    """Return the folder of its environments."""
    return open_place(at.state, runner())


def _lay_out(options: NightOptions, at: Settings, commit: Commit, folder: Path) -> int:
    """The files as they are: what is run has to be what people will merge into."""
    reader = bare_code(options, at).reader(commit)
    if not isinstance(reader, ports.LaysOut):
        raise GiveUp("its repository is not cloned here, so its tests cannot run")
    return reader.lay_out(str(folder), TREE_BYTES, TREE_FILES)


# What is counted and looked at for the health of a night, on the machine that it runs on.


def code_reads() -> CodeReads:
    """Return the counts of reads of code since the night began, those of its workers too."""
    return READS.reads()


def state_of(at: Settings) -> StateFolder:
    """Return the state folder's disk."""
    return state_folder(at.state)


# Batches: who answers many errors at once, and where they are kept from night to night.


def kept_batches(at: Settings) -> ports.BatchStore:
    """Return the store of batches, whatever the options."""
    return BatchFiles(at.state)


def batch_model(options: NightOptions, at: Settings) -> ports.BatchModel | None:
    """Return the batch service, quiet in a dry run; None without a language model."""
    if options.model == RULES:
        return None
    from nightwatch_core.adapters.claude.batches import ClaudeBatches

    key = at.anthropic_api_key or SecretStr(NO_KEY)
    real = ClaudeBatches(key, options.model, SystemClock(), at.anthropic_base_url)
    return quiet_batches(real) if options.dry_run else real


def batch_store(options: NightOptions, at: Settings) -> ports.BatchStore:
    """Return the files of batches, only read in a dry run."""
    files = BatchFiles(at.state)
    return quiet_batch_store(files) if options.dry_run else files


# What can stand behind each port here: on this machine, and of the services that are set up.

LOCAL: Mapping[str, frozenset[str]] = {
    "source": frozenset({"file", "sample"}),
    "code": default_ports.ON_THIS_MACHINE,
    "model": frozenset({"rules"}),
    "delivery": frozenset({"local"}),
    "notify": frozenset({"local"}),
}
SERVICES: Mapping[str, frozenset[str]] = {
    "source": frozenset(LIVE),
    "code": frozenset(HOSTS),
    "model": frozenset({"claude"}),
    "delivery": frozenset(HOSTS),
    "notify": frozenset({"slack", "channels"}),
}


def available(settings: Settings) -> dict[str, frozenset[str]]:
    """Return the connected adapters of every port."""
    missing = lacking(settings)
    ready = {port: names - missing.keys() for port, names in SERVICES.items()}
    compatible = {default_ports.COMPATIBLE} if settings.anthropic_base_url else set()
    return {port: LOCAL[port] | ready[port] for port in LOCAL} | {
        "model": LOCAL["model"] | ready["model"] | compatible
    }
