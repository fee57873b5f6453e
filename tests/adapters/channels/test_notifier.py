"""A night's digest over real HTTP: a webhook and a Mattermost."""

import json
import re
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from core.report_fixture import complete, hostile, huge
from pydantic import SecretStr
from services.serving import Quiet, Served
from twins.reading import MemoryClock

from nightwatch_core.adapters.channels.notifier import LONGEST, DigestNotifier, digest_of
from nightwatch_core.adapters.stores.traffic import MANIFEST, METER
from nightwatch_core.errors import GiveUp, TryLater


class Channels(Served):
    """Takes what is posted; a path in `broken` answers 500."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, dict[str, str]]] = []
        self.broken: set[str] = set()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        channels = self

        class Handler(Quiet):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                is_taken = self.path not in channels.broken
                if is_taken:
                    channels.taken.append((self.path, json.loads(body)))
                self.send_response(200 if is_taken else 500)
                self.send_header("Content-Length", "0")
                self.end_headers()

        return Handler

    def paths(self) -> list[str]:
        return [path for path, _ in self.taken]


@pytest.fixture
def channels():
    with Channels() as served:
        yield served


def notifier(channels: Channels, folder: Path, more: str = "") -> DigestNotifier:
    place = channels.root.removeprefix("http://")
    addresses = f"json://someone:pw123456@{place}/hook, mmost://{place}/{'t' * 26}{more}"
    return DigestNotifier(
        SecretStr(addresses), folder / "nightwatch.db", MemoryClock(), withhold=str
    )


def test_every_channel_is_told_once(channels, tmp_path):
    told = notifier(channels, tmp_path)
    shown = told.publish(complete())
    assert channels.paths() == ["/hook", f"/hooks/{'t' * 26}"]
    (_, hook), (_, mattermost) = channels.taken
    title, text = digest_of(complete())
    assert (hook["title"], hook["message"]) == (title, text)
    assert title in mattermost["text"]
    assert "KeyError" in text
    notifier(channels, tmp_path).publish(complete())  # another process, or a Retry
    assert len(channels.taken) == 2
    assert not re.search(r"pw123456|t{26}", shown + told.probe())
    assert {item.service for item in MANIFEST.destinations()} >= {"Notifications"}


def test_a_channel_that_fails_is_tried_again_alone(channels, tmp_path):
    METER.reset()
    channels.broken.add("/hook")
    with pytest.raises(TryLater, match=r"not told: json://127\.0\.0\.1") as trouble:
        notifier(channels, tmp_path).publish(complete())
    assert "pw123456" not in str(trouble.value)
    assert METER.calls()["Notifications"].unanswered == 1
    assert channels.paths() == [f"/hooks/{'t' * 26}"]
    channels.broken.clear()
    notifier(channels, tmp_path).publish(complete())
    assert channels.paths() == [f"/hooks/{'t' * 26}", "/hook"]


def test_a_digest_fits_and_mentions_nobody(channels, tmp_path):
    assert len(digest_of(huge())[1]) <= LONGEST
    notifier(channels, tmp_path).publish(hostile("@channel @all @here <!channel>"))
    _, text = channels.taken[1]
    outside = re.sub(r"`[^`\n]*`", "", text["text"])  # code mentions nobody
    assert "@channel" in text["text"]
    assert not re.search(r"@(channel|all|here)", outside)


@pytest.mark.parametrize("address", ["telepathy://you", "no address", "msteams://a@b/c/d"])
def test_an_address_that_cannot_be_read_is_named_by_its_number(channels, tmp_path, address):
    with pytest.raises(GiveUp, match="address 3 of NIGHTWATCH_NOTIFY_URLS"):
        notifier(channels, tmp_path, f", {address}")
