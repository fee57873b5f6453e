"""A secret in every secret setting: Prefect keeps none, no worker is sent one, no file has one.

A whole night among the services, each of which takes only the secret that was planted for it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import quote

import pytest
from connected import shop
from connected.story import a_sentry
from connected.world import World
from kept_files import kept_texts
from postgres_cluster import PASSWORD
from postgres_cluster import cluster as postgres
from pydantic import SecretStr
from services.github_app import pem
from services.gitlab import GitLab
from services.sentry import ORGANIZATION
from slow.test_runners import Tap, cluster

from nightwatch_core.adapters.stores.journal_files import JournalFile
from nightwatch_core.journal.pieces import canonical
from nightwatch_core.journal.writer import as_line
from nightwatch_core.settings import Settings, names

pytestmark = pytest.mark.slow
OWN = {
    "NEW_RELIC_API_KEY": "NRAK-PLANTED0NEWRELIC0KEY",
    "SENTRY_AUTH_TOKEN": "sntrys_planted0sentry0token",
    "GITHUB_TOKEN": "github_pat_planted0writing0token",
    "GITHUB_READ_TOKEN": "github_pat_planted0reading0token",
    "GITHUB_APP_PRIVATE_KEY": pem(),
    "GITLAB_TOKEN": "glpat-planted0gitlab0token",
    "SLACK_BOT_TOKEN": "xoxb-planted0slack0token",
    "NIGHTWATCH_NOTIFY_URLS": "jsons://ann:planted0channel0word@127.0.0.1:9/nights",
    "ANTHROPIC_API_KEY": "sk-ant-planted0claude0key",
    "NIGHTWATCH_DATABASE": "",  # of a server that is started
}
PARTS = {  # of a secret setting that also says what anybody may know
    "NIGHTWATCH_DATABASE": (PASSWORD, quote(PASSWORD)),
    "NIGHTWATCH_NOTIFY_URLS": ("planted0channel0word",),
    "GITHUB_APP_PRIVATE_KEY": tuple(pem().splitlines()[1:-1]),
}
SECRETS = {(name, part) for name, one in OWN.items() for part in PARTS.get(name, (one,))}


def test_a_secret_is_planted_in_every_secret_setting() -> None:
    variables = dict(
        zip(Settings.model_fields, names()[-len(Settings.model_fields) :], strict=True)
    )
    secret = {
        variables[name]
        for name, field in Settings.model_fields.items()
        if field.annotation == SecretStr | None
    }
    assert secret == set(OWN)


def test_what_is_packed_or_spread_over_pages_is_looked_through(tmp_path: Path) -> None:
    secret, long = OWN["SLACK_BOT_TOKEN"], "x" * 9_000
    file = JournalFile(tmp_path / "journal", "n1")
    file.write([as_line(canonical(f"{long}{secret}"))])
    file.pack()
    with closing(sqlite3.connect(tmp_path / "prefect.db")) as database, database:
        database.execute("create table runs (parameters text)")
        database.execute("insert into runs values (?)", (f"{long}{secret}{long}",))
    assert [found_in(text) for _, text in kept_texts(tmp_path)] == [["SLACK_BOT_TOKEN"]] * 2


def found_in(text: str) -> list[str]:
    return sorted({name for name, part in SECRETS if part in text})


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Its nights start a Prefect of their own, which keeps all below `tmp_path / "prefect"`."""
    with ExitStack() as stack:
        address = stack.enter_context(postgres()).get_secret_value()
        made = stack.enter_context(World(tmp_path))
        sentry = stack.enter_context(a_sentry(made.now, shop.THREE))
        gitlab = stack.enter_context(GitLab(made.github.git.folder))
        sentry.token, gitlab.token = OWN["SENTRY_AUTH_TOKEN"], OWN["GITLAB_TOKEN"]
        made.newrelic.key, made.github.token = OWN["NEW_RELIC_API_KEY"], OWN["GITHUB_READ_TOKEN"]
        made.claude.key, made.slack.token = OWN["ANTHROPIC_API_KEY"], OWN["SLACK_BOT_TOKEN"]
        made.variables = {
            **OWN,
            "NIGHTWATCH_DATABASE": address,
            "GITHUB_APP_ID": made.github.app.app_id,
            "SENTRY_ORG": ORGANIZATION,
            "SENTRY_PROJECT": "shop",
            "SENTRY_URL": sentry.url,
            "GITLAB_PROJECT": gitlab.project,
        }
        yield made


@pytest.mark.parametrize("runner", ["threads", "dask"])
def test_no_secret_is_kept_or_sent_to_a_worker(runner: str, world: World, tmp_path: Path) -> None:
    with ExitStack() as stack:
        tap = None
        if runner == "dask":
            tap = Tap(stack.enter_context(cluster(tmp_path, world.environment())))
            runner = f"dask=tcp://127.0.0.1:{tap.port}"
        night = world.night("--max-errors", "4", NIGHTWATCH_TASK_RUNNER=runner)
        heard = tap.heard.decode("utf-8", "replace") if tap else ""
    assert night.code == 0, night.output
    assert night.report["options"]["source"] == "newrelic,sentry"
    assert world.github.app.minted, "it published as the App"
    assert found_in(night.output) == []
    assert found_in(heard) == []
    assert (shop.BROKEN_BASKET.message in heard) == bool(tap), "what workers are sent can be read"

    texts = dict(kept_texts(tmp_path))
    leaks = {place: found for place, text in texts.items() if (found := found_in(text))}
    assert leaks == {}
    for folder, said in (
        ("prefect/", "max_errors"),  # a parameter of the run
        ("state/results/", shop.BROKEN_BASKET.message),
        ("state/journal/", shop.BROKEN_BASKET.message),
        ("state/nights/", shop.BROKEN_BASKET.message),
    ):
        places = [
            place for place, text in texts.items() if place.startswith(folder) and said in text
        ]
        assert places, f"{folder} holds what is looked through"
    for service in (world.newrelic, world.github, world.claude, world.slack):
        assert found_in(b"\n".join(service.received).decode("utf-8", "replace")) == []
