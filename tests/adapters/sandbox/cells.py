"""Sandboxes for tests, over trees that are given as texts."""

import subprocess

from nightwatch_core.adapters.sandbox.ladder import LADDER
from nightwatch_core.adapters.sandbox.local_sandbox import LocalSandbox
from nightwatch_core.models.code import Commit
from nightwatch_core.models.proposals import Bounds, Command

COMMIT = Commit(repository="shop", branch="main", sha="a" * 40)


def lays(files):
    """A way to lay these files out; a text that begins with -> is a link."""

    def lay_out(_commit, folder):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.parent.chmod(0o755)
            if text.startswith("->"):
                path.symlink_to(text[2:])
            else:
                path.write_text(text)
                path.chmod(0o644)
        return 0

    return lay_out


def sandbox(state, files=(), rung="", **more):
    """Make a sandbox with this confinement; without a name, with the first that holds."""
    ladder = tuple(item for item in LADDER if rung in (item.name, ""))
    return LocalSandbox(state, lays(dict(files)), ladder=ladder, **more)


def command(*words, **bounds):
    return Command(words=words, bounds=Bounds(**{"seconds": 20, **bounds}))


def shell(text, **bounds):
    return command("/bin/sh", "-c", text, **bounds)


def running(mark):
    """Whether a program with that mark among its words runs on this machine."""
    return bool(subprocess.run(["pgrep", "-f", mark], capture_output=True).stdout)
