"""`python -m tests.benchmarks.fifty`: compare a night of fifty errors with its critical path.

A night in a process of its own, on a checkout, with a model that answers every turn after 200 ms.
Measured from outside: the processor's time and the peak memory of that process (git's included,
Prefect's server apart), and at the model the time from its first request to its last answer. No
night can be faster than latency x turns x rounds, a round being as many errors as are analysed side
by side; siblings wait for their leaders, so the rounds of both waves are added.

`--runners threads dask-2 dask-4 ray` compares where the work is done: on a Dask cluster of so many
processes its workers' time is counted too, and the memory is that of the largest process.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/, as pytest has it

from bundles.golden_bundles import clean_environment  # noqa: E402
from connected.prefect_server import prefect_server  # noqa: E402
from git_repositories import Change, repository  # noqa: E402
from services import anthropic_mind  # noqa: E402
from services.anthropic import Anthropic  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
AIM = 1.3  # of the time of analyses over the critical path
LATENCY = 0.2  # seconds from a request to its answer
TURNS = 3  # read twice, search, answer
CLASSES = ("NoMethodError", "KeyError", "TypeError", "ZeroDivisionError", "ArgumentError")
FAMILIES = 2  # files in which all classes fail: a leader and its siblings
FLAGS = (
    *("--model", "claude-opus-5-5", "--delivery", "local", "--notify", "local"),
    *("--total-token-budget", "100000000", "--cost-per-night", "0"),  # all are analysed
)


# The application: a class a file, and errors that say where it fails.


def letters(unit: int) -> str:
    """Return three letters: numbers would be taken for ids, and such errors for one."""
    return "".join(chr(ord("a") + unit // 26**place % 26) for place in (2, 1, 0))


def source(unit: int) -> tuple[str, int]:
    """Return a file of 2 to 30 KB, and the line that fails in it."""
    rows = [f"class Unit{letters(unit).upper()}"]
    for number in range(20 + 15 * (unit % 20)):
        rows += [f"  def step_{number}(given)", f"    given.fetch({number}) + {unit}", "  end", ""]
    line = len(rows) // 2 // 4 * 4 + 3  # a body in the middle
    rows[line - 1] = f"    given.rate_{letters(unit)}.round"
    return "\n".join([*rows, "end", ""]), line


def application(folder: Path, units: int) -> Path:
    files = {f"app/models/unit_{letters(unit)}.rb": source(unit)[0] for unit in range(units)}
    return repository(folder, Change("The application", files))


def records(errors: int) -> Iterator[dict[str, Any]]:
    """Yield every class in the first files, then one class a file."""
    places = [(unit, name) for unit in range(FAMILIES) for name in CLASSES]
    places += [(unit, CLASSES[unit % len(CLASSES)]) for unit in range(FAMILIES, errors)]
    for number, (unit, name) in enumerate(places[:errors]):
        _, line = source(unit)
        yield {
            "timestamp": f"2026-11-20T0{number % 8}:{number % 60:02}:00Z",
            "error.class": name,
            "error.message": f"rate_{letters(unit)} is missing",
            "transaction": f"Controller/unit_{letters(unit)}/{name.lower()}",
            "service.name": "shop",
            "backtrace": [f"app/models/unit_{letters(unit)}.rb:{line}:in 'step_{line // 4}'"],
        }


# The model.


class Turn(NamedTuple):
    """One request."""

    error: str  # its first message
    is_sibling: bool
    received: float  # seconds by the clock


class Slow(Anthropic):
    """Every answer begins `LATENCY` after its request, however long thinking of it took."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.turns: list[Turn] = []

    def message(self, body: Any, headers: Any, stop: str = "") -> Any:
        received = time.monotonic()
        message = super().message(body, headers, stop)
        content = body["messages"][0]["content"]
        first = content if isinstance(content, str) else content[0]["text"]
        self.turns.append(Turn(first, "## Found earlier tonight" in first, received))
        time.sleep(max(received + LATENCY - time.monotonic(), 0.0))
        return message


def mind(
    body: Any, reads: int, fixes: Mapping[str, str], number: int
) -> tuple[list[dict[str, Any]], str]:
    """Read the failing file twice, search, and quote the failing line."""
    contents = [message["content"] for message in body["messages"]]
    blocks = [block for content in contents if not isinstance(content, str) for block in content]
    if sum(block["type"] == "tool_use" for block in blocks) == 2:
        call = {"type": "tool_use", "id": f"toolu_{number:04}", "name": "search_code"}
        return [{**call, "input": {"query": "rate_"}}], "tool_use"
    found: tuple[list[dict[str, Any]], str] = anthropic_mind.turn(body, 2, fixes, number)
    return found


# The night.


class Measured(NamedTuple):
    """A night, in seconds and MiB."""

    concurrency: int
    turns: list[Turn]
    processor: float
    memory: float
    whole: float

    @property
    def errors(self) -> int:
        return len({turn.error for turn in self.turns})

    @property
    def analysing(self) -> float:
        times = [turn.received for turn in self.turns]
        return max(times) + LATENCY - min(times)

    @property
    def path(self) -> float:
        """Return the critical path: no night is faster."""
        waves = [{t.error for t in self.turns if t.is_sibling is wave} for wave in (False, True)]
        rounds = sum(math.ceil(len(errors) / self.concurrency) for errors in waves)
        return LATENCY * len(self.turns) / self.errors * rounds


@contextmanager
def cluster(runner: str, concurrency: int, environment: Mapping[str, str]) -> Iterator[str]:
    """Start the processes of a Dask cluster; yields the setting of a night that runs there."""
    kind, _, processes = runner.partition("-")
    if not processes:
        yield kind
        return
    from distributed import LocalCluster

    threads = math.ceil(concurrency / int(processes))
    with LocalCluster(
        n_workers=int(processes), threads_per_worker=threads, dashboard_address=None,
        env=dict(environment),
    ) as started:  # fmt: skip
        yield f"{kind}={started.scheduler_address}"


def measured(
    folder: Path, prefect: str, errors: int, concurrency: int, runner: str = "threads"
) -> Measured:
    """Run one night; raises SystemExit where it did not do what is measured."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    checkout, exported = application(folder / "shop", errors), folder / "errors.jsonl"
    exported.write_text("".join(f"{json.dumps(record)}\n" for record in records(errors)))
    with Slow(mind=mind) as claude, (folder / "night.log").open("wb") as log:
        command = [sys.executable, str(ROOT / "flows/nightly.py"), "--errors", str(exported)]
        command += ["--repo", str(checkout), *FLAGS, "--max-errors", str(errors)]
        service = {"ANTHROPIC_API_KEY": claude.key, "ANTHROPIC_BASE_URL": claude.url}
        environment = {**clean_environment(folder), **service, "PREFECT_API_URL": prefect}
        with cluster(runner, concurrency, environment) as setting:
            begun = time.monotonic()
            process = subprocess.run(
                [*command, "--concurrency", str(concurrency)],
                env={**environment, "NIGHTWATCH_TASK_RUNNER": setting},
                cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
            whole = time.monotonic() - begun
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    memory = used.ru_maxrss / 1024  # Linux counts KiB; of the largest process so far
    night = Measured(concurrency, claude.turns, processor, memory, whole)
    if process.returncode or (night.errors, len(night.turns)) != (errors, errors * TURNS):
        output = (folder / "night.log").read_text(errors="replace")
        asked = f"{night.errors} errors, {len(night.turns)} turns"
        raise SystemExit(f"exit code {process.returncode}, {asked}:\n{output}")
    return night


def main() -> int:
    """Print the table; nothing is asserted about time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", type=int, default=50)
    parser.add_argument("--side-by-side", type=int, nargs="+", default=[4, 8])
    parser.add_argument("--runners", nargs="+", default=["threads"])
    asked = parser.parse_args()
    busy = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"Model latency {LATENCY * 1000:.0f} ms; {busy}; the aim is a ratio of {AIM}.\n")
    print("| runner | side by side | errors | turns | CPU | peak memory | whole night | analysis "
          "| critical path | ratio |\n|" + " ---: |" * 10)  # fmt: skip
    with tempfile.TemporaryDirectory() as name, prefect_server(Path(name) / "server") as prefect:
        for runner, concurrency in product(asked.runners, asked.side_by_side):
            folder = Path(name) / f"{runner}-{concurrency}"
            folder.mkdir()
            night = measured(folder, prefect, asked.errors, concurrency, runner)
            print(
                f"| {runner} | {concurrency} | {night.errors} | {len(night.turns)} "
                f"| {night.processor:.1f} s | {night.memory:.0f} MiB | {night.whole:.1f} s "
                f"| {night.analysing:.1f} s | {night.path:.1f} s "
                f"| {night.analysing / night.path:.2f} |"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
