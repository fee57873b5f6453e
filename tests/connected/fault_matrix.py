"""The matrix of faults: cells shared out among processes on one Prefect server, and a table.

python tests/connected/fault_matrix.py                  # all of it: `make faults`
python tests/connected/fault_matrix.py --only "slack · 500"
python tests/connected/fault_matrix.py --by-service      # as BENCHMARKS.md has it
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from connected.prefect_server import QUIET, prefect_server

NIGHTS = Path(__file__).with_name("fault_nights.py")
WORKERS = 2
Outcomes = dict[str, dict[str, Any]]


def outcomes(folder: Path, *arguments: str) -> Outcomes:
    """What came of the cells, by name; `arguments` choose them as for `fault_nights.py`."""
    with prefect_server(folder, QUIET) as address, ThreadPoolExecutor(WORKERS) as pool:
        environment = os.environ | {
            "PREFECT_API_URL": address,
            "PREFECT_HOME": str(folder),
            "PREFECT_LOGGING_TO_API_ENABLED": "false",
            "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
        }
        parts = [(*arguments, "--part", f"{number}/{WORKERS}") for number in range(WORKERS)]
        told = pool.map(lambda part: list(_lines(part, environment)), parts)
        return {item["name"]: item for part in told for item in part}


def _lines(arguments: Iterable[str], environment: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    command = [sys.executable, str(NIGHTS), *arguments]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield from map(json.loads, process.stdout)
    assert process.returncode in (0, 1), arguments


def table(told: Outcomes) -> str:
    """Exit codes by service and kind, position after position; an exclamation mark is wrong."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, one in told.items():
        service, kind, *when = name.split(" · ")
        shown = f"{' '.join(when)}: {one['code']}{'!' * bool(one['wrong'])}"
        rows.setdefault((service, kind), []).append(shown)
    lines = (f"{service:9} {kind:17} {', '.join(row)}" for (service, kind), row in rows.items())
    return "\n".join(lines)


def by_service(told: Outcomes) -> str:
    """How many nights ended how; of those that did not end well, a healthy one followed."""
    lines = ["service    nights  complete  degraded  failed  other  wrong"]
    for service in dict.fromkeys(name.partition(" · ")[0] for name in told):
        ours = [one for name, one in told.items() if name.startswith(f"{service} · ")]
        ends = [sum(one["code"] == code for one in ours) for code in (0, 3, 1)]
        bad = sum(bool(one["wrong"]) for one in ours)
        row = (len(ours), *ends, len(ours) - sum(ends), bad)
        lines.append(
            f"{service:9} {row[0]:7} {row[1]:9} {row[2]:9} {row[3]:7} {row[4]:6} {row[5]:6}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    began, given = time.monotonic(), [item for item in sys.argv[1:] if item != "--by-service"]
    with tempfile.TemporaryDirectory() as server:
        came = outcomes(Path(server), *given)
    bad = [item for item in came.values() if item["wrong"]]
    print(table(came) if given == sys.argv[1:] else by_service(came))
    for one in bad:
        print(f"\n{one['name']}: {'; '.join(one['wrong'])}\n{one.get('output', '')}")
    print(f"\n{len(came)} cells, {len(bad)} wrong, {time.monotonic() - began:,.0f} s")
    sys.exit(bool(bad))
