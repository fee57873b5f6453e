"""The four stand-ins as one world needs them: today's date, and a bell at every write.

`Bell` hears of each effect when the service has stored it and nobody was told yet.
"""

import json
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from services.github import Answer, GitHub
from services.slack import Slack

READS = ("GET", "HEAD")
OBJECTS = ("POST /git/trees", "POST /git/commits")  # named by what they are: two are one


class Effect(NamedTuple):
    """Something that people see, or a part of it."""

    service: str
    what: str


class Bell:
    """Every effect in order; `heard` is called with each, before its answer is given."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.heard: Callable[[Effect], None] = lambda effect: None
        self._lock = threading.Lock()

    def ring(self, service: str, what: str) -> None:
        effect = Effect(service, what)
        with self._lock:
            if what in OBJECTS and effect in self.effects:
                return
            self.effects.append(effect)
            self.heard(effect)


class TodaysGitHub(GitHub):
    """A GitHub whose clock is right, or `app.ahead` seconds ahead, with merged pull requests."""

    def __init__(self, folder: Path, bell: Bell, **more: Any) -> None:
        super().__init__(folder, **more)
        self._bell = bell

    def _now(self) -> str:
        return moment(datetime.now(UTC) + timedelta(seconds=self.app.ahead))

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        answer = super().answer(method, target, headers, body)
        path = urlsplit(target).path
        if method not in READS and path != "/graphql" and answer.status < 300:
            self._bell.ring("github", f"{method} {path.removeprefix(f'/repos/{self.repository}')}")
        return answer

    def add_merged(self, number: int, title: str, sha: str, at: datetime, files: list[str]) -> None:
        said = moment(at)
        self.add_item(
            title, "", number=number, state="closed", merged_at=said, closed_at=said,
            created_at=said, updated_at=said, base="main", base_sha=sha, head=f"pull-{number}",
            head_sha=sha, files=files, draft=False,
        )  # fmt: skip

    def merge(self, number: int) -> None:
        """What the button does."""
        pull = self.items[number]
        self.git.run("update-ref", f"refs/heads/{pull['base']}", pull["head_sha"])
        self.close(number, merged_at=self._now())

    def close(self, number: int, **more: Any) -> None:
        self.items[number].update(state="closed", closed_at=self._now(), **more)
        self._touch(self.items[number])

    def text(self, branch: str, path: str) -> str:
        """A file on a branch."""
        return self.git.run("show", f"refs/heads/{branch}:{path}") + "\n"

    def changed(self, base: str, branch: str) -> list[str]:
        """Paths by which a branch differs from its base."""
        told = self.git.run("diff", "--name-only", f"refs/heads/{base}", f"refs/heads/{branch}")
        return told.split("\n") if told else []

    def branches(self) -> list[str]:
        return sorted(item.removeprefix("refs/heads/") for item in self.git.refs("refs/heads/"))


class HeardSlack(Slack):
    """A Slack whose new messages ring the bell; editing one twice does no harm."""

    def __init__(self, bell: Bell, **more: Any) -> None:
        super().__init__(**more)
        self._bell = bell

    def _answer(
        self, method: str, kind: str, arguments: dict[str, Any], token: str
    ) -> dict[str, Any]:
        answer = super()._answer(method, kind, arguments, token)
        if answer["ok"] and method == "chat.postMessage":
            payload = (arguments.get("metadata") or {}).get("event_payload", {})
            self._bell.ring("slack", f"{method} {payload.get('part', '')}")
        return answer

    def parts(self) -> list[tuple[str, str]]:
        """Night and part of every message that people see."""
        payloads = [json.loads(json.dumps(m.metadata))["event_payload"] for m in self.shown()]
        return [(item["night"], item["part"]) for item in payloads]


def moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
