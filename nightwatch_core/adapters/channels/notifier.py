"""Sends a night's digest to e-mail, Teams, Mattermost or a webhook: the Notifier port by Apprise.

Apprise says whether a channel took a message, not why it did not. A channel that did gets no second
one for that night; one that did not is tried again with the next night.
"""

import logging
import re
from collections.abc import Iterator
from hashlib import sha256

from apprise import Apprise, AppriseAsset, NotifyBase, NotifyFormat
from pydantic import SecretStr

from nightwatch_core.adapters.stores import traffic
from nightwatch_core.adapters.stores.database import Place, ask
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.options import listed
from nightwatch_core.models.report import RunReport
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.redaction import scrubbed
from nightwatch_core.privacy.scrubber import Scrub
from nightwatch_core.publish.blocks import BRIEF
from nightwatch_core.report.view import as_markdown, view
from nightwatch_core.text.escaping import title

SERVICE = "Notifications"
LONGEST = 3_500  # characters of a digest: Mattermost takes 4,000
PART = "digest"  # its name among messages that were sent
_FOLDED = re.compile(r"<details>.*?</details>\n*", re.DOTALL)  # no channel can fold it
CUT = "\n\n… the rest is in the report."


class DigestNotifier:
    """The team's channels; each is told of a night once."""

    def __init__(
        self, addresses: SecretStr, database: Place, clock: Clock, *, withhold: Scrub
    ) -> None:
        """Send nothing yet. Raises `GiveUp` where Apprise cannot read an address."""
        self._database, self._clock, self._withhold = database, clock, withhold
        self._channels = tuple(_channels(listed(addresses.get_secret_value())))

    def publish(self, report: RunReport) -> str:
        """Tell each channel not told yet; returns them. `TryLater`: one of them did not take it."""
        subject, text = digest_of(scrubbed(report, self._withhold))
        refused = []
        for channel in self._channels:
            name = _name(channel)
            if not self._is_told(report, name):
                traffic.MANIFEST.sent(SERVICE, "POST", _shown(channel), text.encode())
                try:
                    _tell(channel, subject, text)
                except TryLater:
                    refused.append(_shown(channel))
                else:
                    self._keep(report, name)
        if refused:
            raise TryLater(f"not told: {', '.join(refused)}; check NIGHTWATCH_NOTIFY_URLS")
        return ", ".join(map(_shown, self._channels))

    def probe(self) -> str:
        """Name the channels; none of them can be tried without a message."""
        return f"{', '.join(map(_shown, self._channels))} (first tried by a night)"

    def _is_told(self, report: RunReport, channel: str) -> bool:
        query = "SELECT ts FROM slack_messages WHERE night = ? AND channel = ? AND part = ?"
        return bool(ask(self._database, query, (report.night.id, channel, PART)))

    def _keep(self, report: RunReport, channel: str) -> None:
        ask(
            self._database,
            "INSERT INTO slack_messages (night, channel, part, digest, sent)"
            " VALUES (?, ?, ?, '', ?) ON CONFLICT (night, channel, part) DO NOTHING",
            (report.night.id, channel, PART, self._clock.now().timestamp()),
        )


def _tell(channel: NotifyBase, subject: str, text: str) -> None:
    with traffic.METER.request(SERVICE):
        one = Apprise(asset=channel.asset)
        one.add(channel)
        if not one.notify(text, title=subject, body_format=NotifyFormat.MARKDOWN):
            raise TryLater(f"{_shown(channel)} did not take a message")


def digest_of(report: RunReport) -> tuple[str, str]:
    """Return the title and the text, Markdown without a heading, of at most 3,500 characters."""
    shown = view(report, BRIEF)
    _, _, text = as_markdown(report, BRIEF).partition("\n")
    text = _FOLDED.sub("", text).strip()
    if len(text) > LONGEST:
        text = text[: LONGEST - len(CUT)].rpartition("\n")[0].rstrip() + CUT
    return title(f"NightWatch {shown.title}"), text


def _channels(addresses: tuple[str, ...]) -> Iterator[NotifyBase]:
    logging.getLogger("apprise").setLevel(logging.CRITICAL)  # its lines show addresses, with keys
    asset = AppriseAsset(app_id="NightWatch", app_desc="NightWatch", async_mode=False)
    for number, address in enumerate(addresses, start=1):
        channel = Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
        if channel is None:
            kind = address.partition("://")[0] if "://" in address else "no scheme"
            raise GiveUp(
                f"address {number} of NIGHTWATCH_NOTIFY_URLS ({kind[:20]}) is none that Apprise "
                "knows: see https://appriseit.com/services"
            )
        yield channel


def _name(channel: NotifyBase) -> str:
    return sha256(str(channel.url()).encode()).hexdigest()[:16]  # type: ignore[no-untyped-call]


def _shown(channel: NotifyBase) -> str:
    """Return the address without keys, query or path."""
    address = str(channel.url(privacy=True))  # type: ignore[no-untyped-call]
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.partition('/')[0].rpartition('@')[2].partition('?')[0]}"
