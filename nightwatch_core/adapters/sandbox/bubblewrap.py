"""Confinement by bubblewrap: namespaces of its own, nothing of this machine but what is named."""

import shutil

from nightwatch_core.adapters.sandbox.cell import WORK, Cell
from nightwatch_core.adapters.sandbox.limits import DEVICES_MB

NAME = "bubblewrap"
_MB = 1024 * 1024
_LINKS = ("bin", "lib", "lib64", "sbin")


def start_words(cell: Cell) -> tuple[str, ...]:
    """Return the command that runs the cell; empty where bubblewrap is not installed."""
    program = shutil.which("bwrap")
    if program is None:
        return ()
    bounds = cell.bounds
    words = [
        *(program, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"),
        *("--new-session", "--clearenv", "--cap-drop", "ALL", "--hostname", "sandbox"),
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
    return (*words, "--chdir", WORK, "--remount-ro", "/", "--", *cell.words)
