"""`python -m tests.benchmarks.fifty`: how near a night of fifty errors comes to its critical path.

A night in a process of its own, on a checkout, with a model that answers every turn after 200 ms.
Measured from outside: the processor's time and the peak memory of that process (git's included,
Prefect's server apart), and at the model the time from its first request to its last answer. No
night can be faster than latency x turns x rounds, a round being as many errors as are analysed side
by side; siblings wait for their leaders, so the rounds of both waves are added.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # tests/, as pytest has it

from benchmarks.fifty.measuring import Measured, measured  # noqa: E402
from benchmarks.fifty.slow_model import LATENCY  # noqa: E402
from connected.prefect_server import prefect_server  # noqa: E402

AIM = 1.3


def table(nights: Sequence[Measured]) -> str:
    """Markdown."""
    rows = [
        "| side by side | errors | turns | CPU user + system | peak memory | whole night "
        "| analysis | critical path | ratio |",
        "|" + " ---: |" * 9,
    ]
    rows += [
        f"| {one.concurrency} | {len({turn.error for turn in one.turns})} | {len(one.turns)} "
        f"| {one.user:.1f} + {one.system:.1f} s | {one.memory:.0f} MiB | {one.whole:.1f} s "
        f"| {one.analysing:.1f} s | {one.path:.1f} s | {one.analysing / one.path:.2f} |"
        for one in nights
    ]
    return "\n".join(rows)


def details(nights: Sequence[Measured]) -> str:
    """Markdown: what the places side by side were busy with, as the model sees it."""
    rows = [
        "| side by side | CPU while analysing | waiting for answers | between turns of an error "
        "| else | between turns, median | first request ahead by |",
        "|" + " ---: |" * 7,
    ]
    for one in nights:
        room = one.analysing * one.concurrency
        answers, between = one.answers / room, sum(one.between) / room
        rows.append(
            f"| {one.concurrency} | {one.used:.1f} s | {answers:.0%} | {between:.0%} "
            f"| {1 - answers - between:.0%} | {statistics.median(one.between) * 1000:.0f} ms "
            f"| {one.ahead * 1000:.0f} ms |"
        )
    return "\n".join(rows)


def main() -> int:
    """Print the table; nothing is asserted about time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", type=int, default=50)
    parser.add_argument("--side-by-side", type=int, nargs="+", default=[4, 8])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, prefect_server(Path(name) / "server") as prefect:
        nights = []
        for concurrency in asked.side_by_side:
            folder = Path(name) / str(concurrency)
            folder.mkdir()
            nights.append(measured(folder, prefect, asked.errors, concurrency))
    busy = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"Model latency {LATENCY * 1000:.0f} ms; {busy}; the aim is a ratio of {AIM}.\n")
    print(f"{table(nights)}\n")
    print(details(nights))
    return 0


if __name__ == "__main__":
    sys.exit(main())
