"""Merged pull requests, read off the first-parent history of a branch."""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from nightwatch_core.adapters.git.blame import moment
from nightwatch_core.adapters.git.command import Git
from nightwatch_core.models.code import MergedPull

MOST_PULLS = 200
MOST_FILES = 3_000  # of one pull request, GitHub's own limit
MOST_COMMITS = 250  # of one pull request, likewise
LONGEST_TITLE = 300
_MOST_COMMITS = 5_000  # looked at, newest first
_MOST_AUTHORS = 3  # named of one pull request
_LONGEST_NAME = 100
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


class Brought(NamedTuple):
    """The commits that a merge took along, newest first, and who wrote them."""

    commits: tuple[str, ...] = ()
    authors: str = ""


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

    Newest first, at most 200, out of the newest 5,000 commits. The author of a merge is whoever
    wrote the commits it brought in: at most three names; its own author where none is known.
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


def _brought(git: Git, sha: str) -> dict[str, Brought]:
    """What each merge on the first-parent line brought in, among the newest 5,000 commits."""
    listing = git.run(
        *("log", "--no-patch", "--no-color", f"--max-count={_MOST_COMMITS}"),
        *("--format=%H%x00%P%x00%an", "--end-of-options", sha, "--"),
    )
    rows = [row.split("\0", 2) for row in listing.decode(errors="replace").split("\n")]
    known = {own: (above.split(), name) for own, above, name in (r for r in rows if len(r) == 3)}
    parents = {own: above for own, (above, _) in known.items()}
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
        written = [one for one in mine if len(parents[one]) < 2] or mine
        found[merge] = Brought(tuple(mine), _authors(known[one][1] for one in reversed(written)))
    return found


def _authors(names: Iterable[str]) -> str:
    """At most three names, whoever began first; each once."""
    each = dict.fromkeys(name.strip()[:_LONGEST_NAME] for name in names)
    return ", ".join([name for name in each if name][:_MOST_AUTHORS])


def _pull(commit: Landed, brought: Mapping[str, Brought]) -> MergedPull | None:
    for form in FORMS:
        if named := form(commit):
            number, title = named
            commits, authors = brought.get(commit.sha, Brought())
            return MergedPull(
                number=number,
                title=(title or commit.subject)[:LONGEST_TITLE],
                sha=commit.sha,
                author=authors or commit.author,  # who merged did not write it
                merged_at=moment(commit.at),
                files=commit.files[:MOST_FILES],
                commits=commits[:MOST_COMMITS],
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
