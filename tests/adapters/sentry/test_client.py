"""What Sentry's API may answer, over HTTP."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from services.sentry import ORGANIZATION, TOKEN, Answer
from tables import tables_of

from nightwatch_core.adapters.sentry.client import (
    AT_ONCE,
    Denied,
    Missing,
    SentryApi,
    Throttled,
    Unwell,
    address,
)
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater

TABLES = tables_of(__file__)

PROJECT = ("projects", ORGANIZATION, "shop")
SECRET = {"detail": f"not\x00 with  {TOKEN}"}


def client(service, **given):
    waits = []
    values = {"times": 1.0, "deadline": 3.0, "pause": waits.append, "url": service.url, **given}
    made = SentryApi(values.pop("token", TOKEN), values.pop("url"), ORGANIZATION, **values)
    made.waits = waits
    return made


@pytest.mark.parametrize(
    ("answer", "kind", "base", "requests"),
    [
        (Answer(204, b""), Unwell, TryLater, 2),
        (
            Answer(302, {}, {"Location": "https://elsewhere.example/"}),
            StopTheNight,
            StopTheNight,
            1,
        ),
        (Answer(400, SECRET), GiveUp, GiveUp, 1),
        (Answer(401, {"detail": {"code": "x", "message": "no"}}), StopTheNight, StopTheNight, 1),
        (Answer(402, ["no"]), Denied, StopTheNight, 1),
        (Answer(403, SECRET), Denied, StopTheNight, 1),
        (Answer(404, b"<html>no</html>"), Missing, GiveUp, 1),
        (Answer(410, {"detail": None}), GiveUp, GiveUp, 1),
        (Answer(429, SECRET), Throttled, TryLater, 2),
        (Answer(500, b"\xff"), Unwell, TryLater, 2),
        (Answer(503, {}), Unwell, TryLater, 2),
        (Answer(599, {}), Unwell, TryLater, 2),
        (Answer(200, b'{"id": "1'), Unwell, TryLater, 2),
        (Answer(200, b"[" * 100_000), Unwell, TryLater, 2),
    ],
)
def test_every_refusal_has_its_kind_and_never_the_token(service, answer, kind, base, requests):
    assert issubclass(kind, base)
    service.answers = [answer] * 3
    with pytest.raises(base) as raised:
        client(service).get(*PROJECT)
    assert type(raised.value) is kind
    assert TOKEN not in f"{raised.value!r}"
    assert len(service.requests) == requests


@pytest.mark.parametrize("status", [429, 500])
def test_one_that_is_unwell_for_a_moment_is_asked_once_more(service, status):
    service.answers = [Answer(status, {"detail": "no"})]
    asking = client(service)
    assert asking.get(*PROJECT)["id"] == "17"
    assert asking.waits == [1.0]


@pytest.mark.parametrize(("headers", "wait"), TABLES["test_sentry_says_how_long_to_wait"])
def test_sentry_says_how_long_to_wait(service, headers, wait):
    service.answers = [Answer(429, {}, {"X-Sentry-Rate-Limit-Reset": "1", **headers})]
    asking = client(service)
    if wait is None:
        with pytest.raises(Throttled, match="wait 3,600 seconds"):
            asking.get(*PROJECT)
    else:
        assert asking.get(*PROJECT)["slug"] == "shop"
    assert asking.waits == ([wait] if wait else [])


def test_a_window_of_limits_that_ends_soon_is_waited_for(service):
    reset = {"X-Sentry-Rate-Limit-Reset": str(time.time() + 20)}
    service.answers = [Answer(429, {}, reset)]
    asking = client(service)
    asking.get(*PROJECT)
    (wait,) = asking.waits
    assert 15 < wait <= 20


def test_pages_are_followed_by_their_cursors_alone(service):
    """The link of the answer leads to another host, where the token must not go."""
    service.page = 1
    service.releases = [{"version": "1"}, "none", {"version": "3"}]
    path = ("organizations", ORGANIZATION, "releases")
    assert client(service).rows(9, *path) == ([{"version": "1"}, {"version": "3"}], False)
    assert client(service).rows(2, *path) == ([{"version": "1"}], True)
    service.answers = [Answer(200, {"detail": "none"})]
    with pytest.raises(Unwell, match="no list"):
        client(service).rows(1, *path)


def test_not_more_are_asked_at_once_than_sentry_likes(service):
    asking = client(service)
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda _: asking.get(*PROJECT), range(24)))
    assert service.most_at_once <= AT_ONCE


def test_names_stay_within_their_part_of_the_path(service):
    with pytest.raises(Missing):
        client(service).get("projects", "acme/../x", "shop?a=b")
    assert service.requests[-1].path.endswith("/projects/acme%2F..%2Fx/shop%3Fa%3Db/")


def test_nobody_there_is_to_be_tried_again(service):
    with pytest.raises(Unwell, match="cannot be reached"):
        client(service, url="http://127.0.0.1:9").get(*PROJECT)


@pytest.mark.parametrize("token", ["", "  ", "a\nX-Evil: 1", "ключ"])
def test_what_cannot_be_a_token_is_said_before_asking(service, token):
    with pytest.raises(StopTheNight, match="SENTRY_AUTH_TOKEN"):
        client(service, token=token)
    assert service.requests == []


@pytest.mark.parametrize(("url", "expected"), TABLES["test_addresses_have_the_path_of_the_api"])
def test_addresses_have_the_path_of_the_api(url, expected):
    assert address(url) == expected


@pytest.mark.parametrize("wrong", TABLES["test_the_token_is_not_sent_to_other_addresses"])
def test_the_token_is_not_sent_to_other_addresses(wrong):
    with pytest.raises(StopTheNight, match="SENTRY_URL"):
        SentryApi(TOKEN, wrong, ORGANIZATION)
