"""The commit that an analysis names as the one that brought the cause, looked up in the history."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import CommitDiff, MergedPull, Suspect
from nightwatch_core.ports import CodeReader

SHORTEST_SHA = 7
_NAMED = "the analysis names it as what brought the fault"


class NamedChange(NamedTuple):
    """What an answer's words on a commit come to."""

    commit: str = ""  # its full sha; as it was named where nobody could look
    suspects: tuple[Suspect, ...] = ()  # that commit alone
    because: tuple[str, ...] = ()  # why it was dropped


def named_change(text: str, code: CodeReader) -> NamedChange:
    """Look up the commit or pull request that an answer names; nothing where it names none.

    One that is not in the history of the commit that was read is dropped, and says so.
    """
    name = commit_name(text)
    if not name:
        return NamedChange()
    try:
        shown = code.show_commit(name)
    except (GiveUp, TryLater):  # the answer is paid: what is there of it is kept
        return NamedChange(commit=name)
    if shown is None:
        why = f"{name}, which the answer names, is no commit of the history that was read"
        return NamedChange(because=(why,))
    return NamedChange(shown.commit.sha, (Suspect(pull=as_pull(shown), score=1.0),))


def commit_name(text: str) -> str:
    """Return the commit or pull request that is named; empty for prose.

    >>> commit_name("commit 1a2b3c4d5e"), commit_name("#12"), commit_name("the last one")
    ('1a2b3c4d5e', '#12', '')
    """
    match = re.search(r"\b[0-9a-f]{7,40}\b|#\d{1,9}\b", text[:300].lower())
    return match.group() if match else ""


def as_pull(shown: CommitDiff) -> MergedPull:
    """Describe a commit as what it brought; its number is 0 where no pull request is known."""
    commit = shown.commit
    merge = re.match(r"Merge\b", commit.subject) and shown.message.partition("\n")[0].strip()
    return MergedPull(
        number=commit.pull,
        title=merge or commit.subject,
        sha=commit.sha,
        author=commit.author,
        merged_at=commit.at,
        files=tuple(file.path for file in shown.files),
    )


def only_named(analysis: Analysis, pulls: Iterable[MergedPull]) -> Analysis:
    """Give the analysis with its own commit as the only suspect: what was near is ruled out by it.

    Of `pulls` the one that brought the commit stands for it, and tells its title.
    """
    sha = analysis.suspect_commit.strip().lower()
    known = (*pulls, *(one.pull for one in analysis.suspects))
    brought = next((pull for pull in known if is_named(pull, sha)), None)
    if brought is None:
        return analysis.model_copy(update={"suspects": ()})
    suspect = Suspect(pull=brought, score=1.0, because=(_named(brought, sha),))
    return analysis.model_copy(update={"suspects": (suspect,)})


def is_of(pull: MergedPull, sha: str) -> bool:
    """Tell whether the commit, perhaps shortened, is the pull request's merge or came with it."""
    known = (pull.sha, *pull.commits)
    return len(sha) >= SHORTEST_SHA and any(one.startswith(sha) for one in known)


def is_named(pull: MergedPull, name: str) -> bool:
    """Tell whether a name means the change: its commit, one that it brought, or its number."""
    return is_of(pull, name) or bool(pull.number and name == f"#{pull.number}")


def proved_change(analysis: Analysis) -> str:
    """Name the change that brought the commit the analysis found; empty where none did.

    Being near, or merged just before, is not enough, and neither is a commit that nobody merged.
    """
    sha = analysis.suspect_commit.strip().lower()
    return next((one.pull.name for one in analysis.suspects if is_named(one.pull, sha)), "")


def _named(pull: MergedPull, sha: str) -> str:
    """A commit of its own shows what a pull request brought; its merge is just its name."""
    return (
        _NAMED
        if sha.startswith("#") or pull.sha.startswith(sha)
        else f"brought {sha[:10]}, which the analysis names"
    )
