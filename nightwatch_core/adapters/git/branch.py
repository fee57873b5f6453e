"""Makes a branch out of a draft pull request, with git's plumbing: one commit, or one a step.

Neither working tree nor index of the checkout is touched, no existing branch is moved, and the
branch appears last: whatever fails before leaves nothing that anyone can see.
"""

import re
import tempfile
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path

from nightwatch_core.adapters.git.branch_changes import (
    Made,
    PathState,
    Refused,
    Step,
    check_not_moved,
    commit_message,
    wanted_steps,
)
from nightwatch_core.adapters.git.checkout import LOCAL, Checkout, heads_of
from nightwatch_core.adapters.git.command import Git, is_sha
from nightwatch_core.adapters.git.objects import FILE, GONE, Node, read_tree
from nightwatch_core.models.proposal import DraftPull

_AUTHOR = ("NightWatch", "nightwatch@localhost")
_KEPT = "refs/nightwatch/"  # no branches: nobody pushes them unasked
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_DIFF = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options")
_PATCH = (
    *("diff-tree", "--root", "-p", "--stat", "--pretty=email", "--full-index", "--binary"),
    *("--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--end-of-options"),
)


def make_branch(checkout: Checkout, pull: DraftPull, at: datetime) -> Made:
    """Make the pull request's branch on the head of its base, dated `at`.

    Raises `Refused` with the reason, in words for the report.
    """
    git = checkout.git
    ref = f"{_KEPT}{pull.key[:12]}" if pull.as_patch else _ref(git, pull.branch)
    base = _base(checkout, pull.base)
    before = read_tree(git, base)
    _check_not_moved(git, pull, base, before)
    steps = wanted_steps(pull, before, partial(_content, git), partial(_written, git))
    commits = _committed(git, base, steps, at)
    commit, whole = commits[-1], ""
    if len(commits) > 1:
        whole = _whole(git, base, commit, pull, at)
    if pull.as_patch:
        return _kept(git, ref, commit)._replace(whole=whole)
    created = git.attempt("update-ref", "--no-deref", "-m", "nightwatch: draft", ref, commit, "")
    if created.code:
        if tip := checkout.heads().get(ref):
            return _made_before(git, pull.branch, tip, steps)._replace(whole=whole)
        raise Refused(f"the branch cannot be made: {created.complaint}")
    return Made(commit, is_new=True, whole=whole)


def _committed(git: Git, base: str, steps: tuple[Step, ...], at: datetime) -> tuple[str, ...]:
    """One commit for each step, each on the one before."""
    commits = [base]
    for step in steps:
        commits.append(commit_tree(git, commits[-1], step.wanted, step.message, at))
        if changed(git, commits[-2], commits[-1]) != step.wanted:
            raise Refused("the commit would change other files than proposed")
    return tuple(commits[1:])


def _whole(git: Git, base: str, last: str, pull: DraftPull, at: datetime) -> str:
    """All commits as one, kept on no branch: what a squash of them is known by."""
    wanted = changed(git, base, last)
    whole = commit_tree(git, base, wanted, commit_message(pull), at)
    return _kept(git, f"{_KEPT}whole-{pull.key[:12]}", whole).sha


def patch(git: Git, commit: str, context: int = 3, commits: int = 1) -> bytes:
    """Return the last commits as mails that `git am` takes, with so many lines around changes."""
    names = [f"{commit}~{back}" for back in reversed(range(commits))]
    return b"".join(git.run(_PATCH[0], f"-U{context}", *_PATCH[1:], name) for name in names)


def changed(git: Git, before: str, after: str) -> dict[str, PathState]:
    """Return what differs between two commits: path to what stands there after.

    A file whose mode differs, or that is no plain file, has the mode "was → is" and fits nothing.
    """
    fields = git.run(*_DIFF, before, after).decode(errors="replace").split("\0")
    states = {}
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        was, mode, _, oid, _ = about.removeprefix(":").split()
        is_plain = mode in (FILE, GONE) if GONE in (was, mode) else was == mode
        mark = mode if is_plain else f"{was} → {mode}"
        states[path] = PathState(mark, "" if mode == GONE else oid)
    return states


def _kept(git: Git, ref: str, commit: str) -> Made:
    """Keep git from dropping a patch's commit, on which no branch stands; the newest counts."""
    was = git.attempt("rev-parse", "--verify", "--quiet", ref).output.decode().strip()
    _do(git, "update-ref", "--no-deref", ref, commit, environment={})
    return Made(commit, is_new=was != commit)


def _ref(git: Git, branch: str) -> str:
    ref = f"{LOCAL}{branch}"
    if not _BRANCH.fullmatch(branch) or git.attempt("check-ref-format", ref).code:
        raise Refused(f"{branch[:80]!a} cannot be the name of a branch")
    return ref


def _base(checkout: Checkout, name: str) -> str:
    if not name:
        return checkout.base()[1]
    heads = heads_of(checkout.heads(), name)
    if not heads:
        raise Refused(f"there is no base branch {name[:80]!a}")
    return heads[0]


def _check_not_moved(git: Git, pull: DraftPull, base: str, now: Mapping[str, Node]) -> None:
    """The edits were made on `pull.commit`: on another text they may mean something else."""
    if pull.commit == base:
        return
    if not is_sha(pull.commit) or git.attempt("cat-file", "-e", f"{pull.commit}^{{commit}}").code:
        raise Refused(f"commit {pull.commit[:80]!a} is not in the repository")
    check_not_moved(pull.changes, read_tree(git, pull.commit), now)


def _content(git: Git, node: Node) -> bytes:
    return git.run("cat-file", "blob", node.oid)


def _written(git: Git, content: bytes, _: Node | None) -> str:
    return git.run("hash-object", "-w", "-t", "blob", "--stdin", stdin=content).decode().strip()


def commit_tree(
    git: Git, base: str, wanted: Mapping[str, PathState], message: str, at: datetime
) -> str:
    """Return a new commit on `base` (empty: on nothing) at whose paths stands what is wanted."""
    nothing = "0" * (len(base) or 40)
    entries = "".join(
        f"{state.mode} {state.oid or nothing}\t{path}\0" for path, state in wanted.items()
    )
    with tempfile.TemporaryDirectory(prefix="nightwatch-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        _do(git, "read-tree", base or "--empty", environment=index)
        _do(git, "update-index", "-z", "--index-info", stdin=entries.encode(), environment=index)
        new = _do(git, "write-tree", environment=index)
    parent = ("-p", base) if base else ()
    asked = ("commit-tree", *parent, "-F", "-", new)
    return _do(git, *asked, stdin=message.encode(), environment=_signature(at))


def _do(git: Git, *arguments: str, environment: Mapping[str, str], stdin: bytes = b"") -> str:
    outcome = git.attempt(*arguments, stdin=stdin, environment=environment)
    if outcome.code:
        raise Refused(f"git {arguments[0]}: {outcome.complaint}")
    return outcome.output.decode().strip()


def _signature(at: datetime) -> dict[str, str]:
    values = (*_AUTHOR, f"@{int(at.timestamp())} +0000")
    return {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in zip(("NAME", "EMAIL", "DATE"), values, strict=True)
    }


def _made_before(git: Git, branch: str, tip: str, steps: tuple[Step, ...]) -> Made:
    """The branch is ours where each of its commits makes exactly the changes of its step."""
    commit = tip
    for step in reversed(steps):
        parents = git.line("rev-parse", f"{commit}^@").split()
        if len(parents) != 1 or changed(git, parents[0], commit) != step.wanted:
            raise Refused(f"branch {branch} exists with other content: delete or rename it")
        commit = parents[0]
    return Made(tip, is_new=False)
