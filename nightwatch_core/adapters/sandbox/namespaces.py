"""Confinement by unshare alone, where bubblewrap is not installed.

The root is changed by pivot_root, and the old one unmounted: out of a mere chroot a program that is
root in its namespace finds its way.
"""

import shlex
import shutil

from nightwatch_core.adapters.sandbox.cell import WORK, Cell
from nightwatch_core.adapters.sandbox.limits import DEVICES_MB

NAME = "unshare"
_NEEDED = ("unshare", "pivot_root", "setpriv", "mount", "umount", "env")
_ROOT = "/mnt"  # of the namespace alone: a folder that every system has
_FLAGS = ("", ",nosuid", ",nosuid,nodev", ",nosuid,nodev,noexec")  # that may not be taken away
_DEVICES = ("null", "zero", "full", "random", "urandom")


def start_words(cell: Cell) -> tuple[str, ...]:
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
        lines += [] if mount.writable else [_read_only(target)]
    pairs = (f"{name}={value}" for name, value in cell.environment.items())
    return [
        *lines,
        f"mount -t proc proc {root}/proc",
        f"cd {root}; pivot_root . old; cd /; umount -l /old; rmdir /old",
        "echo 0 > /proc/sys/user/max_user_namespaces",
        "mount -o remount,bind,ro /",
        f"cd {WORK}",
        "exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all "
        f"-- {shlex.join(('env', '-i', *pairs, *cell.words))}",
    ]


_STREAMS = ("stdin", "stdout", "stderr")


def _bounded(folder: str, size: int) -> list[str]:
    return [f"mount -t tmpfs -o size={size}m,mode=755 tmpfs {_ROOT}{folder}"]


def _read_only(target: str) -> str:
    tries = (f"mount -o remount,bind,ro{flags} {target} 2>/dev/null" for flags in _FLAGS)
    return " || ".join((*tries, "exit 1"))
