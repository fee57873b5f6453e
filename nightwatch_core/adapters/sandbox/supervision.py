"""Runs one command within bounds and ends it, with everything it started, where it goes beyond."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import PATIENCE, Bounds, Ended, Run

# Limits.

POLL_SECONDS = 0.2  # between two looks at time and memory
STEP_SECONDS = 0.01  # between two looks whether a killed run is gone
GRACE_SECONDS = 5.0  # until a killed run has to be gone
PROBE_SECONDS = 10.0
FLOOD = 64  # times the output that is kept: then the run is ended
DEVICES_MB = 64  # of /dev/shm
OPEN_FILES = 1_024
STACK_MB = 4  # of each thread: its whole stack counts as data
INODES = 200_000  # files and folders of one run
TREE_BYTES = 512 * 1024 * 1024
TREE_FILES = 60_000

NOBODY = 65_534
_MB = 1024 * 1024
_LAUNCHER = str(Path(__file__).with_name("launcher.py"))
_CHUNK = 65_536


def run_bounded(
    words: Sequence[str], bounds: Bounds, enough: Callable[[], bool] | None = None
) -> Run:
    """Run a command with an empty environment and no input; root becomes nobody first.

    It ends where `enough` says so. Raises `GiveUp` where it cannot be started.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            [*_limits(bounds), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={},
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise GiveUp(f"nothing can be run in a sandbox: {error}") from error
    try:
        ended, output, cpu = _watch(process, bounds, began, enough)
    finally:
        code = _end(process)
    text = bytes(output[-bounds.output_kb * 1024 :]).decode(errors="replace")
    seconds = round(time.monotonic() - began, 3)
    return Run(code=code, ended=ended, output=text, seconds=seconds, cpu=round(cpu, 2))


def runner() -> int:
    """Return the user whom commands are run as."""
    return NOBODY if os.geteuid() == 0 else os.geteuid()


def _limits(bounds: Bounds) -> list[str]:
    file, memory = bounds.file_mb * _MB, bounds.memory_mb * _MB
    processes = _threads_of(runner()) + bounds.processes
    return [
        *(sys.executable, "-I", "-S", _LAUNCHER, str(runner())),
        *(f"CPU={bounds.cpu_seconds}", f"DATA={memory}", f"STACK={STACK_MB * _MB}"),
        *(f"FSIZE={file}", f"NOFILE={OPEN_FILES}", "CORE=0", f"NPROC={processes}", "--"),
    ]


def _watch(
    process: subprocess.Popen[bytes],
    bounds: Bounds,
    began: float,
    enough: Callable[[], bool] | None,
) -> tuple[Ended, bytearray, float]:
    """Read what it prints until it ends; a program may close its output and run on.

    Where the machine is busy with other things, it is given more time, but not for ever.
    """
    assert process.stdout is not None
    kept, pipe = bytearray(), process.stdout.fileno()
    most, seen, looked, is_open, cpu = bounds.output_kb * 1024, 0, 0.0, True, 0.0
    deadline = began + PATIENCE * bounds.seconds
    with selectors.DefaultSelector() as waiting:
        waiting.register(pipe, selectors.EVENT_READ)
        while (now := time.monotonic()) < deadline:
            if now - looked >= POLL_SECONDS:
                looked = now
                memory, used = _taken(process.pid)
                cpu = max(cpu, used)
                if memory > 2 * bounds.memory_mb * _MB:
                    return "used too much memory", kept, cpu
                if (enough and enough()) or _inodes(process.pid) > INODES:
                    return "used too much disk space", kept, cpu
                if min(now - began, cpu) > bounds.seconds:
                    break
            if not is_open:
                pid, status, used_by_all = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    process.returncode = os.waitstatus_to_exitcode(status)
                    cpu = max(cpu, used_by_all.ru_utime + used_by_all.ru_stime)
                    return "exited", kept, cpu
                time.sleep(STEP_SECONDS)
                continue
            if not waiting.select(min(deadline - now, POLL_SECONDS)):
                continue
            if not (chunk := os.read(pipe, _CHUNK)):
                waiting.unregister(pipe)
                is_open = False
            seen += len(chunk)
            kept += chunk
            if len(kept) > 2 * most:
                del kept[:-most]
            if seen > FLOOD * most:
                return "printed too much output", kept, cpu
    return "took too long", kept, cpu


def _end(process: subprocess.Popen[bytes]) -> int:
    """Kill the namespace's first process, which takes all others along, and its group."""
    inner = _children(process.pid)
    for kill, pid in ((os.killpg, process.pid), *((os.kill, pid) for pid in inner)):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    code = process.wait(GRACE_SECONDS)
    if process.stdout is not None:
        process.stdout.close()
    deadline = time.monotonic() + GRACE_SECONDS
    while any(Path("/proc", str(pid)).exists() for pid in inner) and time.monotonic() < deadline:
        time.sleep(STEP_SECONDS)
    return code


def _children(pid: int) -> list[int]:
    with suppress(OSError, ValueError):
        threads = Path("/proc", str(pid), "task").iterdir()
        return [
            int(item) for thread in threads for item in (thread / "children").read_text().split()
        ]
    return []


def _taken(pid: int) -> tuple[int, float]:
    """Return the bytes that a process and all it started hold, and the seconds that they ran."""
    memory, ticks, waiting = 0, 0, [pid]
    while waiting:
        place = Path("/proc", str(waiting.pop()))
        with suppress(OSError, ValueError, IndexError):
            memory += int((place / "statm").read_text().split()[1])
            times = (place / "stat").read_text().rpartition(")")[2].split()[11:15]
            ticks += sum(map(int, times))  # those of children that have ended among them
        waiting += _children(int(place.name))
    return memory * os.sysconf("SC_PAGE_SIZE"), ticks / os.sysconf("SC_CLK_TCK")


def _inodes(pid: int) -> int:
    """Count files and folders that a run has made; 0 while its root is still this machine's."""
    for root in (Path("/proc", str(item), "root") for item in _children(pid)):
        with suppress(OSError):
            if root.stat().st_dev != Path("/").stat().st_dev:
                used = [os.statvfs(f"{root}{folder}") for folder in (WORK, "/tmp", "/dev/shm")]
                return sum(item.f_files - item.f_ffree for item in used)
    return 0


def _threads_of(user: int) -> int:
    count = 0
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError, StopIteration):
                if place.stat().st_uid == user:
                    count += sum(1 for _ in (place / "task").iterdir())
    return count


# What a confined program sees.

TREE, CHANGES, WORK, ENV = "/tree", "/changes", "/work", "/env"
MADE = f"{ENV}/made"  # files that building the project has made in its tree


class Mount(NamedTuple):
    """A folder or file of this machine, and where the program sees it."""

    source: Path
    target: str
    writable: bool = False


class Cell(NamedTuple):
    """One program, everything it sees, and what it may take."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    mounts: tuple[Mount, ...]
    bounds: Bounds
    network: bool = False
