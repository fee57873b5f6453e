"""Choose this machine's confinement: the first that passes a check from inside."""

import shlex
import shutil
from collections.abc import Callable
from typing import NamedTuple

from nightwatch_core.adapters.sandbox.interpreters import MACHINE
from nightwatch_core.adapters.sandbox.supervision import (
    DEVICES_MB,
    PROBE_SECONDS,
    WORK,
    Cell,
    Mount,
    run_bounded,
    runner,
)
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import Bounds

# Confinement by bubblewrap.

NAME = "bubblewrap"
_MB = 1024 * 1024
_LINKS = ("bin", "lib", "lib64", "sbin")
# The first process waits for all others, so that their processor time becomes its own.
_FIRST = ("/bin/sh", "-c", '"$@"; exit $?', "sh")


def start_words(cell: Cell) -> tuple[str, ...]:
    """Return the command that runs the cell; empty where bubblewrap is not installed."""
    program = shutil.which("bwrap")
    if program is None:
        return ()
    bounds = cell.bounds
    words = [
        *(program, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"),
        *(
            "--as-pid-1",
            "--new-session",
            "--clearenv",
            "--cap-drop",
            "ALL",
            "--hostname",
            "sandbox",
        ),
        *(["--share-net"] if cell.network else []),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--size", str(DEVICES_MB * _MB), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *("--size", str(bounds.temporary_mb * _MB), "--tmpfs", "/tmp"),
        *("--size", str(bounds.work_mb * _MB), "--tmpfs", WORK),
    ]
    for name in _LINKS:
        words += ["--symlink", f"usr/{name}", f"/{name}"]
    for mount in cell.mounts:
        words += ["--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target]
    for name, value in cell.environment.items():
        words += ["--setenv", name, value]
    return (*words, "--chdir", WORK, "--remount-ro", "/", "--", *_FIRST, *cell.words)


# Confinement by unshare, where bubblewrap is not installed; root would find its way out of a
# chroot.

UNSHARE = "unshare"
_NEEDED = ("unshare", "pivot_root", "setpriv", "mount", "umount", "env")
_ROOT = "/mnt"  # of the namespace alone: a folder that every system has
_FLAGS = ("", ",nosuid", ",nosuid,nodev", ",nosuid,nodev,noexec")  # that may not be taken away
_DEVICES = ("null", "zero", "full", "random", "urandom")


def unshare_command(cell: Cell) -> tuple[str, ...]:
    """Return the command that runs the cell; empty where a tool is missing."""
    programs = {name: shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") for name in _NEEDED}
    if not all(programs.values()):
        return ()
    spaces = ["-U", "-r", "-m", "-p", "-f", "-i", "-u", *([] if cell.network else ["-n"])]
    place = "PATH=/usr/sbin:/usr/bin:/sbin:/bin"
    script = "\n".join(_script(cell))
    started = (str(programs["env"]), "-i", place, str(programs["unshare"]), *spaces)
    return (*started, "--kill-child", "/bin/sh", "-c", script)


def _script(cell: Cell) -> list[str]:
    bounds, root = cell.bounds, _ROOT
    lines = [
        "set -e",
        "ip link set lo up 2>/dev/null || true",  # without it a test's own server is not reached
        f"mount -t tmpfs -o size=1m,mode=755 tmpfs {root}",
        f"mkdir {root}/proc {root}/dev {root}/dev/shm {root}/tmp {root}{WORK} {root}/old",
        *_bounded("/dev/shm", DEVICES_MB),
        *_bounded("/tmp", bounds.temporary_mb),
        *_bounded(WORK, bounds.work_mb),
        *(f"ln -s usr/{name} {root}/{name}" for name in ("bin", "lib", "lib64", "sbin")),
        *(f"ln -s /proc/self/fd/{at} {root}/dev/{name}" for at, name in enumerate(_STREAMS)),
        f"ln -s /proc/self/fd {root}/dev/fd",
    ]
    for name in _DEVICES:
        lines.append(f"touch {root}/dev/{name}; mount --bind /dev/{name} {root}/dev/{name}")
    for mount in cell.mounts:
        source, target = shlex.quote(str(mount.source)), shlex.quote(f"{root}{mount.target}")
        made = f"mkdir -p {target}"
        if not mount.source.is_dir():
            made = f'mkdir -p "$(dirname {target})"; touch {target}'
        lines.append(f"{made}; mount --rbind {source} {target}")
        if not mount.writable:
            tries = (f"mount -o remount,bind,ro{flags} {target} 2>/dev/null" for flags in _FLAGS)
            lines.append(" || ".join((*tries, "exit 1")))
    pairs = (f"{name}={value}" for name, value in cell.environment.items())
    return [
        *lines,
        f"mount -t proc proc {root}/proc",
        f"cd {root}; pivot_root . old; cd /; umount -l /old; rmdir /old",
        "echo 1 > /proc/sys/user/max_user_namespaces",
        "mount -o remount,bind,ro /",
        f"cd {WORK}",
        # servers of databases refuse to run as root, be it of a namespace
        f"exec unshare -U --map-user={runner()} --map-group={runner()} "
        "setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all "
        f"-- {shlex.join(('env', '-i', *pairs, *_FIRST, *cell.words))}",
    ]


_STREAMS = ("stdin", "stdout", "stderr")


def _bounded(folder: str, size: int) -> list[str]:
    return [f"mount -t tmpfs -o size={size}m,mode=755 tmpfs {_ROOT}{folder}"]


StartWords = Callable[[Cell], tuple[str, ...]]
_HOLDS = "it holds"


class Confinement(NamedTuple):
    """A way to confine, under its name."""

    name: str
    start_words: StartWords  # empty where it is not installed


LADDER = (Confinement(NAME, start_words), Confinement(UNSHARE, unshare_command))


def first_that_holds(
    mounts: tuple[Mount, ...], ladder: tuple[Confinement, ...] = LADDER
) -> Confinement:
    """Return the first rung that holds; raises `GiveUp`, with what to do, where none does."""
    seen = []
    bounds = Bounds(seconds=PROBE_SECONDS, work_mb=8, temporary_mb=8)
    look = ("/bin/sh", "-c", f"{MACHINE.texts['look']} && echo {_HOLDS}")
    for rung in ladder:
        words = rung.start_words(Cell(look, {"PATH": "/usr/bin:/bin"}, mounts, bounds))
        try:
            run = run_bounded(words, bounds) if words else None
        except GiveUp as reason:
            seen.append(f"{rung.name}: {reason}")
            continue
        if run and run.went_well and run.output.strip().endswith(_HOLDS):
            return rung
        why = " ".join(run.output.split())[-200:] if run else "not installed"
        seen.append(f"{rung.name}: {why or 'it does not hold'}")
    raise GiveUp(
        f"{MACHINE.texts['nothing']} ({'; '.join(seen)})" if seen else MACHINE.texts["nothing"]
    )
