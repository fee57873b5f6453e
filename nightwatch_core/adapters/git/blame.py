"""Who last wrote lines of one commit, seen through reformatting, moved lines and renames."""

from collections.abc import Iterator, Mapping

from nightwatch_core.adapters.git.command import Git, Outcome, is_sha, read_time
from nightwatch_core.adapters.git.limits import (
    IGNORED_REVISIONS,
    LINE_CHARACTERS,
    NAME_CHARACTERS,
    QUICK_SECONDS,
    TITLE_CHARACTERS,
)
from nightwatch_core.errors import TryLater
from nightwatch_core.models.code import Blame

IGNORED_FILE = ".git-blame-ignore-revs"

# What blame looks through, the most first: the next is tried where old files are missing, or where
# it took too long.
LOOKING = (("-w", "-M", "-C"), ("-w", "-M"), ("-w", "--no-follow"))


def blamed(
    git: Git, sha: str, path: str, lines: tuple[int, int], ignored: str = ""
) -> tuple[Blame, ...]:
    """Return who wrote the lines of the file at `path`, as the system spells it, in commit `sha`.

    `ignored` is the text of a file that lists revisions to look through. Empty where git cannot
    tell.
    """
    revisions = "".join(f"{one}\n" for one in ignored_revisions(ignored)).encode()
    ways, place = list(LOOKING), ("-L", f"{lines[0]},{lines[1]}", sha, "--", path)
    while ways:
        asked = ("blame", "--line-porcelain", *ways.pop(0), "--ignore-revs-file=/dev/stdin")
        outcome = _answer(git, (*asked, *place), revisions)
        if outcome is None:
            ways = ways[-1:]  # what took too long once is not worth a second wait
        elif not outcome.code:
            return tuple(_rows(outcome.output.decode(errors="replace"), path))
    return ()


def ignored_revisions(text: str) -> tuple[str, ...]:
    """Return the full shas of a list of revisions, without its comments, at most 1,000.

    >>> ignored_revisions("# black\\n" + "a" * 40 + "  # all of it\\nmain\\n")[0][:4]
    'aaaa'
    """
    words = (line.partition("#")[0].strip().lower() for line in text.splitlines())
    return tuple(dict.fromkeys(word for word in words if is_sha(word)))[:IGNORED_REVISIONS]


def _answer(git: Git, arguments: tuple[str, ...], revisions: bytes) -> Outcome | None:
    try:
        return git.attempt(*arguments, stdin=revisions, timeout=QUICK_SECONDS)
    except TryLater:
        return None


def _rows(porcelain: str, path: str) -> Iterator[Blame]:
    """Take apart heads, fields and, after a tab, the text of each line."""
    fields: dict[str, str] = {}
    for row in porcelain.split("\n"):
        if not row.startswith("\t"):
            key, _, value = row.partition(" ")
            fields.setdefault("head" if not fields else key, row if not fields else value)
        elif fields:
            yield _row(fields, row[1:], path)
            fields = {}


def _row(fields: Mapping[str, str], text: str, path: str) -> Blame:
    sha, _, line, *_ = fields["head"].split(" ")
    former = fields.get("filename", path)
    return Blame(
        sha=sha,
        author=fields.get("author", "")[:NAME_CHARACTERS],
        at=read_time(fields.get("committer-time", "")),
        subject=fields.get("summary", "")[:TITLE_CHARACTERS],
        line=int(line),
        text=text.rstrip("\r")[:LINE_CHARACTERS],
        path="" if former == path or former.startswith('"') else former,  # quoted: odd names
    )
