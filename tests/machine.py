"""Look for what a test needs from this machine; skip the test with the reason where it is missing.

`needs("sandbox")` in a fixture or a test, or `@pytest.mark.needs("root")` on a test. A name that is
not listed here is a program.
"""

import os
import shutil
import subprocess
from functools import cache

import pytest

NOBODY = 65534
PROGRAMS = "/usr/local/bin:/usr/bin:/bin"  # what a sandbox shows
CONFINEMENTS = {  # the least that each kind of confinement asks of the machine
    "bubblewrap": ("bwrap", "--unshare-all", "--disable-userns", "--unshare-user",
                   "--ro-bind", "/", "/", "--size", "9999", "--tmpfs", "/tmp", "true"),
    "unshare": ("unshare", "-Urnmpfiu", "setpriv", "--no-new-privs", "true"),
}  # fmt: skip


def needs(*names: str) -> None:
    """Skip the test unless this machine has everything that is named."""
    for name in names:
        if reason := missing(name):
            pytest.skip(reason)


@cache
def missing(name: str) -> str:
    """Return why something cannot be used on this machine; empty where it can."""
    if name == "root":
        return "" if os.geteuid() == 0 else "only root can do this"
    if name == "ordinary user":
        return "root may read and write everything" if os.geteuid() == 0 else ""
    if name == "sandbox":
        return missing("bubblewrap") and missing("unshare")
    if name in CONFINEMENTS:
        works = _runs(CONFINEMENTS[name])
        return "" if works else f"{name} is not installed, or user namespaces are switched off"
    return "" if shutil.which(name, path=PROGRAMS) else f"{name} is not installed"


def _runs(words: tuple[str, ...]) -> bool:
    """Run a command as the sandbox would: root becomes nobody first."""
    as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        return subprocess.run(words, capture_output=True, **as_nobody).returncode == 0
    except OSError:  # not installed; or it stands where nobody may not look
        return False
