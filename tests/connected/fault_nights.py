"""Whole nights in which one service breaks at one call: many of them in one process.

    export PREFECT_API_URL=…                                    # of a server that is running
    python tests/connected/fault_nights.py --part 0/2            # one JSON line a cell
    python tests/connected/fault_nights.py --only "github · 502" --verbose

A clean night is run first, which tells how many calls each service hears and what the verdicts are.
Nothing is waited for: pauses only count, silences are short, steps are tried again at once.
"""

import argparse
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from connected import shop
from connected.fault_cells import SERVICES, Cell, every_cell, in_pairs
from connected.fault_checks import Clean, verdicts, wrong, wrong_after
from connected.world import Night, World
from prefect.settings import (
    PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
    PREFECT_RESULTS_LOCAL_STORAGE_PATH,
    temporary_settings,
)
from services.faults import Elsewhere, FaultyService

from flows.commands.night import run_and_show
from nightwatch_core.adapters.stores.traffic import METER
from nightwatch_core.models.report import RunReport
from nightwatch_core.text.markers import read_marker
from tasks import runner as policies
from tasks.wiring.local import pace

policies.PATIENTLY["retry_delay_seconds"] = [0.0, 0.0, 0.0]  # before any task is made of it
ERRORS = (shop.BROKEN_BASKET, shop.NO_RATE)
NOW = datetime.now(UTC)  # one history, whenever a cell is run: commits have the same names
pace.pause, pace.silence = (lambda seconds: None), 1.5
QUIET = {PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}  # ending a run waits for them


class FaultyWorld(World):
    """The world, each service behind a proxy; nights are run in this process."""

    def __enter__(self) -> "FaultyWorld":
        self.now = NOW
        super().__enter__()
        self._stack = ExitStack()
        self.elsewhere = self._stack.enter_context(Elsewhere())
        stands_for = {name: getattr(self, name).url for name in SERVICES}
        self.proxies = {
            name: self._stack.enter_context(FaultyService(name, url, self.elsewhere.root))
            for name, url in stands_for.items()
        }
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        super().__exit__()

    def environment(self) -> dict[str, str]:
        at = {name: proxy.url for name, proxy in self.proxies.items()}
        return super().environment() | {
            "NEW_RELIC_API_URL": at["newrelic"],
            "GITHUB_API_URL": at["github"],
            "SLACK_API_URL": at["slack"],
            "ANTHROPIC_BASE_URL": at["claude"],
            "PREFECT_HOME": os.environ.get("PREFECT_HOME", ""),
            "COLUMNS": "200",
        }

    def here(self) -> Night:
        """One night in this process."""
        from flows.nightly import nightly  # its tasks are made now

        said, code = io.StringIO(), -1
        results = {PREFECT_RESULTS_LOCAL_STORAGE_PATH: self.state / "results"}
        with (
            _environment(self.environment()),
            temporary_settings(QUIET | results),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            try:
                run_and_show(lambda: nightly, {}, verbose=False)
            except SystemExit as end:
                code = int(end.code or 0)
            except Exception:  # noqa: BLE001 - it is what is looked for
                traceback.print_exc()
        return Night(code, said.getvalue(), self._report())

    def held(self) -> dict[str, int]:
        """Our issues and drafts at GitHub: number by key."""
        marked = ((read_marker(item["body"]), item) for item in self.github.items.values())
        return {marker.key: one["number"] for marker, one in marked if marker}

    def waited(self) -> tuple[float, ...]:
        """Seconds of pauses of the last night, by service."""
        return tuple(call.waited for call in METER.calls().values())


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(values)
    time.tzset()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        time.tzset()


@dataclass
class Outcome:
    """What came of a cell: with nothing `wrong` it is good."""

    name: str
    code: int
    met: int  # calls that were broken
    waited: float  # seconds of pauses that nobody made
    wrong: list[str]
    degraded: list[str] = field(default_factory=list)
    seconds: float = 0.0
    output: str = ""


def clean_night(folder: Path, prefect: str) -> Clean:
    """A night in which nothing breaks."""
    with FaultyWorld(folder, ERRORS, prefect) as world:
        night = world.here()
        assert night.code == 0, night.output
        calls = {name: proxy.calls for name, proxy in world.proxies.items()}
        report = RunReport.model_validate(night.report)
        return Clean(calls, verdicts(report), frozenset(world.held()))


def run(cell: Cell, known: Clean, folder: Path, prefect: str) -> Outcome:
    """A night in which the cell's call breaks, and where anything is left to do a healthy one."""
    began = time.monotonic()
    with FaultyWorld(folder, ERRORS, prefect) as world:
        proxy = world.proxies[cell.service]
        proxy.fault = cell.fault(known.calls)
        night = world.here()
        found = list(wrong(cell, known, world, night))
        outcome = Outcome(cell.name, night.code, proxy.met, sum(world.waited()), found)
        outcome.degraded, outcome.output = list(night.report.get("degraded", ())), night.output
        if night.code or cell.kind == "502 stored":
            for each in world.proxies.values():
                each.heal()
            after = world.here()
            found += (f"night after: {item}" for item in wrong_after(known, world, night, after))
            outcome.output += f"\n=== the night after ===\n{after.output}"
    outcome.seconds = round(time.monotonic() - began, 1)
    return outcome


def main(arguments: Sequence[str]) -> int:
    """Run a part of the cells; prints one JSON object a cell, and what was said where it failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", default="0/1", help="which part of how many")
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--pairs", action="store_true", help="the choice that is run every time")
    parser.add_argument("--verbose", action="store_true", help="say what the nights said")
    given = parser.parse_args(arguments)
    part, parts = map(int, given.part.split("/"))
    cells = in_pairs() if given.pairs else every_cell()
    wanted = [cell for cell in cells if re.search(given.only, cell.name)][part::parts]
    prefect, bad = os.environ["PREFECT_API_URL"], 0
    with tempfile.TemporaryDirectory() as folder:
        known = clean_night(Path(folder) / "clean", prefect)
        for number, cell in enumerate(wanted):
            outcome = asdict(run(cell, known, Path(folder) / str(number), prefect))
            output = outcome.pop("output")
            if outcome["wrong"] or given.verbose:
                outcome["output"] = output
            bad += bool(outcome["wrong"])
            print(json.dumps(outcome, ensure_ascii=False), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
