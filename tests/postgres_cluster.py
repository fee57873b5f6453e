"""A PostgreSQL of one's own, from the system's packages, on a socket in a temporary folder."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGINT
from tempfile import mkdtemp
from urllib.parse import quote

import pytest
from machine import NOBODY
from pydantic import SecretStr

PASSWORD = "p@ss-hidden-39"
_PACKAGES = Path("/usr/lib/postgresql")


@contextmanager
def cluster() -> Iterator[SecretStr]:
    """Run a server, as nobody where we are root; yields the address of its database."""
    programs = sorted(_PACKAGES.glob("*/bin/initdb"))
    if not programs:
        pytest.skip("PostgreSQL is not installed")
    programs_folder, folder = programs[-1].parent, Path(mkdtemp(prefix="nw-pg-"))
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    if user:
        os.chown(folder, NOBODY, NOBODY)
    data, password = folder / "data", folder / "password"
    password.write_text(PASSWORD)
    password.chmod(0o644)
    initdb = (programs_folder / "initdb", "-D", data, "-U", "ann", "-N", "--locale=C", "-E", "UTF8")
    given = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT, **user}
    subprocess.run([*initdb, "--pwfile", password, "-A", "scram-sha-256"], check=True, **given)
    words = (programs_folder / "postgres", "-D", data, "-k", folder, "-h", "", "-F")
    server = subprocess.Popen(words, **given)  # type: ignore[call-overload]
    try:
        where = f"host={quote(str(folder), safe='')}"
        address = f"postgresql://ann:{quote(PASSWORD)}@/postgres?{where}"
        ready = (programs_folder / "pg_isready", "-q", "-h", folder, "-t", "1")
        for _ in range(60):
            if subprocess.run(ready, check=False).returncode == 0:
                break
        yield SecretStr(address)
    finally:
        server.send_signal(SIGINT)  # whoever is still connected is cut off
        server.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)
