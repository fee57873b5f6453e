"""Answers without an end, or that unpack to a thousandfold, over real HTTP."""

import threading
import time
import zlib
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pydantic import SecretStr

from nightwatch_core.adapters.claude.model import Calls
from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.rows import TagRow
from nightwatch_core.adapters.github.sign_in import GitHubSignIn
from nightwatch_core.adapters.new_relic.nerdgraph import NerdGraph
from nightwatch_core.adapters.slack.client import SlackCalls
from nightwatch_core.adapters.stores.traffic import VALUES, json_of
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater

_MIB = 1024 * 1024


class _Clock:
    def now(self):
        return datetime(2026, 11, 23, tzinfo=UTC)

    def monotonic(self):
        return 0.0


@contextmanager
def service(status, headers, pieces):
    """A service that answers everything with the same; yields its address and what was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            self.rfile.read(int(self.headers.get("content-length") or 0))
            asked.append((self.path, dict(self.headers)))
            self.send_response(status)
            for name, value in {**headers, "transfer-encoding": "chunked"}.items():
                self.send_header(name, value)
            self.end_headers()
            for piece in (*pieces(), b""):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))

        do_GET = do_POST = answer  # noqa: N815 - the library's names

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):
            """Who had enough has hung up."""

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def github(address):
    sign_in = GitHubSignIn(token=SecretStr("github_pat_x"))
    client = GitHubClient(sign_in, address, pause=lambda _: None)
    return Repository.of(client, "acme/shop").describe()


def new_relic(address):
    return NerdGraph("NRAK-X", f"{address}/graphql", pause=lambda _: None).ask("{a}")


def slack(address):
    calls = SlackCalls(SecretStr("xoxb-x"), f"{address}/api/", _Clock(), lambda _: None, 20)
    return calls.reads.auth_test()


def claude(address):
    return Calls(SecretStr("sk-ant-x"), "claude-x", address, attempts=1).features(
        time.monotonic() + 60
    )


SERVICES = (github, new_relic, slack, claude)


def endless():
    yield b"["
    for _ in range(64):
        yield b" " * _MIB


def packed():
    packer = zlib.compressobj(9, wbits=31)
    yield packer.compress(b"[" + b" " * (40 * _MIB)) + packer.flush()


@pytest.mark.parametrize("ask", SERVICES)
@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_without_an_end_is_left_with_a_sentence(ask, status):
    with service(status, {"content-type": "application/json"}, endless) as (address, asked):
        with pytest.raises((TryLater, GiveUp)):
            ask(address)
        assert len(asked) <= 2


@pytest.mark.parametrize("ask", SERVICES)
@pytest.mark.parametrize("packing", ["gzip", "gzip, gzip", "br"])
def test_what_unpacks_to_a_thousandfold_is_left_with_a_sentence(ask, packing):
    with (
        service(200, {"content-encoding": packing}, packed) as (address, _),
        pytest.raises(NightWatchError, match="large|more than|packed"),
    ):
        ask(address)


@pytest.mark.parametrize("ask", SERVICES)
@pytest.mark.parametrize("status", [200, 422])
@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"id":' + b"9" * 100_000 + b"}"])
def test_json_that_python_cannot_read_is_no_json(ask, status, body):
    headers = {"content-type": "application/json"}
    with (
        service(status, headers, lambda: iter([body])) as (address, _),
        pytest.raises(NightWatchError),
    ):
        ask(address)


@pytest.mark.parametrize("ask", SERVICES)
def test_a_redirect_to_another_machine_is_not_followed(ask):
    """The other machine is this one by another name."""
    with service(200, {}, lambda: iter([b"[]"])) as (other, stolen):
        there = other.replace("127.0.0.1", "localhost")
        with service(307, {"location": f"{there}/x"}, lambda: iter(())) as (address, asked):
            with pytest.raises(NightWatchError):
                ask(address)
            assert asked
        assert not stolen


def test_a_link_to_a_next_page_elsewhere_is_not_followed():
    with service(200, {}, lambda: iter([b"[]"])) as (other, stolen):
        link = {"link": f'<{other.replace("127.0.0.1", "127.0.0.2")}/x>; rel="next"'}
        page = [b'[{"name": "v1"}]']
        with service(200, link, lambda: iter(page)) as (address, asked):
            client = GitHubClient(GitHubSignIn(token=SecretStr("github_pat_x")), address)
            shop = Repository.of(client, "acme/shop")
            with pytest.raises(GiveUp, match="another machine"):
                list(shop.rows(TagRow, partial(client.rest.repos.list_tags, *shop.at)))
            assert len(asked) == 1
        assert not stolen


def test_json_of_too_many_values_is_not_read():
    with pytest.raises(ValueError, match="values"):
        json_of(b"[" + b"1," * (VALUES + 1) + b"1]")
