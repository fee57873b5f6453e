"""All four services at once, telling one story, and nights among them.

    with World(tmp_path) as world:
        night = world.night("--max-errors", "3")
        night.code, night.output, night.report       # what the night said
        world.bell.effects                           # what the services heard

`python flows/nightly.py` runs in a process of its own. With `prefect` its API is that server's;
without, every night starts one for itself, which takes some ten seconds.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from bundles.golden_bundles import clean_environment
from connected import mind, shop
from connected.standins import Bell, Effect, HeardSlack, TodaysGitHub
from connected.story import a_github, a_newrelic
from services import nerdgraph
from services.anthropic import Anthropic

from nightwatch_core.adapters.stores.journal_files import JournalFiles
from nightwatch_core.journal.reader import NightJournal
from nightwatch_core.text.markers import read_marker

ROOT = Path(__file__).resolve().parents[2]
MODEL = "claude-opus-5-5"
PATIENCE = 900.0  # seconds a night may take before it is given up
OFTEN = 0.002  # seconds between two looks
DELIVERED = 0.03  # seconds by which an answer over loopback has arrived


@dataclass(frozen=True)
class Night:
    """How a night ended."""

    code: int  # -9: killed
    output: str
    report: dict[str, Any]  # empty where none was kept

    @property
    def killed(self) -> bool:
        """Whether it did not come to its end."""
        return self.code == -signal.SIGKILL

    @property
    def told(self) -> str:
        """Everything the report says is wrong, and what a service refused to do."""
        receipts = self.report.get("receipts", ())
        refused = [
            receipt["reason"] for receipt in receipts if receipt["status"] in ("refused", "unknown")
        ]
        return "\n".join((*self.report.get("degraded", ()), *refused))


def about(report: dict[str, Any], error: shop.Failing) -> dict[str, Any]:
    """What a report says of an error."""
    found: dict[str, Any]
    (found,) = (
        analysis
        for analysis in report["analyses"]
        if analysis["case"]["leader"]["message"] == error.message
    )
    return found


class World:
    """The four services of one shop; the state folder is `folder / "state"`."""

    program: tuple[str, ...] = (str(ROOT / "flows/nightly.py"),)

    def __init__(
        self, folder: Path, errors: Iterable[shop.Failing] = shop.THREE, prefect: str = ""
    ) -> None:
        self.folder, self.errors, self.prefect = folder, tuple(errors), prefect
        self.state = folder / "state"
        self.now = datetime.now(UTC)
        self.bell = Bell()
        self.variables: dict[str, str] = {}  # of every night

    def __enter__(self) -> "World":
        with ExitStack() as stack:
            github = a_github(self.folder / "shop.git", self.bell, self.now)
            self.github: TodaysGitHub = stack.enter_context(github)
            self.head = self.github.git.refs()["refs/heads/main"]
            self.released = self.github.git.refs()[f"refs/tags/{shop.RELEASE}"]
            newrelic = a_newrelic(self.now, self.errors, self.released)
            self.newrelic = stack.enter_context(newrelic)
            self.slack: HeardSlack = stack.enter_context(HeardSlack(self.bell))
            self.claude = stack.enter_context(Anthropic(fixes=dict(shop.FIXED), mind=mind.turn))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    # Nights.

    def environment(self) -> dict[str, str]:
        """The variables of a night; nothing of whoever runs the tests."""
        ours = {
            "NEW_RELIC_API_KEY": nerdgraph.KEY,
            "NEW_RELIC_ACCOUNT_ID": str(nerdgraph.ACCOUNT),
            "NEW_RELIC_APP_NAME": shop.APPLICATION,
            "NEW_RELIC_API_URL": self.newrelic.url,
            "GITHUB_TOKEN": self.github.token,
            "GITHUB_REPO": self.github.repository,
            "GITHUB_API_URL": self.github.url,
            "SLACK_BOT_TOKEN": self.slack.token,
            "SLACK_CHANNEL": "C0NIGHTS",
            "SLACK_API_URL": self.slack.url,
            "ANTHROPIC_API_KEY": self.claude.key,
            "ANTHROPIC_BASE_URL": self.claude.url,
            "TZ": _noon(self.now),
        }
        return (
            clean_environment(self.folder)
            | ours
            | ({"PREFECT_API_URL": self.prefect} if self.prefect else {})
            | self.variables
        )

    def night(
        self,
        *flags: str,
        kill: Callable[[Effect], bool] | None = None,
        answered: bool = False,
        when: Callable[[], bool] | None = None,
        **variables: str,
    ) -> Night:
        """One night from its start to its end; `variables` win over the world's.

        Its process group is killed at the first effect that `kill` holds for, when the service has
        stored it: before the answer is given, or with `answered` right after. Or as soon as `when`
        holds, which is asked all the time.
        """
        with tempfile.TemporaryFile() as output:
            process = self._started(flags, variables, output)
            if kill:
                self.bell.heard = self._killer(process, kill, answered)
            try:
                while when and process.poll() is None and not when():
                    time.sleep(OFTEN)
                if when:
                    self._end(process)
                code = process.wait(PATIENCE)
            finally:
                self.bell.heard = lambda effect: None
                self._end(process)
            output.seek(0)
            said = output.read().decode(errors="replace")
        return Night(code, said, self._report())

    def _killer(
        self, process: subprocess.Popen[bytes], kill: Callable[[Effect], bool], answered: bool
    ) -> Callable[[Effect], None]:
        def heard(effect: Effect) -> None:
            if not kill(effect):
                return
            self.bell.heard = lambda effect: None
            if answered:
                threading.Timer(DELIVERED, self._end, (process,)).start()
            else:
                self._end(process)

        return heard

    def _started(
        self, flags: Iterable[str], variables: Mapping[str, str], output: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, *self.program, *flags],
            env={**self.environment(), **variables},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        if process.returncode is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return

    def _report(self) -> dict[str, Any]:
        """The report that was written last."""
        found = sorted(self.state.glob("nights/*/report.json"), key=lambda p: p.stat().st_mtime)
        return json.loads(found[-1].read_text(encoding="utf-8")) if found else {}

    def journal(self, night: str) -> NightJournal:
        """What was written down of a night."""
        return JournalFiles(self.state / "journal").read(night)

    # What the services hold, and what they heard.

    def published_twice(self) -> list[str]:
        """Keys of our issues and drafts, and parts of Slack's messages, that are there twice.

        One morning has one thread, whichever night it was begun in.
        """
        markers = (read_marker(item["body"]) for item in self.github.items.values())
        keys = [marker.key for marker in markers if marker]
        parts = [part for _, part in self.slack.parts()]
        return [name for name, count in Counter((*keys, *parts)).items() if count > 1]

    def forget_requests(self) -> None:
        """Count from here."""
        for service in (self.newrelic, self.github, self.claude, self.slack):
            service.requests.clear()
        self.bell.effects.clear()


def _noon(now: datetime) -> str:
    """A time zone in which it is about noon: no night of a test is cut by midnight."""
    ahead = 12 - now.hour  # of UTC; POSIX counts the other way round
    return f"<noon>{-ahead:+d}"
