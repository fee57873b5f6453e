"""Seconds and peak memory of reading large files, by format; the files are invented.

`python tests/benchmarks/reading.py [megabytes] [format …]`. Every file is read by a process of its
own; seconds are those of one core. Each holds errors of 400 kinds among records that are none, with
ids in the messages, so that hardly two records are alike.
"""

import csv
import gzip
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from nightwatch_core.adapters.files.source import ErrorFiles

START = datetime(2031, 3, 1, tzinfo=UTC)
MOST_SECONDS, MOST_MEGABYTES = 30.0, 600.0  # of 100 MB
BOMB = 6_000_000  # records of a file that packs to almost nothing


def errors() -> Iterator[dict[str, object]]:
    """Records of errors without end."""
    chance = Random(7)
    for number in range(100_000_000):
        kind = chance.randrange(400)
        at = START + timedelta(milliseconds=37 * number)
        message = f"no price for item {chance.randrange(10**6)} of order {chance.randrange(10**8)}"
        yield {
            "timestamp": at.isoformat(),
            "error.class": f"Shop::Error{kind}",
            "error.message": message,
            "transactionName": f"Controller/orders/action{kind % 60}",
            "appName": "shop",
            "host": f"web-{number % 9}",
            "enduser.id": chance.randrange(5_000),
            "service.version": f"2.{kind % 5}",
            "request.id": f"{chance.randrange(16**12):012x}",
            "error.stack_trace": "\n".join(
                f"app/models/model{kind}.rb:{10 + depth}:in `step{depth}'" for depth in range(12)
            ),
        }


def python_trace(record: dict[str, object]) -> str:
    """The record as Python prints it."""
    kind = str(record["error.class"]).replace("::", ".").lower()
    frames = "".join(
        f'  File "/srv/shop/{kind}.py", line {10 + depth}, in step{depth}\n    self.go({depth})\n'
        for depth in range(8)
    )
    return (
        f"Traceback (most recent call last):\n{frames}"
        f"{kind}.PriceError: {record['error.message']}\n"
    )


def log_lines(record: dict[str, object], number: int) -> Iterator[str]:
    """Lines of a log: some that are no errors, then a trace."""
    at = str(record["timestamp"])[:23].replace("T", " ")
    for n in range(6):
        yield f"{at} INFO shop.web request {number}-{n} path=/orders/{number * 7 + n} took {n} ms\n"
    yield f"{at} ERROR shop.web request {number} failed\n"
    yield python_trace(record)


def _json_lines(record: dict[str, object], _: int) -> Iterator[str]:
    yield json.dumps(record) + "\n"


def _item(record: dict[str, object], number: int) -> Iterator[str]:
    yield ("," if number else "") + json.dumps(record)


def _docker(record: dict[str, object], number: int) -> Iterator[str]:
    for part in log_lines(record, number):
        for line in part.splitlines(keepends=True):
            fields = {"log": line, "stream": "stderr", "time": record["timestamp"]}
            yield json.dumps(fields) + "\n"


def _cells(record: dict[str, object], number: int) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.writer(text)
    if not number:
        writer.writerow(record)
    writer.writerow(record.values())
    yield text.getvalue()


Rows = Callable[[dict[str, object], int], Iterator[str]]
FORMATS: dict[str, tuple[str, Rows, str]] = {  # what a file begins with, its records, its end
    "lines": ("", _json_lines, ""),
    "array": ("[", _item, "]"),
    "document": ('{"meta": {"page": 1}, "errors": [', _item, "]}"),
    "log": ("", log_lines, ""),
    "docker": ("", _docker, ""),
    "csv": ("", _cells, ""),
}


def write(path: Path, name: str, megabytes: int) -> None:
    """Write a file of a format."""
    begin, rows, end = FORMATS[name]
    size = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(begin)
        for number, record in enumerate(errors()):
            for text in rows(record, number):
                size += file.write(text)
            if size >= megabytes * 1_000_000:
                break
        file.write(end)


def write_bomb(path: Path) -> None:
    """Write very many records that pack to almost nothing."""
    line = b'{"error.class":"Shop::Empty","message":"no order"}\n'
    with gzip.open(path, "wb") as file:
        for _ in range(BOMB // 1_000):
            file.write(line * 1_000)


def write_long_lines(path: Path) -> None:
    """Write two lines of 300 MB in a log."""
    with path.open("w", encoding="utf-8") as file:
        for part in ("2031-03-01 10:00:00 ERROR ", *("x" * 1_000_000,) * 300, "\n") * 2:
            file.write(part)
        file.write(python_trace(next(errors())))


def measure(path: Path) -> None:
    """Read a file; print seconds, megabytes and what came of it."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    contents = ErrorFiles((path,)).contents()
    seconds = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{seconds:7.1f} s {peak / 1_000:6.0f} MB (before {before / 1_000:.0f})", end="  ")
    numbers = f"{contents.records} records, {contents.harmless} others, {contents.rejected} not"
    print(f"{path.stat().st_size / 1e6:6.1f} MB: {numbers}")
    for sentence in contents.missing[:5]:
        print(f"{'':10}{sentence}")


def main(megabytes: int, names: list[str]) -> int:
    """Measure every format, or those that are named."""
    special = {"bomb": write_bomb, "longlines": write_long_lines}
    failed = 0
    for name in names or [*FORMATS, *special]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.txt"
            special[name](path) if name in special else write(path, name, megabytes)
            print(f"{name:10}", end="", flush=True)
            command = [sys.executable, __file__, "--read", str(path)]
            failed += bool(subprocess.run(command, check=False).returncode)
    return int(bool(failed))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        measure(Path(sys.argv[2]))
    else:
        sys.exit(main(int((sys.argv[1:] or ["100"])[0]), sys.argv[2:]))
