"""A Slack workspace and a notifier that tells it of nights."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.report_fixture import analysis, complete
from pydantic import SecretStr
from services.slack import Slack

from nightwatch_core.adapters.slack.notifier import SlackNotifier
from nightwatch_core.models.report import RunReport

LINK = "chat.getPermalink"
POST, UPDATE = "chat.postMessage", "chat.update"
HISTORY, REPLIES = "conversations.history", "conversations.replies"


@dataclass
class Clock:
    """Real dates, and seconds that pass only while someone sleeps."""

    seconds: float = 0.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        self.slept.append(seconds)


@dataclass
class Team:
    """A workspace, and where the state is kept."""

    slack: Slack
    clock: Clock
    database: Path

    def notifier(self, target: str = "C0NIGHTS", **changes: Any) -> SlackNotifier:
        given: dict[str, Any] = {"api_url": self.slack.url, "sleep": self.clock.sleep, "timeout": 5}
        token = SecretStr(changes.pop("token", self.slack.token))
        return SlackNotifier(token, target, self.database, self.clock, **given | changes)

    def tell(self, report: RunReport | None = None, target: str = "C0NIGHTS") -> str:
        return self.notifier(target).publish(report or complete())

    def methods(self) -> list[str]:
        return [each.method for each in self.slack.requests]

    def parts(self) -> list[str]:
        posted = (each.metadata for each in self.slack.posted if each.metadata)
        return [each["event_payload"]["part"] for each in posted]


@contextmanager
def a_team(state: Path) -> Iterator[Team]:
    with Slack() as slack:
        yield Team(slack, Clock(), state / "nightwatch.db")


def errors(count: int) -> RunReport:
    return complete(analyses=tuple(analysis(number) for number in range(1, count + 1)))
