"""Merged pull requests, read off the first-parent history of a branch."""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from nightwatch_core.adapters.git.command import Git, read_time
from nightwatch_core.adapters.git.limits import (
    COMMITS_READ,
    NAME_CHARACTERS,
    PULL_AUTHORS,
    PULL_COMMITS,
    PULL_FILES,
    PULLS,
    TITLE_CHARACTERS,
)
from nightwatch_core.models.code import MergedPull

_FIELDS = ("%H", "%P", "%ct", "%an", "%s", "%b")


class MainlineCommit(NamedTuple):
    """A commit on the branch's first-parent line, with its message."""

    sha: str
    is_merge: bool
    at: str
    author: str
    subject: str
    body: str
    files: tuple[str, ...] = ()


class MergedCommits(NamedTuple):
    """The commits that a merge took along, newest first, and who wrote them."""

    commits: tuple[str, ...] = ()
    authors: str = ""


PullName = tuple[int, str] | None  # number and title


def _first_line(body: str) -> str:
    return next((line.strip() for line in body.splitlines() if line.strip()), "")


def github_merge(commit: MainlineCommit) -> PullName:
    """Read GitHub's: "Merge pull request #41 from owner/branch", title in the body."""
    match = re.match(r"Merge pull request #(\d{1,9})\b", commit.subject)
    return (int(match[1]), _first_line(commit.body)) if match and commit.is_merge else None


def gitlab_merge(commit: MainlineCommit) -> PullName:
    """Read GitLab's: "Merge branch …", the title, and "See merge request group/project!12"."""
    match = re.search(r"^See merge request \S{0,300}!(\d{1,9})\s*$", commit.body, re.MULTILINE)
    if not match:
        return None
    title = _first_line(commit.body) if commit.is_merge else commit.subject
    return int(match[1]), "" if title.startswith("See merge request ") else title


def bitbucket_merge(commit: MainlineCommit) -> PullName:
    """Read Bitbucket's: "Merged in branch (pull request #7)", title in the body."""
    match = re.match(r"Merged in .{0,300}? \(pull request #(\d{1,9})\)$", commit.subject)
    return (int(match[1]), _first_line(commit.body)) if match else None


def numbered_subject(commit: MainlineCommit) -> PullName:
    """Return a squashed pull request: "Title (#41)"."""
    match = re.search(r"^(.{1,1000}) \(#(\d{1,9})\)$", commit.subject)
    return (int(match[2]), match[1]) if match else None


def any_merge(commit: MainlineCommit) -> PullName:
    """Return a merge that names no pull request: number 0."""
    return (0, commit.subject) if commit.is_merge else None


PULL_NAMES: tuple[Callable[[MainlineCommit], PullName], ...] = (
    github_merge,
    gitlab_merge,
    bitbucket_merge,
    numbered_subject,
    any_merge,
)


def number_in(subject: str) -> int:
    """Return the pull request that a commit's first line names; 0 where it names none.

    >>> number_in("Count lines (#41)"), number_in("Merge pull request #7 from a/b"), number_in("x")
    (41, 7, 0)
    """
    commit = MainlineCommit("", True, "", "", subject, "")
    names = (read_name(commit) for read_name in PULL_NAMES)
    return next((name[0] for name in names if name), 0)


def merged_pulls(git: Git, sha: str, since: datetime) -> tuple[MergedPull, ...]:
    """Return pull requests on the first-parent line of `sha`, committed at `since` or later.

    Newest first, at most 200, out of the newest 5,000 commits. The author of a merge is whoever
    wrote the commits it brought in: at most three names; its own author where none is known.
    """
    start = max(0, int(since.timestamp()))
    mark = secrets.token_hex(16)  # no message and no file name can hold it
    outcome = git.attempt(
        *("log", "--first-parent", "-m", "--name-only", "--no-renames", "-z", "--no-color"),
        *("--no-ext-diff", "--no-textconv", f"--max-age={start}", f"--max-count={COMMITS_READ}"),
        *("--format=" + "%x00".join((mark, *_FIELDS, "")), "--end-of-options", sha, "--"),
    )
    merged = _merged_commits(git, sha)
    pulls = (pull for commit in _read_log(outcome.output, mark) if (pull := _pull(commit, merged)))
    return tuple(islice(pulls, PULLS))


def pull_numbers(git: Git, sha: str) -> dict[str, int]:
    """Return numbers of pull requests by commit, newest first, out of the newest 5,000 commits.

    A pull request is named by what stands on the first-parent line of `sha`; that comes before the
    commits it brought.
    """
    mark = secrets.token_hex(16)
    outcome = git.attempt(
        *("log", "--first-parent", "--no-patch", "--no-color", f"--max-count={COMMITS_READ}"),
        *("--format=" + "%x00".join((mark, *_FIELDS, "")), "--end-of-options", sha, "--"),
    )
    merged = _merged_commits(git, sha)
    pulls = [p for commit in _read_log(outcome.output, mark) if (p := _pull(commit, merged))]
    numbers = {pull.sha: pull.number for pull in pulls if pull.number}
    for pull in pulls:
        for commit in merged[pull.sha].commits if pull.number and pull.sha in merged else ():
            numbers.setdefault(commit, pull.number)
    return numbers


def _merged_commits(git: Git, sha: str) -> dict[str, MergedCommits]:
    """Return what each merge on the first-parent line brought in, of the newest 5,000."""
    listing = git.run(
        *("log", "--no-patch", "--no-color", f"--max-count={COMMITS_READ}"),
        *("--format=%H%x00%P%x00%an", "--end-of-options", sha, "--"),
    )
    rows = [row.split("\0", 2) for row in listing.decode(errors="replace").split("\n")]
    commits = {own: (above.split(), name) for own, above, name in (r for r in rows if len(r) == 3)}
    parents = {own: above for own, (above, _) in commits.items()}
    mainline = [sha]
    while (above := parents.get(mainline[-1])) and above[0] in parents:
        mainline.append(above[0])
    seen, merged = set(mainline), {}
    for merge in reversed(mainline):
        waiting, own = list(parents.get(merge, [])[1:]), []
        while waiting:
            commit = waiting.pop()
            if commit in parents and commit not in seen:
                seen.add(commit)
                own.append(commit)
                waiting += parents[commit]
        written = [commit for commit in own if len(parents[commit]) < 2] or own
        authors = _authors(commits[commit][1] for commit in reversed(written))
        merged[merge] = MergedCommits(tuple(own), authors)
    return merged


def _authors(names: Iterable[str]) -> str:
    """At most three names, whoever began first; each once."""
    each = dict.fromkeys(name.strip()[:NAME_CHARACTERS] for name in names)
    return ", ".join([name for name in each if name][:PULL_AUTHORS])


def _pull(commit: MainlineCommit, merged: Mapping[str, MergedCommits]) -> MergedPull | None:
    for read_name in PULL_NAMES:
        if name := read_name(commit):
            number, title = name
            commits, authors = merged.get(commit.sha, MergedCommits())
            return MergedPull(
                number=number,
                title=(title or commit.subject)[:TITLE_CHARACTERS],
                sha=commit.sha,
                author=authors or commit.author,  # who merged did not write it
                merged_at=read_time(commit.at),
                files=commit.files[:PULL_FILES],
                commits=commits[:PULL_COMMITS],
            )
    return None


def _read_log(output: bytes, mark: str) -> Iterator[MainlineCommit]:
    """Take apart what git printed: mark and fields, then files, each ended by a NUL."""
    for record in output.decode(errors="replace").split(f"{mark}\0")[1:]:
        *fields, files = record.split("\0", len(_FIELDS))
        if len(fields) < len(_FIELDS):
            return  # the output was cut here
        sha, parents, at, author, subject, body = fields
        names = tuple(name.removeprefix("\n") for name in files.split("\0"))
        kept = tuple(name for name in names if name)
        yield MainlineCommit(sha, " " in parents, at, author, subject, body, kept)
