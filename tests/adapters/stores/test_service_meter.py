"""What is counted of requests to the services, in memory and over real HTTP."""

from datetime import UTC, datetime

import pytest
from github_world import bare_shop
from pydantic import SecretStr
from services.github import GitHub

from nightwatch_core.adapters.github.client import GitHubClient
from nightwatch_core.adapters.github.sign_in import GitHubSignIn
from nightwatch_core.adapters.stores.traffic import METER, ServiceMeter
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater

NEVER = datetime(2026, 12, 1, tzinfo=UTC)


def _counted(service):
    one = METER.calls()[service]
    return (
        *(one.requests, one.unanswered, one.refused),
        *(one.waits, one.waited, one.is_last_well),
    )


@pytest.fixture(autouse=True)
def _fresh():
    METER.reset()
    yield
    METER.reset()


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (TryLater("away"), (1, 1, 0, False)),
        (StopTheNight("no such key"), (1, 0, 1, False)),
        (GiveUp("no such file"), (1, 0, 0, True)),  # an answer
        (ValueError("s3cret"), (1, 1, 0, False)),
    ],
)
def test_an_error_is_a_refusal_an_answer_or_none(error, counts):
    meter = ServiceMeter()
    with pytest.raises(type(error)), meter.request("X"):
        raise error
    one = meter.calls()["X"]
    assert (one.requests, one.unanswered, one.refused, one.is_last_well) == counts
    assert "s3cret" not in one.trouble


def test_a_night_waits_for_a_service_only_so_long():
    meter = ServiceMeter()
    for _ in range(15):
        meter.wait("X", 60)
    with pytest.raises(TryLater, match="X asks to wait 60 s more, after 900 s this night"):
        meter.wait("X", 60)
    meter.wait("Y", 60)
    assert meter.calls()["X"].waited == 900
    meter.reset()
    meter.wait("X", 60)


class Silent:
    """A service that hangs 30 s a request, on a clock of its own."""

    def __init__(self):
        self.now = 0.0
        self.meter = ServiceMeter(lambda: self.now)

    def asked(self, *, answers=False):
        with self.meter.request("X"):
            if not answers:
                self.now += 30
                raise TryLater("silent")


def test_who_gives_no_answer_for_long_is_asked_once_a_minute():
    silent = Silent()
    for _ in range(30):
        with pytest.raises(TryLater, match="silent"):
            silent.asked()
    with pytest.raises(
        TryLater, match="X did not answer for 900 s; now one request a minute is sent"
    ):
        silent.asked()
    assert silent.meter.calls()["X"].requests == 30, "the last was not sent"
    silent.now += 60
    silent.asked(answers=True)
    with pytest.raises(TryLater, match="silent"):
        silent.asked()


def test_github_is_counted_with_its_waits_and_the_end_of_its_token(tmp_path):
    with GitHub(bare_shop(tmp_path)) as server:
        sign_in = GitHubSignIn(token=SecretStr(server.token))
        client = GitHubClient(sign_in, server.url, pause=lambda _: None)
        headers = {"retry-after": "7"}
        server.fail("GET", "shop$", status=429, headers=headers)
        ends = {"github-authentication-token-expiration": "2026-12-01 00:00:00 UTC"}
        server.fail("GET", "nowhere$", status=404, headers=ends)
        client.rest.repos.get("acme", "shop")
        with pytest.raises(GiveUp):
            client.rest.repos.get("acme", "nowhere")
    assert _counted("GitHub") == (3, 1, 0, 1, 7.0, True)
    assert METER.calls()["GitHub"].expires == NEVER
