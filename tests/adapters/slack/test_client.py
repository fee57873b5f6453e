"""Slack's SDK over our HTTP client: what it sends, by which way, and what it believes."""

import json
import logging
import os
import re
import select
import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

import pytest
from core.report_fixture import complete, empty
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pydantic import SecretStr
from services.slack import Slack
from slack_team import LINK, POST, Clock, a_team

from nightwatch_core.adapters.slack.client import BOUNDS, SlackCalls
from nightwatch_core.adapters.stores import traffic
from nightwatch_core.adapters.stores.traffic import MANIFEST
from nightwatch_core.errors import GiveUp, MayHaveArrived, TryLater
from nightwatch_core.journal.reader import NightJournal, read_file
from nightwatch_core.journal.requests import body_of, sent_requests
from nightwatch_core.journal.writer import Journal

TOKEN = SecretStr("xoxb-stand-in")


@pytest.fixture
def team(tmp_path):
    with a_team(tmp_path / "state") as team:
        yield team


def calls(address, **settings):
    clock = Clock()
    return SlackCalls(TOKEN, address, clock, clock.sleep, 5, **settings)


# -- what is sent


def in_a_journal():
    """What is sent from now on, when it is asked for: requests and their bodies."""
    lines: list[str] = []
    MANIFEST.begin(Journal(lines.extend).add, str)

    def listed():
        journal = NightJournal((read_file(lines),))
        requests = sent_requests(journal)
        return requests, [body_of(journal, request) for request in requests]

    return listed


def test_every_request_is_listed_before_it_is_sent_without_the_token(team):
    listed = in_a_journal()
    team.slack.fail(POST, "429")
    team.tell(empty())

    sent, bodies = listed()
    assert [line.to for line in sent] == [f"{team.slack.url}{m}" for m in (POST, POST, LINK)]
    assert {(line.service, line.method) for line in sent} == {("Slack", "POST")}
    assert bodies == team.slack.received
    assert TOKEN.get_secret_value() not in f"{sent}"
    assert TOKEN.get_secret_value().encode() not in b"".join(team.slack.received)


def test_a_request_that_cannot_be_sent_is_listed_too():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    listed = in_a_journal()
    with pytest.raises(TryLater, match="Slack cannot be reached: ConnectError"):
        calls(f"http://127.0.0.1:{port}/api/").posts.chat_postMessage(channel="C0NIGHTS", text="a")
    (line,), _ = listed()
    assert line.to.endswith(f":{port}/api/{POST}")


def test_the_library_holds_no_token_and_logs_no_text(team, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    slack = calls(team.slack.url)
    assert slack.posts.token is slack.reads.token is None
    assert TOKEN.get_secret_value() not in str(vars(slack.posts)) + repr(slack.posts)
    for failure in ("", "502", "html", "invalid_blocks"):
        if failure:
            team.slack.fail(POST, failure)
            team.slack.fail(LINK, "html", times=2)
        night = complete().night.model_copy(update={"id": f"night-{failure}"})
        with suppress(TryLater):
            team.tell(complete(night=night))
    assert len(team.slack.requests) > 9
    logged = caplog.text + "".join(capfd.readouterr())
    shown = {team.slack.posted[0].text.splitlines()[1], "tidepool-bookings", "hotel's network"}
    assert not [text for text in (*shown, TOKEN.get_secret_value()) if text in logged]
    assert not [r.name for r in caplog.records if r.name.startswith("slack")]


@pytest.mark.parametrize("address", ["slack.example/api", "ftp://x/", "http://slack.example/", "/"])
def test_what_is_no_private_address_is_sent_nothing(address):
    listed = in_a_journal()
    with pytest.raises(GiveUp, match="SLACK_API_URL has to begin with https://"):
        calls(address).posts.chat_postMessage(channel="C0NIGHTS", text="a")
    assert listed() == ((), [])


# -- by which way


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Files of a certificate for localhost, signed by itself, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    private = (
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "key.pem").write_bytes(key.private_bytes(*private))
    (folder / "certificate.pem").write_bytes(built.public_bytes(serialization.Encoding.PEM))
    return folder / "certificate.pem", folder / "key.pem"


@contextmanager
def encrypted(certificate):
    """A workspace that is reached by TLS only; yields it and its address."""
    with Slack() as slack:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        slack._server.socket = context.wrap_socket(slack._server.socket, server_side=True)
        yield slack, slack.url.replace("http://127.0.0.1", "https://localhost")


@contextmanager
def proxy():
    """A proxy that passes bytes on; yields its address and the hosts that were asked for."""
    asked = []

    def serve(client):
        with client:
            head = client.recv(65_536).decode()
            asked.append(head.split()[1])
            host, _, port = asked[-1].rpartition(":")
            with socket.create_connection((host, int(port)), 5) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                ends = {client: server, server: client}
                while True:
                    for end in select.select([*ends], [], [], 5)[0] or [None]:
                        data = end.recv(65_536) if end else b""
                        if not data:
                            return
                        ends[end].sendall(data)

    def accept():
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def environment(monkeypatch):
    """Sets variables of the environment, without any about proxies and certificates before."""
    for name in [n for n in os.environ if re.search(r"(?i)_proxy$|^ssl_cert", n)]:
        monkeypatch.delenv(name)

    def given(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, str(value))
        traffic.certificates.cache_clear()

    yield given
    monkeypatch.undo()
    traffic.certificates.cache_clear()


def test_only_trusted_certificates_are_spoken_to(certificate, environment):
    environment()
    with encrypted(certificate) as (slack, address):
        with pytest.raises(TryLater, match="Slack cannot be reached: ConnectError"):
            calls(address).reads.auth_test()
        assert slack.requests == []
        environment(SSL_CERT_FILE=certificate[0])
        assert calls(address).reads.auth_test().get("team") == "Tidepool"


@pytest.mark.parametrize("direct", ["", "localhost", "example.org,localhost"])
def test_what_is_encrypted_goes_through_the_proxy_unless_it_is_excepted(
    certificate, environment, direct
):
    with encrypted(certificate) as (slack, address), proxy() as (way, asked):
        environment(SSL_CERT_FILE=certificate[0], HTTPS_PROXY=way, NO_PROXY=direct)
        calls(address).posts.chat_postMessage(channel="C0NIGHTS", text="a")
        assert len(slack.posted) == 1
        assert asked == ([] if direct else [address.split("/")[2]])


def test_what_is_not_encrypted_goes_through_no_proxy(team, environment):
    with proxy() as (way, asked):
        environment(HTTP_PROXY=way, http_proxy=way, HTTPS_PROXY=way)
        calls(team.slack.url).posts.chat_postMessage(channel="C0NIGHTS", text="a")
    assert len(team.slack.posted) == 1
    assert asked == []


# -- what is believed


@contextmanager
def raw(*pieces, pause=0.0):
    """A server that answers whatever it is asked with the same bytes."""
    over = threading.Event()

    def serve():
        while not over.is_set():
            try:
                client, _ = listener.accept()
                with client:
                    client.recv(65_536)
                    for piece in pieces:
                        client.sendall(piece)
                        over.wait(pause)
            except OSError:
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/api/"
        over.set()
        listener.shutdown(socket.SHUT_RDWR)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


@pytest.mark.parametrize(
    "pieces", [(HEAD + b"\r\n{", *[b" "] * 99), (HEAD, *[b"x-a: b\r\n"] * 99)], ids=["body", "head"]
)
def test_an_answer_that_drips_ends_at_the_deadline(pieces):
    bounds = BOUNDS._replace(seconds=0.3)
    with (
        raw(*pieces, pause=0.05) as address,
        pytest.raises(MayHaveArrived, match="Slack's answer came too slowly"),
    ):
        calls(address, bounds=bounds).posts.chat_postMessage(channel="C0NIGHTS", text="a")


@pytest.mark.parametrize("size", [4 * 1024 * 1024, 4 * 1024 * 1024 + 1])
def test_an_answer_has_four_mebibytes_at_most(size):
    body = b'{"ok": true, "team": "' + b"a" * (size - 24) + b'"}'
    with raw(HEAD + b"content-length: %d\r\n\r\n" % size, body) as address:
        if size == 4 * 1024 * 1024:
            assert len(calls(address).reads.auth_test().get("team")) == size - 24
            return
        with pytest.raises(MayHaveArrived, match="more than 4,194,304 bytes"):
            calls(address).reads.auth_test()


@pytest.mark.parametrize(
    "body", ["", "null", "[]", '"ok"', "true", "7", "[{}]", " ", "{", '{"ok": true', "<html>"]
)
def test_what_is_no_object_is_no_answer(team, body):
    team.slack.fail("auth.test", "200", value=body or "\n")
    with pytest.raises(MayHaveArrived, match="Slack answered HTTP 200"):
        calls(team.slack.url).reads.auth_test()


def test_messages_are_sent_as_json_and_the_rest_as_forms(team):
    """As the SDK decides it; Slack reads JSON in some methods only."""
    slack = calls(team.slack.url)
    posted = slack.posts.chat_postMessage(
        channel="C0NIGHTS", text="é", blocks=[], unfurl_links=False, thread_ts=None
    )
    slack.reads.conversations_history(channel="C0NIGHTS", include_all_metadata=True, limit=2)
    written, read = team.slack.received
    assert json.loads(written) == {
        "channel": "C0NIGHTS",
        "text": "é",
        "blocks": [],
        "unfurl_links": False,
    }
    assert read == b"channel=C0NIGHTS&include_all_metadata=1&limit=2"
    assert posted.get("channel") == "C0NIGHTS"
