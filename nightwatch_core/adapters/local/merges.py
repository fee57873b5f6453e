"""What became of a draft on this machine: whether, when and how its base got it, as git knows.

A base may hold the draft's commit itself (merged or fast-forwarded), a copy of it (squashed,
rebased, picked), or what somebody made of it: amending keeps author, date and, mostly, subject, by
which such a commit is known. Nothing is written.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple

from nightwatch_core.adapters.git.checkout import LOCAL, Checkout, heads_of
from nightwatch_core.adapters.git.command import Git, is_sha, read_time
from nightwatch_core.errors import TryLater
from nightwatch_core.models.proposal import OwnItem

_PATIENCE = 20.0  # seconds for one question; a history that takes longer tells nothing
_DIFF = (
    *("diff-tree", "--no-commit-id", "-r", "-p", "-U0", "--no-renames", "--no-color"),
    *("--no-ext-diff", "--no-textconv", "--end-of-options"),
)


class DraftState(NamedTuple):
    """How a draft stands; `merged_at` is None where git does not tell, `edited` then False."""

    state: Literal["open", "closed", "merged"]
    merged_at: datetime | None = None
    edited: bool = False


class LineCommit(NamedTuple):
    """A commit of a branch's own line: the one it was made on comes first among its parents."""

    sha: str
    parents: tuple[str, ...]
    at: datetime
    message: str


class Draft(NamedTuple):
    """Our commit, its branch, and where that stands now, here and at origin."""

    git: Git
    commit: str
    branch: str
    tips: tuple[str, ...]


def draft_state(
    checkout: Checkout,
    item: OwnItem,
    meta: Mapping[str, object],
    heads: dict[str, str],
    *,
    thorough: bool,
) -> DraftState:
    """How the draft that `item` and its front matter tell of stands, with `heads` of branches.

    Unless `thorough`, only a base that holds the commit itself counts, and no more is told of it.
    """
    base = str(meta.get("base", ""))
    for commit in filter(is_sha, (str(meta.get(name, "")) for name in ("commit", "whole"))):
        draft = Draft(checkout.git, commit, item.branch, heads_of(heads, item.branch))
        for head in heads_of(heads, base) if base else (checkout.base()[1],):
            if state := _merged(draft, head, thorough):
                return state
    is_there = item.as_patch or f"{LOCAL}{item.branch}" in heads
    return DraftState(item.state if is_there or item.state == "merged" else "closed")


def _merged(draft: Draft, head: str, thorough: bool) -> DraftState | None:
    """How the base at `head` got the draft; None where it did not."""
    whole = _is_below(draft.git, draft.commit, head)
    state = DraftState("merged") if whole else None
    if not thorough:
        return state
    try:
        return (
            _merged_commit(draft, head)
            if whole
            else _merged_copy(draft, head) or _merged_amended(draft, head)
        )
    except TryLater:
        return state


def _merged_commit(draft: Draft, head: str) -> DraftState:
    """The base holds the commit: by a merge that is dated, or because it was moved there.

    When the base was moved is not told: the commit's own date is that of the night.
    """
    step = _merge_step(draft.git, draft.commit, head)
    if step is None or step.parents[0] == draft.commit:
        moved = (tip for tip in draft.tips if _is_below(draft.git, tip, head))
        return DraftState("merged", None, any(_commits_on_top(draft, tip) for tip in moved))
    named = bool(draft.branch) and draft.branch in step.message
    merged = (parent for parent in step.parents[1:] if named or parent in draft.tips)
    return DraftState("merged", step.at, any(_commits_on_top(draft, parent) for parent in merged))


def _merged_copy(draft: Draft, head: str) -> DraftState | None:
    """The base holds a commit that makes the same change."""
    copies = _same_changes(draft.git, draft.commit, head)
    if not copies:
        return None
    more = (one for tip in draft.tips for one in _commits_on_top(draft, tip))
    edited = any(_same_changes(draft.git, one, head) for one in more)
    return DraftState("merged", _merged_at(draft.git, copies[0], head), edited)


def _merged_amended(draft: Draft, head: str) -> DraftState | None:
    """The base holds a commit of our author, date and subject, on one of our files."""
    query = ("log", "--no-merges", "--reverse", "--format=%H%x00%ae%x00%at%x00%s")
    listing = _git_lines(draft.git, *query, f"{draft.commit}^..{head}")
    ours = [row.split("\0", 1)[1] for row in _git_lines(draft.git, *query, "-1", draft.commit)]
    lines, rows = _changed(draft.git, draft.commit), (row.split("\0", 1) for row in listing)
    for sha in (row[0] for row in rows if row[1:] == ours):
        theirs = _changed(draft.git, sha)
        if lines.keys() & theirs.keys():
            return DraftState("merged", _merged_at(draft.git, sha, head), lines != theirs)
    return None


def _commits_on_top(draft: Draft, tip: str) -> tuple[str, ...]:
    """Commits that people put on top of ours, merges not counted; `tip` is the newest of them."""
    line = _line(draft.git, draft.commit, tip)
    if not line or line[0].parents[:1] != (draft.commit,):
        return ()
    return tuple(step.sha for step in line if len(step.parents) == 1)


def _merged_at(git: Git, commit: str, head: str) -> datetime | None:
    """When the branch at `head` got a commit that was made for it."""
    step = _merge_step(git, commit, head)
    if step is not None and step.parents[0] != commit:
        return step.at
    (at,) = _git_lines(git, "log", "-1", "--format=%ct", "--end-of-options", commit)
    return read_time(at)


def _merge_step(git: Git, commit: str, head: str) -> LineCommit | None:
    """The first step of the branch at `head` after which it held `commit`; None for its last."""
    above = {*_git_lines(git, "rev-list", "--ancestry-path", f"{commit}..{head}")}
    return next((step for step in _line(git, commit, head) if step.sha in above), None)


def _line(git: Git, commit: str, head: str) -> list[LineCommit]:
    """The own line of the branch at `head`, without what `commit` holds, oldest first."""
    query = ("log", "-z", "--first-parent", "--reverse", "--format=%H%n%P%n%ct%n%s")
    answer = git.attempt(*query, f"{commit}..{head}", timeout=_PATIENCE).output
    fields = (each.split("\n", 3) for each in answer.decode(errors="replace").split("\0") if each)
    return [LineCommit(sha, (*up.split(),), read_time(at), text) for sha, up, at, text in fields]


def _same_changes(git: Git, commit: str, head: str) -> list[str]:
    """Commits of the branch at `head` that make the same change as `commit`, oldest first."""
    marked = _git_lines(
        *(git, "rev-list", "--cherry-mark", "--no-merges", "--reverse"),
        *(f"{head}...{commit}", f"^{commit}^"),
    )
    return [line[1:] for line in marked if line[0] == "=" and line[1:] != commit]


def _changed(git: Git, commit: str) -> dict[str, list[str]]:
    """The lines that a commit takes away and adds, by the line that names the files."""
    changes: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in _git_lines(git, *_DIFF, commit):
        if line.startswith("diff --git "):
            lines = changes.setdefault(line, [])
        elif line[:1] in ("+", "-"):
            lines.append(line)
    return changes


def _is_below(git: Git, commit: str, head: str) -> bool:
    return not git.attempt("merge-base", "--is-ancestor", commit, head).code


def _git_lines(git: Git, *arguments: str) -> list[str]:
    """The lines that git prints; none where it fails."""
    answer = git.attempt(*arguments, timeout=_PATIENCE)
    return [] if answer.code else answer.output.decode(errors="replace").split("\n")[:-1]
