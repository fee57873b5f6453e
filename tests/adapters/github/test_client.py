import pytest
from github_world import client
from pydantic import SecretStr
from tables import tables_of
from twins.reading import MemoryClock

from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.connection import advice
from nightwatch_core.adapters.github.sign_in import GitHubSignIn, checked_address
from nightwatch_core.adapters.hosts.writes import (
    SHORT_WAIT,
    AnswerLost,
    Forbidden,
    Rejected,
    Unavailable,
)
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater

TABLES = tables_of(__file__)


def described(server, clock=None):
    return Repository.of(client(server, clock), "acme/shop").describe().full_name


def create(where, title="x"):
    return where.rest.issues.create(*where.at, title=title)


def test_requests_carry_what_github_wants(server):
    assert described(server) == "acme/shop"
    headers = server.requests[0].headers
    assert headers["authorization"] == f"token {server.token}"
    assert headers["x-github-api-version"] == "2026-03-10"
    assert headers["user-agent"] == "nightwatch"


@pytest.mark.parametrize(
    "text", ["mutation{deleteIssue{id}}", "# query\nmutation M{a}", "query{a} mutation M{b}"]
)
def test_a_mutation_never_leaves_whatever_the_token_may_do(server, text):
    with pytest.raises(GiveUp, match="only read queries"):
        client(server).query(text, {})
    assert not server.requests


@pytest.mark.parametrize("how", ["answer", "cut", "truncated"])
def test_a_read_is_repeated_at_once_and_then_given_up(server, how):
    clock = MemoryClock()
    start = clock.monotonic()
    server.fail("GET", "shop$", how=how)
    assert described(server, clock) == "acme/shop"
    server.fail("GET", "shop$", how=how, times=2)
    with pytest.raises(TryLater):
        described(server, clock)
    assert len(server.requests) == 4
    assert clock.monotonic() - start == 2 * SHORT_WAIT < 2


@pytest.mark.parametrize("how", ["answer", "cut", "truncated"])
def test_a_write_is_never_repeated(server, how):
    server.fail("POST", "/issues$", how=how, times=2)
    with pytest.raises(AnswerLost, match="may have been done"):
        create(Repository.of(client(server), "acme/shop"))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "headers", "body", "low", "high"), TABLES["test_limits_are_waited_for"]
)
def test_limits_are_waited_for(server, status, headers, body, low, high):
    clock = MemoryClock()
    start = clock.monotonic()
    server.fail("GET", "shop$", status=status, headers=headers, body=body)
    assert described(server, clock) == "acme/shop"
    assert low <= clock.monotonic() - start <= high


@pytest.mark.parametrize("wait", ["3600", "9" * 40, "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_nobody_waits_for_hours(server, wait):
    clock = MemoryClock()
    start = clock.monotonic()
    server.fail("GET", "shop$", status=429, headers={"retry-after": wait})
    with pytest.raises(Unavailable, match="asks to wait"):
        described(server, clock)
    assert (clock.monotonic(), len(server.requests)) == (start, 1)


def test_a_slow_answer_is_no_answer(server):
    where = Repository.of(client(server, timeout=0.2), "acme/shop")
    server.fail("GET", "shop$", seconds=0.5, times=2)
    with pytest.raises(Unavailable, match="ReadTimeout"):
        where.describe()
    server.fail("POST", "/issues$", seconds=0.5, stored=True)
    with pytest.raises(AnswerLost, match="ReadTimeout"):
        create(where)


def refused(server, kind):
    with pytest.raises(kind) as error:
        create(Repository.of(client(server), "acme/shop"))
    assert server.token not in f"{error.value!s}{error.value!r}"
    assert error.value.__cause__ is None
    return str(error.value)


def test_refusals_are_told_apart(server):
    server.permissions["issues"] = "read"
    assert "POST /repos/acme/shop/issues: the token lacks the permission issues=write" in refused(
        server, Forbidden
    )
    sso = {"x-github-sso": "required; url=https://evil.example"}
    server.fail("POST", "/issues$", status=403, headers=sso, body=b"{}")
    assert "single sign-on" in (told := refused(server, Forbidden))
    assert "evil" not in told
    server.fail("POST", "/issues$", status=404, body=b'{"message": "Not Found"}')
    assert "GITHUB_REPO" in refused(server, Rejected)
    server.fail("POST", "/issues$", status=422, body=b'["\\u001b[31m"]')
    assert "with 422" in refused(server, Rejected)
    server.fail("POST", "/issues$", status=451, body=b"\xff\xfe")
    assert "451" in refused(server, GiveUp)
    server.fail("POST", "/issues$", status=422, body=b"{}")
    assert "with 422: status 422: run `nightwatch check`" in refused(server, Rejected)
    server.fail("POST", "/issues$", status=401)
    assert "GITHUB_TOKEN" in refused(server, StopTheNight)


# What GitHub says, in its own words, and what its user is told to do.
SAYINGS = TABLES["sayings"]


@pytest.mark.parametrize(("words", "todo"), SAYINGS)
def test_what_github_says_comes_with_what_to_do(words, todo):
    assert todo in advice(words)


def test_nobody_there_is_something_to_try_later():
    sign_in = GitHubSignIn(token=SecretStr("t"))
    nobody = GitHubClient(sign_in, "http://127.0.0.1:9", pause=MemoryClock().pass_by)
    where = Repository.of(nobody, "acme/shop")
    with pytest.raises(Unavailable, match="GITHUB_API_URL"):
        create(where)


def test_a_renamed_repository_is_followed_on_the_same_machine(server):
    server.moved_to = "acme/market"
    where = Repository.of(client(server), "acme/shop")
    assert where.describe().full_name == "acme/market"
    create(where)
    assert len(server.issues()) == 1


def test_a_redirected_write_is_not_sent_as_a_read(server):
    there = {"location": f"{server.url}/repos/acme/shop/issues"}
    server.fail("POST", "/issues$", status=301, headers=there, body=b"{}")
    with pytest.raises(Rejected, match="moved"):
        create(Repository.of(client(server), "acme/shop"))
    assert len(server.requests) == 1


@pytest.mark.parametrize("address", TABLES["test_addresses_that_no_token_may_be_sent_to"])
def test_addresses_that_no_token_may_be_sent_to(address):
    with pytest.raises(StopTheNight, match="GITHUB_API_URL"):
        checked_address(address)


def test_a_query_that_took_github_too_long_is_asked_again(server):
    said = b'{"errors": [{"message": "Something went wrong while executing your query."}]}'
    server.fail("POST", "/graphql", status=200, body=said)
    server.fail("POST", "/graphql", status=200, body=b'{"data": {"a": 1}}')
    assert client(server).query("query{a}", {}) == {"a": 1}
    server.fail("POST", "/graphql", status=200, body=said, times=2)
    with pytest.raises(TryLater, match=r"githubstatus\.com"):
        client(server).query("query{a}", {})


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"data": null, "errors": [{"message": "Not there", "type": "NOT_FOUND"}]}', GiveUp),
        (b'{"data": {"a": 1}, "errors": [{"message": "Part", "type": "FORBIDDEN"}]}', GiveUp),
        (b'{"errors": [{"message": "API rate limit", "type": "RATE_LIMITED"}]}', TryLater),
        (b"<html>", TryLater),
    ],
)
def test_errors_inside_an_answer_are_errors(server, body, kind):
    server.fail("POST", "/graphql", status=200, body=body, times=2)
    with pytest.raises(kind):
        client(server).query("query{a}", {"x": 1})
