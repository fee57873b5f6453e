import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from github_world import as_app, issue, outbox_of
from pydantic import SecretStr
from services.github_app import pem
from twins.reading import MemoryClock

from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.code_host import GitHubClone
from nightwatch_core.adapters.github.sign_in import GitHubSignIn, checked_key
from nightwatch_core.adapters.hosts.writes import Forbidden
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater

WHOLE = {"metadata": "read", "contents": "write", "issues": "write", "pull_requests": "write"}
MINT = "POST /app/installations/678/access_tokens"


def client(server, **more):
    sign_in = as_app(**{k: str(more.pop(k)) for k in ("app_id", "installation_id") if k in more})
    fields = {"repository": server.repository, "pause": MemoryClock().pass_by, **more}
    return GitHubClient(sign_in, server.url, **fields)


def described(client):
    return Repository.of(client, "acme/shop").describe().full_name


def test_an_app_asks_for_a_token_of_one_repository_and_four_permissions(server):
    asking = client(server)
    assert [described(asking) for _ in range(3)] == ["acme/shop"] * 3
    assert server.calls() == ["GET /installation", MINT, "GET ", "GET ", "GET "]
    assert server.app.minted == [{"repositories": ["shop"], "permissions": WHOLE}]
    assert server.requests[2].headers["authorization"] == "token ghs_minted1"
    assert asking.token() == "ghs_minted1"
    assert asking.app.current().permissions == WHOLE


def test_an_installation_may_be_named(server):
    assert described(client(server, installation_id="678")) == "acme/shop"
    assert server.calls()[0] == "GET /app/installations/678"


def test_who_only_reads_holds_a_token_that_cannot_write(server):
    reading = client(server, read_only=True)
    where = Repository.of(reading, "acme/shop")
    with pytest.raises(GiveUp, match="reading only"):
        where.rest.issues.create(*where.at, title="x")
    described(reading)
    server.fail("POST", "/graphql", status=200, body=b'{"data": {"a": 1}}')
    assert reading.query("query{a}", {}) == {"a": 1}
    assert set(server.app.minted[0]["permissions"].values()) == {"read"}
    assert [call for call in server.writes() if call != MINT] == ["POST /graphql"]


def test_permissions_that_were_not_granted_are_not_asked_for(server):
    server.app.permissions = {"metadata": "read", "issues": "write"}
    asking = client(server)
    described(asking)
    assert asking.app.current().permissions == {"metadata": "read", "issues": "write"}
    where = Repository.of(asking, "acme/shop")
    with pytest.raises(Forbidden, match="contents=read"):
        where.find_ref("main")


def test_many_threads_ask_for_one_token(server):
    asking = client(server)
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: described(asking), range(16))) == {"acme/shop"}
    assert len(server.app.minted) == 1
    server.app.expire()
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: described(asking), range(16))) == {"acme/shop"}
    assert len(server.app.minted) == 2


def test_a_token_is_renewed_before_it_ends(server):
    server.app.life = 0
    asking = client(server)
    assert asking.token() != asking.token()
    server.app.life = 3600
    assert asking.token() == asking.token()
    assert len(server.app.minted) == 3


def test_a_write_that_met_an_ended_token_is_done_once(server):
    out = outbox_of(client(server))
    assert out.publish(issue("first")).status == "done"
    server.app.expire()
    assert out.publish(issue("second")).status == "done"
    assert len(server.issues()) == 2
    assert len(server.app.minted) == 2


def test_a_lost_answer_is_asked_for_again(server):
    server.fail("GET", "/installation$", status=502)
    server.fail("POST", "/access_tokens$", how="cut", stored=True)
    assert described(client(server)) == "acme/shop"
    server.fail("POST", "/access_tokens$", times=2)
    with pytest.raises(TryLater):
        described(client(server))


def spoilt(server, **more):
    with pytest.raises(StopTheNight) as error:
        described(client(server, **more))
    assert "BEGIN" not in str(error.value)
    assert error.value.__cause__ is None
    return str(error.value)


def test_what_is_wrong_with_an_app_is_told_apart(server):
    assert "GITHUB_APP_ID" in spoilt(server, app_id="999")
    assert "GITHUB_APP_INSTALLATION_ID" in spoilt(server, installation_id="9")
    assert "may not use acme/other" in spoilt(
        server, installation_id="678", repository="acme/other"
    )
    assert "owner/name" in spoilt(server, repository="")
    server.app.is_suspended = True
    assert "suspended" in spoilt(server)
    server.app.is_installed = False
    assert "not installed on acme/shop" in spoilt(server)
    server.fail("GET", "/installation$", status=200, body=b'{"id": "x"}')
    with pytest.raises(GiveUp, match="as documented"):
        described(client(server))


def test_another_apps_key_and_a_wrong_clock_are_refused(server):
    other = GitHubSignIn(app_id="12345", private_key=SecretStr(pem("another")))
    with pytest.raises(StopTheNight, match="could not be decoded.*GITHUB_APP_PRIVATE_KEY"):
        GitHubClient(other, server.url, repository="acme/shop").token()
    server.app.ahead = -3600
    assert "this machine's clock" in spoilt(server)


def test_a_clone_is_fetched_with_the_token_of_the_moment(server, tmp_path):
    asking = client(server)
    code = GitHubClone(asking, server.repository, tmp_path / "clones")
    code.reader(code.head())
    server.app.expire()
    described(asking)  # meets the ended token, and renews it
    assert code.reader(code.head()).read_file("old.rb") == "1\n"
    files = [path for path in (tmp_path / "clones").rglob("*") if path.is_file()]
    assert not [path for path in files if b"ghs_minted" in path.read_bytes()]


def loaded(text):
    key = serialization.load_pem_private_key(text.encode(), password=None)
    assert isinstance(key, RSAPrivateKey)
    return key


SPELLINGS = {
    "as it is": lambda text: text,
    "line ends in two characters": lambda text: text.replace("\n", "\\n"),
    "line ends of Windows in four": lambda text: text.replace("\n", "\\r\\n"),
    "one line": lambda text: text.replace("\n", " "),
    "in quotes": lambda text: json.dumps(text),
}


@pytest.mark.parametrize("how", list(SPELLINGS))
def test_keys_survive_the_ways_they_are_given(how):
    key = loaded(checked_key(SPELLINGS[how](pem())))
    assert key.private_numbers() == loaded(pem()).private_numbers()


SPOILT = {
    "nothing": (lambda: "x", "no PEM text"),
    "the public key": (lambda: pem().replace("PRIVATE", "PUBLIC"), "cannot be read"),
    "without its end": (lambda: pem()[:400], "no PEM text"),
}


@pytest.mark.parametrize("how", list(SPOILT))
def test_what_is_no_key_stops_the_night(how):
    given, said = SPOILT[how]
    with pytest.raises(StopTheNight, match=said):
        checked_key(given())


HALVES = (
    ({}, "set GITHUB_TOKEN, or GITHUB_APP_ID and"),
    ({"token": "ab cd"}, "GITHUB_TOKEN holds blanks"),
    ({"token": "t", "app_id": "1"}, "set GITHUB_APP_PRIVATE_KEY, too"),
    ({"private_key": "x"}, "set GITHUB_APP_ID, too"),
    ({"installation_id": "5", "token": "t"}, "set GITHUB_APP_ID, too"),
    ({"app_id": "1/2", "private_key": "x"}, "GITHUB_APP_ID is no App's number"),
    (
        {"app_id": "1", "private_key": "x", "installation_id": "acme"},
        "INSTALLATION_ID is no number",
    ),
)


@pytest.mark.parametrize("number", range(len(HALVES)))
def test_half_a_sign_in_says_what_is_missing(number):
    given, said = HALVES[number]
    with pytest.raises(StopTheNight, match=said):
        GitHubSignIn.model_validate(given).as_app()


def test_a_sign_in_shows_no_secret_and_prefers_the_app():
    both = GitHubSignIn(token=SecretStr("ghp_t"), app_id="1", private_key=SecretStr(pem()))
    assert both.as_app()
    assert "ghp_t" not in repr(both)
    assert "BEGIN" not in f"{both!r}{both.model_dump()!s}"
