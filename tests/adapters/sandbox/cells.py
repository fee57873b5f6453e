"""Sandboxes for tests, over trees that are given as texts."""

import os
import shutil
import subprocess
from functools import cache

import pytest

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


def sandbox(state, files=(), rung="bubblewrap", **more):
    ladder = tuple(one for one in LADDER if one.name == rung)
    image = os.environ.get("NIGHTWATCH_SANDBOX_IMAGE", "")
    return LocalSandbox(state, lays(dict(files)), ladder=ladder, image=image, **more)


BARE = {  # what this machine has to allow, whatever we make of it
    "bubblewrap": ("bwrap", "--unshare-all", "--disable-userns", "--unshare-user",
                   "--ro-bind", "/", "/", "--size", "9999", "--tmpfs", "/tmp", "true"),
    "unshare": ("unshare", "-Urnmpfiu", "setpriv", "--no-new-privs", "true"),
}  # fmt: skip


@cache
def is_allowed(rung):
    nobody = 65534 if os.geteuid() == 0 else None
    groups = None if nobody is None else []
    try:
        words = BARE[rung]
        return not subprocess.run(
            words, user=nobody, group=nobody, extra_groups=groups, capture_output=True
        ).returncode
    except FileNotFoundError:
        return False


def needs(rung, _folder):
    """Skip where this machine does not allow it; where it does, it has to hold."""
    if rung == "container":
        sockets = ("DOCKER_HOST", "CONTAINER_HOST")
        if not (os.environ.get("NIGHTWATCH_SANDBOX_IMAGE") and any(map(os.environ.get, sockets))):
            pytest.skip("no engine and image are named (DOCKER_HOST, NIGHTWATCH_SANDBOX_IMAGE)")
    elif not is_allowed(rung):
        pytest.skip(f"{rung} is not installed, or user namespaces are switched off")


def needs_program(name):
    if not shutil.which(name, path="/usr/local/bin:/usr/bin:/bin"):
        pytest.skip(f"{name} is not among the system's programs")


def command(*words, **bounds):
    return Command(words=words, bounds=Bounds(**{"seconds": 20, **bounds}))


def shell(text, **bounds):
    return command("/bin/sh", "-c", text, **bounds)


def running(mark):
    """Whether a program with that mark among its words runs on this machine."""
    return bool(subprocess.run(["pgrep", "-f", mark], capture_output=True).stdout)
