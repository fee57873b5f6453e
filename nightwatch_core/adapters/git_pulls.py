"""Merged pull requests, read off the first-parent history of a branch."""

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from nightwatch_core.adapters.git import Git
from nightwatch_core.adapters.git_blame import moment
from nightwatch_core.models.code import MergedPull

MOST_PULLS = 200
MOST_FILES = 3_000  # of one pull request, GitHub's own limit
MOST_COMMITS = 250  # of one pull request, likewise
LONGEST_TITLE = 300
_MOST_COMMITS = 5_000  # looked at, newest first
_OUTPUT_LIMIT = 64 * 1024 * 1024
_FIELDS = ("%H", "%P", "%ct", "%an", "%s", "%b")


class Landed(NamedTuple):
    """A commit on the branch's first-parent line, with its message."""

    sha: str
    is_merge: bool
    at: str
    author: str
    subject: str
    body: str
    files: tuple[str, ...] = ()


Named = tuple[int, str] | None  # number and title


def _first_line(body: str) -> str:
    return next((line.strip() for line in body.splitlines() if line.strip()), "")


def github_merge(commit: Landed) -> Named:
    """GitHub's merge commit: "Merge pull request #41 from owner/branch", title in the body."""
    found = re.match(r"Merge pull request #(\d{1,9})\b", commit.subject)
    return (int(found[1]), _first_line(commit.body)) if found and commit.is_merge else None


def gitlab_merge(commit: Landed) -> Named:
    """GitLab's: "Merge branch …", the title, and "See merge request group/project!12"."""
    found = re.search(r"^See merge request \S{0,300}!(\d{1,9})\s*$", commit.body, re.MULTILINE)
    if not found:
        return None
    title = _first_line(commit.body) if commit.is_merge else commit.subject
    return int(found[1]), "" if title.startswith("See merge request ") else title


def bitbucket_merge(commit: Landed) -> Named:
    """Bitbucket's: "Merged in branch (pull request #7)", title in the body."""
    found = re.match(r"Merged in .{0,300}? \(pull request #(\d{1,9})\)$", commit.subject)
    return (int(found[1]), _first_line(commit.body)) if found else None


def numbered_subject(commit: Landed) -> Named:
    """A squashed pull request: "Title (#41)"."""
    found = re.search(r"^(.{1,1000}) \(#(\d{1,9})\)$", commit.subject)
    return (int(found[2]), found[1]) if found else None


def any_merge(commit: Landed) -> Named:
    """A merge that names no pull request: number 0."""
    return (0, commit.subject) if commit.is_merge else None


FORMS: tuple[Callable[[Landed], Named], ...] = (
    github_merge,
    gitlab_merge,
    bitbucket_merge,
    numbered_subject,
    any_merge,
)


def merged_pulls(git: Git, sha: str, since: datetime) -> tuple[MergedPull, ...]:
    """Pull requests on the first-parent line of `sha`, committed at `since` or later.

    Newest first, at most 200, out of the newest 5,000 commits.
    """
    start = max(0, int(since.timestamp()))
    mark = secrets.token_hex(16)  # no message and no file name can hold it
    outcome = git.attempt(
        *("log", "--first-parent", "-m", "--name-only", "--no-renames", "-z", "--no-color"),
        *("--no-ext-diff", "--no-textconv", f"--max-age={start}", f"--max-count={_MOST_COMMITS}"),
        *("--format=" + "%x00".join((mark, *_FIELDS, "")), "--end-of-options", sha, "--"),
        limit=_OUTPUT_LIMIT,
    )
    brought = _brought(git, sha)
    pulls = (pull for commit in _landed(outcome.output, mark) if (pull := _pull(commit, brought)))
    return tuple(pull for pull, _ in zip(pulls, range(MOST_PULLS), strict=False))


def _brought(git: Git, sha: str) -> dict[str, tuple[str, ...]]:
    """The commits that each merge on the first-parent line brought in, among the newest 5,000."""
    listing = git.run(
        "rev-list", "--parents", f"--max-count={_MOST_COMMITS}", "--end-of-options", sha, "--"
    )
    parents = {own: rest for own, *rest in map(str.split, listing.decode().splitlines())}
    line = [sha]
    while (above := parents.get(line[-1])) and above[0] in parents:
        line.append(above[0])
    taken, found = set(line), {}
    for merge in reversed(line):
        waiting, mine = list(parents.get(merge, [])[1:]), []
        while waiting:
            commit = waiting.pop()
            if commit in parents and commit not in taken:
                taken.add(commit)
                mine.append(commit)
                waiting += parents[commit]
        found[merge] = tuple(mine)
    return found


def _pull(commit: Landed, brought: Mapping[str, tuple[str, ...]]) -> MergedPull | None:
    for form in FORMS:
        if named := form(commit):
            number, title = named
            return MergedPull(
                number=number,
                title=(title or commit.subject)[:LONGEST_TITLE],
                sha=commit.sha,
                author=commit.author,
                merged_at=moment(commit.at),
                files=commit.files[:MOST_FILES],
                commits=brought.get(commit.sha, ())[:MOST_COMMITS],
            )
    return None


def _landed(output: bytes, mark: str) -> Iterator[Landed]:
    """Take apart what git printed: mark and fields, then files, each ended by a NUL."""
    for record in output.decode(errors="replace").split(f"{mark}\0")[1:]:
        *fields, files = record.split("\0", len(_FIELDS))
        if len(fields) < len(_FIELDS):
            return  # the output was cut here
        sha, parents, at, author, subject, body = fields
        names = tuple(name.removeprefix("\n") for name in files.split("\0"))
        kept = tuple(name for name in names if name)
        yield Landed(sha, " " in parents, at, author, subject, body, kept)
