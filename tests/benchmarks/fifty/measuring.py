"""One night from outside, and what its figures are."""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.fifty.failing import application, records
from benchmarks.fifty.slow_model import LATENCY, TURNS, Slow, Turn, mind
from services.anthropic import Anthropic

ROOT = Path(__file__).resolve().parents[3]
MODEL = "claude-opus-5-5"
OURS = ("NIGHTWATCH_", "NEW_RELIC_", "GITHUB_", "SLACK_", "ANTHROPIC_", "PREFECT_")


class Measured(NamedTuple):
    """A night, in seconds and MiB."""

    concurrency: int
    turns: list[Turn]
    user: float
    system: float
    memory: float
    whole: float

    @property
    def analysing(self) -> float:
        return self._last.answered.at - self.turns[0].heard.at

    @property
    def used(self) -> float:
        """Of the processor, while analysing."""
        return self._last.answered.used - self.turns[0].heard.used

    @property
    def _last(self) -> Turn:
        return max(self.turns, key=lambda turn: turn.answered.at)

    @property
    def rounds(self) -> int:
        """Of both waves."""
        waves = [{t.error for t in self.turns if t.is_sibling is wave} for wave in (False, True)]
        return sum(math.ceil(len(errors) / self.concurrency) for errors in waves)

    @property
    def path(self) -> float:
        """The critical path: no night is faster."""
        errors = {turn.error for turn in self.turns}
        return LATENCY * len(self.turns) / len(errors) * self.rounds

    @property
    def between(self) -> list[float]:
        """From an answer to the next request of the same error."""
        by_error: dict[str, list[Turn]] = {}
        for turn in self.turns:
            by_error.setdefault(turn.error, []).append(turn)
        talks = by_error.values()
        return [b.heard.at - a.answered.at for talk in talks for a, b in pairwise(talk)]

    @property
    def answers(self) -> float:
        """All that the model took for its answers."""
        return sum(turn.lasted for turn in self.turns)

    @property
    def ahead(self) -> float:
        """How long the first request was alone: others read from the cache what it writes."""
        return self.turns[1].heard.at - self.turns[0].heard.at


def measured(folder: Path, prefect: str, errors: int, concurrency: int) -> Measured:
    """One night from its start to its end; raises where it did not do what is measured."""
    checkout = application(folder / "shop", errors)
    exported = folder / "errors.jsonl"
    exported.write_text("".join(f"{json.dumps(one)}\n" for one in records(errors)))
    with Slow(mind=mind) as claude, (folder / "night.log").open("wb") as log:
        environment = _environment(folder, prefect, claude)
        command = [sys.executable, str(ROOT / "flows/nightly.py"), "--errors", str(exported)]
        command += ["--repo", str(checkout), *FLAGS, "--max-errors", str(errors)]
        begun = time.monotonic()
        process = subprocess.Popen(
            [*command, "--concurrency", str(concurrency)],
            env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        claude.bills.process = process.pid
        _, status, used = os.wait4(process.pid, 0)
        whole = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        turns = claude.turns
    _as_planned(process.returncode, folder, errors, turns)
    memory = used.ru_maxrss / 1024  # Linux counts KiB
    return Measured(concurrency, turns, used.ru_utime, used.ru_stime, memory, whole)


FLAGS = (
    *("--model", MODEL, "--delivery", "local", "--notify", "local"),
    *("--total-token-budget", "10000000", "--cost-per-night", "0"),  # all are analysed
)


def _environment(folder: Path, prefect: str, claude: Anthropic) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(OURS)},
        "ANTHROPIC_API_KEY": claude.key,
        "ANTHROPIC_BASE_URL": claude.url,
        "NIGHTWATCH_STATE": str(folder / "state"),
        "NIGHTWATCH_KNOWLEDGE_DIR": str(folder / "state" / "knowledge"),
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_API_URL": prefect,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }


def _as_planned(code: int, folder: Path, errors: int, turns: Sequence[Turn]) -> None:
    said = (folder / "night.log").read_text(errors="replace")
    if code != 0:
        raise SystemExit(f"the night ended with {code}:\n{said}")
    asked = len({turn.error for turn in turns}), len(turns)
    if asked != (errors, errors * TURNS):
        raise SystemExit(f"{asked[0]} errors took {asked[1]} turns, not {TURNS} each:\n{said}")
