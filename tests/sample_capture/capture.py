"""Captures the sample's errors: its releases run through a day, and report what goes wrong.

`PYTHONPATH=tests python -m sample_capture.capture [--out DIR]` writes errors.jsonl to DIR, by
default over the sample's. Requests, times and services are the same every time (day.py, world.py,
services.py), the errors are the application's own.
"""

import argparse
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from sample_capture.day import RELEASES, UNTIL

from nightwatch_core import sample
from nightwatch_core.sample import APPLICATION, ERRORS, stream

HERE = Path(__file__).resolve().parent
SAMPLE = Path(sample.__file__).resolve().parent
DEPENDENCY = "parcelkit.fast-import"
DEPENDENCY_TAG = "v1.4.2"
DEPLOYED = f"/srv/{APPLICATION}"
SITE_PACKAGES = "/srv/venv/lib/python3.11/site-packages"
STDLIB = "/usr/lib/python3.11"
MASKS = (
    (re.compile(r"\b0x[0-9a-f]{4,}\b"), "0x0"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "127.0.0.1:0"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"), "TIME"),
    (re.compile(rf'({re.escape(STDLIB)}/[^"\\]+\\?", line )\d+'), r"\g<1>0"),
)


def masked(text: str) -> str:
    r"""Mask what differs between two captures: times, addresses, stdlib lines.

    >>> masked('<Order at 0x7f01aa> from 127.0.0.1:40211 at 2026-11-17T09:30:00.120Z')
    '<Order at 0x0> from 127.0.0.1:0 at TIME'
    >>> masked('File "/usr/lib/python3.11/socket.py", line 706, in readinto')
    'File "/usr/lib/python3.11/socket.py", line 0, in readinto'
    """
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return text


def same_capture(item: bytes, other: bytes) -> bool:
    """Tell whether two captures are equal but for what `masked` takes out.

    >>> same_capture(b'{"at": "2026-11-17T09:30:00Z"}', b'{"at": "2026-11-17T09:30:01Z"}')
    True
    >>> same_capture(b'KeyError', b'ValueError')
    False
    """
    return masked(item.decode("utf-8")) == masked(other.decode("utf-8"))


def git(folder: Path, *args: str, data: bytes | None = None) -> None:
    """Run git in a folder, without anybody's settings."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    safe = ("-c", f"core.hooksPath={os.devnull}", "-c", "init.defaultBranch=main")
    command = ("git", *safe, *args)
    subprocess.run(command, cwd=folder, env=environ, input=data, check=True, timeout=120)


def unpack(data: bytes, folder: Path) -> Path:
    """Make a repository of a stream."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    git(folder, "fast-import", "--quiet", data=data)
    return folder


def capture() -> bytes:
    """Run the day; answers the records as the application wrote them, at their places in /srv."""
    with TemporaryDirectory() as name:
        root = Path(name).resolve()
        state = root / "state"
        state.mkdir()
        packages = unpack((HERE / DEPENDENCY).read_bytes(), root / "packages")
        git(packages, "checkout", "--quiet", DEPENDENCY_TAG)
        checkout = unpack(stream(), root / "checkout")
        ends = [since for _, since in RELEASES[1:]] + [UNTIL]
        for (release, since), until in zip(RELEASES, ends, strict=True):
            git(checkout, "checkout", "--quiet", release)
            _drive((checkout, packages), release, since.isoformat(), until.isoformat(), str(state))
        text = (state / ERRORS).read_text("utf-8")
    for here, there in (
        (checkout, DEPLOYED),
        (packages, SITE_PACKAGES),
        (sysconfig.get_path("stdlib"), STDLIB),
    ):
        text = text.replace(f"{here}/", f"{there}/")
    return text.encode("utf-8")


def _drive(folders: tuple[Path, Path], *args: str) -> None:
    paths = os.pathsep.join(str(path) for path in (*folders, HERE.parent, HERE.parents[1]))
    environ = {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": paths,
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = (sys.executable, "-P", "-m", "sample_capture.driver", *args)
    subprocess.run(command, cwd=folders[0], env=environ, check=True, timeout=120)


def main() -> None:
    """Capture, and write down."""
    parser = argparse.ArgumentParser(description="Capture the sample's errors again.")
    parser.add_argument("--out", type=Path, default=SAMPLE, metavar="DIR")
    folder: Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    records = capture()
    (folder / ERRORS).write_bytes(records)
    sys.stdout.write(f"{folder / ERRORS}: {len(records.splitlines())} records\n")


if __name__ == "__main__":
    main()
