"""Who last wrote a line."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from nightwatch_core.adapters.git.command import Git
from nightwatch_core.errors import TryLater
from nightwatch_core.models.code import Blame

LONGEST_LINE = 300  # characters
_SECONDS = 20.0
_LAST_SECOND = 253_402_300_799  # of the year 9999


def blame(git: Git, sha: str, path: str, line: int) -> Blame | None:
    """Who last wrote `line` of the file at `path`, as of commit `sha`.

    None where there is no such line, or it cannot be found out in 20 s.
    """
    asked = ("blame", "--porcelain", "-L", f"{line},{line}", sha, "--", path)
    try:
        with _without_configuration(git) as (plain, objects):
            outcome = plain.attempt(*asked, timeout=_SECONDS, environment=objects)
    except TryLater:
        return None
    return _blamed(outcome.output.decode(errors="replace"), line) if not outcome.code else None


@contextmanager
def _without_configuration(git: Git) -> Iterator[tuple[Git, dict[str, str]]]:
    """The same objects in a repository that has no configuration.

    `blame.ignoreRevsFile` names a file of the working tree, cannot be taken back by an option, and
    makes blame fail where the file is missing.
    """
    objects = (git.folder / git.line("rev-parse", "--git-path", "objects")).resolve()
    form = git.line("rev-parse", "--show-object-format")
    version = "" if form == "sha1" else f"[extensions]\n\tobjectFormat = {form}\n"
    with tempfile.TemporaryDirectory(prefix="nightwatch-git-") as name:
        folder = Path(name)
        for part in ("objects", "refs"):
            (folder / part).mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n")
        (folder / "config").write_text(
            f"[core]\n\trepositoryFormatVersion = {1 if version else 0}\n{version}"
        )
        yield Git(folder), {"GIT_OBJECT_DIRECTORY": str(objects)}


def _blamed(porcelain: str, line: int) -> Blame | None:
    head, tab, text = porcelain.partition("\n\t")
    sha, *fields = head.split("\n")
    told = dict(field.partition(" ")[::2] for field in fields)
    if not tab or "author-time" not in told:
        return None
    return Blame(
        sha=sha.split(" ", 1)[0],
        author=told.get("author", ""),
        at=moment(told["author-time"]),
        subject=told.get("summary", ""),
        line=line,
        text=text.split("\n", 1)[0].rstrip("\r")[:LONGEST_LINE],
    )


def moment(seconds: str) -> datetime:
    """A time as git prints it; what no calendar holds becomes its nearest end.

    >>> moment("0").isoformat(), moment("99999999999999").year
    ('1970-01-01T00:00:00+00:00', 9999)
    """
    digits = seconds.strip()
    number = int(digits) if digits.isdecimal() and len(digits) < 20 else 0
    return datetime.fromtimestamp(min(number, _LAST_SECOND), UTC)
