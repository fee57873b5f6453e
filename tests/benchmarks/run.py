"""Run the benchmarks and put what they print into BENCHMARKS.md: `make bench`.

A part of the document holds its date, machine, load, commands and their output, as printed.
What cannot be run here (data or cases that are missing) is said, and its part stays as it was.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HARNESS = ROOT.parent / "shared" / "eval" / "harness"
LIVE = os.environ.get("NIGHTWATCH_LIVE", "")  # folder of <case>/checkout, <case>/export.jsonl
DOCUMENT = ROOT / "BENCHMARKS.md"
COMMANDS = HERE / "commands.txt"  # a part of the document, and a command that makes it
MOST_LINES = 45  # of what one command prints; its last ones
_PART = re.compile(r"(<!-- (?P<name>\w+) -->\n\n)(?P<part>.*?)(\n\n<!-- end -->)", re.DOTALL)


def parts_of(text: str) -> dict[str, str]:
    """The parts of a document that commands write, by their names."""
    return {item["name"]: item["part"] for item in _PART.finditer(text)}


def written(text: str, made: Mapping[str, str]) -> str:
    """The document with these parts in their places."""
    return _PART.sub(lambda one: f"{one[1]}{made.get(one['name'], one['part'])}{one[4]}", text)


def was_skipped(output: str) -> bool:
    """A command that measured nothing says so on the only line that it prints."""
    return output.startswith("skipped: ") and output.strip().count("\n") == 0


def commands() -> dict[str, list[list[str]]]:
    """The commands of every part, in the order of the table."""
    rows = [line.split() for line in COMMANDS.read_text().splitlines()]
    return {name: [line for other, *line in rows if other == name] for name, *_ in rows}


def main() -> int:
    """Run what was asked for; returns 1 where a command fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=commands(), help="the parts to run")
    wanted = parser.parse_args().only or list(commands())
    return max([_part(name, commands()[name]) for name in wanted], default=0)


def _part(name: str, lines: Sequence[list[str]]) -> int:
    if any(line[0].startswith("eval_") for line in lines) and not HARNESS.is_dir():
        print(f"skipped: {name}: there is no evaluation data at {HARNESS.parent}")
        return 0
    if any("CASES" in line for line in lines) and not LIVE:
        print(f"skipped: {name}: NIGHTWATCH_LIVE names no folder of prepared cases")
        return 0
    load, start, codes, outputs = os.getloadavg()[0], time.monotonic(), list[int](), list[str]()
    for line in lines:
        print(f"\n{' '.join(line)}", flush=True)
        code, output = _ran(line)
        print(output, flush=True)
        codes.append(code)
        outputs.append(output)
    head = (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores "
        f"({platform.machine()}), load {load:.1f} before it, {time.monotonic() - start:,.0f} s"
    )
    shown = [
        "\n".join((f"$ {' '.join(line)}", *output.splitlines()[-MOST_LINES:]))
        for line, output in zip(lines, outputs, strict=True)
    ]
    text = "\n\n".join((f"{head}:", "```text\n" + "\n\n".join(shown) + "\n```"))
    if not any(codes) and not any(map(was_skipped, outputs)):
        kept = DOCUMENT.read_text(encoding="utf-8")
        DOCUMENT.write_text(written(kept, {name: text}), encoding="utf-8")
    return max(codes)


def _ran(line: Sequence[str]) -> tuple[int, str]:
    """Run a command; returns its exit code and what it printed, without this machine's paths."""
    folder, variables, command = ROOT, dict(os.environ), [LIVE if w == "CASES" else w for w in line]
    if command[0].startswith("eval_"):
        folder, variables["PYTHONPATH"] = HERE, f"{HERE}:{ROOT}"
        command[0] = str(HARNESS / command[0])
    ended = subprocess.run(
        [sys.executable, *command],
        env=variables,
        cwd=folder,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    measured = (row for row in ended.stdout.splitlines() if not row.endswith('{"n": 0}'))
    output = "\n".join(measured).rstrip()  # a harness tells of sets that are not there, too
    for place in filter(None, (str(ROOT), LIVE, str(HARNESS.parent), str(Path.home()))):
        output = output.replace(place, "…")
    return ended.returncode, output.replace("```", "'''")


if __name__ == "__main__":
    sys.exit(main())
