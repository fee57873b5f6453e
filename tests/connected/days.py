"""A world in which days pass between nights, and people deal with what the nights proposed.

with Days(tmp_path, (shop.BROKEN_BASKET,), prefect) as world:
    world.night()
    world.next_day(shop.BROKEN_BASKET)   # it fails on that day, too
    world.night()
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from connected import shop
from connected.standins import moment
from connected.story import fails
from connected.world import ROOT, World
from services import github_people

from nightwatch_core.memory.lesson_text import lesson_of
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.text.markers import read_marker

A_DAY = timedelta(days=1)
NOON = timedelta(hours=12)  # before a night


class Days(World):
    """A world that can be moved on by whole days."""

    ahead = timedelta()

    # What happens by day.

    def next_day(self, *errors: shop.Failing, traffic: int = 0, release: str = "") -> None:
        """A day passes, on which these fail, in the release that runs or in another one."""
        self.ahead += A_DAY
        self.now += A_DAY
        self.newrelic.now = self.now
        self.github.app.ahead = self.ahead.total_seconds()
        self.program = (str(ROOT / "tests/connected/later.py"), "--ahead", str(self.hours))
        for error in errors:
            fails(self.newrelic, error, **({"service.version": release} if release else {}))
        if traffic:
            self.newrelic.traffic(traffic, NOON)
        self.forget_requests()

    @property
    def hours(self) -> float:
        """Since the first day."""
        return self.ahead / timedelta(hours=1)

    def draft(self, error: shop.Failing, at: int = -1) -> dict[str, Any]:
        """A draft of ours about an error: the last one."""
        name = f"{error.error_class} in {error.transaction}"
        ours = [pull for pull in self.github.pulls() if read_marker(pull["body"])]
        found: dict[str, Any] = [item for item in ours if name in item["title"]][at]
        return found

    def issue(self, error: shop.Failing) -> dict[str, Any]:
        """Our issue about an error."""
        name, found = error.path.rsplit("/", 1)[1], self.github.issues()
        (issue,) = (item for item in found if name in item["title"])
        return issue

    def reject(self, error: shop.Failing, words: str) -> dict[str, Any]:
        """Close its draft with a review."""
        pull = self.draft(error)
        self.github.add_review(pull["number"], words)
        self.github.close(pull["number"])
        return pull

    def merge(self, error: shop.Failing, ago: timedelta = NOON) -> dict[str, Any]:
        """Squash and merge its draft, delete the branch, and close the issue."""
        pull, at = self.draft(error), moment(datetime.now(UTC) + self.ahead - ago)
        github_people.merge(self.github, pull["number"], "squash", at)
        self.github.close(self.issue(error)["number"], state_reason="completed")
        self.issue(error)["closed_at"] = at
        return pull

    def edit(self, error: shop.Failing, files: Mapping[str, str | None]) -> None:
        """Push a change of one's own onto its draft."""
        github_people.push(self.github, self.draft(error)["number"], files)

    def deploy(self, version: str, sha: str, ago: timedelta) -> None:
        """Tell New Relic that production runs this commit."""
        at = round((datetime.now(UTC) + self.ahead - ago).timestamp() * 1_000)
        deployed = {"version": version, "commit": sha, "timestamp": at}
        self.newrelic.deployments.append(deployed)

    # What a night left.

    def held(self) -> tuple[object, ...]:
        """Everything GitHub shows: when this is the same, nothing was published."""
        items = {
            number: (one["title"], one["state"], tuple(one["labels"]))
            for number, one in self.github.items.items()
        }
        return self.github.branches(), items, len(self.github.comments)

    def published_twice(self) -> list[str]:
        """As ever; every night has its own thread in Slack."""
        markers = (
            read_marker(item["body"])
            for item in (*self.github.items.values(), *self.github.comments)
        )
        names = (*(marker.key for marker in markers if marker), *map(str, self.slack.parts()))
        return [name for name, count in Counter(names).items() if count > 1]

    def lesson(self, error: shop.Failing) -> Lesson:
        """Its lesson, as its document has it."""
        (found,) = (item for item in self.lessons() if item.message == error.message)
        return found

    def lessons(self) -> tuple[Lesson, ...]:
        """All lessons."""
        files = ((self.state / "knowledge" / name, name) for name in sorted(self.documents()))
        return tuple(lesson_of(one.read_text(encoding="utf-8"), name) for one, name in files)

    def documents(self) -> dict[str, int]:
        """When each lesson's document was last written, by its file."""
        found = (self.state / "knowledge/errors").glob("*.md")
        return {f"errors/{item.name}": item.stat().st_mtime_ns for item in found}

    def scoreboard(self) -> dict[str, Any]:
        """What `nightwatch scoreboard --json` says."""
        command = [str(Path(sys.executable).parent / "nightwatch"), "scoreboard", "--json"]
        done = subprocess.run(
            command, env=self.environment(), cwd=self.folder, capture_output=True,
            text=True, check=True, timeout=120,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def opening(self, error: shop.Failing) -> str:
        """The first message of the analysis of an error, as the model received it."""
        return next(text for text in self._openings() if error.message in text)

    def _openings(self) -> Iterator[str]:
        for body in self.claude.bodies:
            if len(body["messages"]) == 1:
                content = body["messages"][0]["content"]
                texts = [content] if isinstance(content, str) else [b["text"] for b in content]
                yield "\n".join(texts)
