"""Makes a branch with one commit out of a draft pull request, with git's plumbing.

Neither working tree nor index of the checkout is touched, no existing branch is moved, and the
branch appears last: whatever fails before leaves nothing that anyone can see.
"""

import re
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from nightwatch_core.adapters.checkout import LOCAL, Checkout
from nightwatch_core.adapters.git import Git, is_sha
from nightwatch_core.adapters.git_tree import EXECUTABLE, FILE, Node, folders, tree, why_unsafe
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposal import DraftPull, FileChange

MOST_CHANGES = 100
LARGEST_TEXT = 2 * 1024 * 1024  # bytes
_AUTHOR = ("NightWatch", "nightwatch@localhost")
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_GONE = "000000"
_DIFF = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options")
_PATCH = (
    *("diff-tree", "--root", "-p", "--stat", "--pretty=email", "--full-index", "--binary"),
    *("--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--end-of-options"),
)


class Refused(GiveUp):
    """The branch cannot be made as proposed; nothing was changed."""


class Blob(NamedTuple):
    """What shall stand at a path; mode 000000 where nothing shall."""

    mode: str
    oid: str


class Made(NamedTuple):
    """The branch's commit; `is_new` is False where an earlier try had made it."""

    sha: str
    is_new: bool


def make_branch(checkout: Checkout, pull: DraftPull, at: datetime) -> Made:
    """Make the pull request's branch on the head of its base, dated `at`.

    Raises `Refused` with the reason, in words for the report.
    """
    git = checkout.git
    ref = _ref(git, pull.branch)
    base = _base(checkout, pull.base)
    before = tree(git, base)
    _check_not_moved(git, pull, base, before)
    wanted = _wanted(git, pull.changes, before)
    commit = _committed(git, base, wanted, pull, at)
    if changed(git, base, commit) != wanted:
        raise Refused("the commit would change other files than proposed")
    created = git.attempt("update-ref", "--no-deref", "-m", "nightwatch: draft", ref, commit, "")
    if created.code:
        if tip := checkout.heads().get(ref):
            return _made_before(git, pull.branch, tip, wanted)
        raise Refused(f"the branch cannot be made: {created.complaint}")
    return Made(commit, is_new=True)


def patch(git: Git, commit: str) -> bytes:
    """The commit as a mail that `git am` takes."""
    return git.run(*_PATCH, commit)


def changed(git: Git, before: str, after: str) -> dict[str, Blob]:
    """What differs between two commits: path to what stands there after.

    A file whose mode differs, or that is no plain file, has the mode "was → is" and fits nothing.
    """
    fields = git.run(*_DIFF, before, after).decode(errors="replace").split("\0")
    found = {}
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        was, mode, _, oid, _ = about.removeprefix(":").split()
        is_plain = mode in (FILE, _GONE) if _GONE in (was, mode) else was == mode
        found[path] = Blob(mode if is_plain else f"{was} → {mode}", oid)
    return found


def _ref(git: Git, branch: str) -> str:
    ref = f"{LOCAL}{branch}"
    if not _BRANCH.fullmatch(branch) or git.attempt("check-ref-format", ref).code:
        raise Refused(f"{branch[:80]!a} cannot be the name of a branch")
    return ref


def _base(checkout: Checkout, name: str) -> str:
    if not name:
        return checkout.base()[1]
    heads = checkout.branch_heads(name)
    if not heads:
        raise Refused(f"there is no base branch {name[:80]!a}")
    return heads[0]


def _check_not_moved(git: Git, pull: DraftPull, base: str, now: Mapping[str, Node]) -> None:
    """The edits were made on `pull.commit`: on another text they may mean something else."""
    if pull.commit == base:
        return
    if not is_sha(pull.commit) or git.attempt("cat-file", "-e", f"{pull.commit}^{{commit}}").code:
        raise Refused(f"commit {pull.commit[:80]!a} is not in the repository")
    then = tree(git, pull.commit)
    for change in pull.changes:
        if _stands(then, change.path) != _stands(now, change.path):
            raise Refused(f"base moved: {change.path[:200]!a} changed")


def _stands(nodes: Mapping[str, Node], path: str) -> Blob | None:
    node = nodes.get(path)
    return Blob(node.mode, node.oid) if node else None


def _wanted(
    git: Git, changes: tuple[FileChange, ...], before: Mapping[str, Node]
) -> dict[str, Blob]:
    if len(changes) > MOST_CHANGES:
        raise Refused(f"{len(changes)} files are more than {MOST_CHANGES}")
    if len({change.path.casefold() for change in changes}) < len(changes):
        raise Refused("a file is changed twice")
    wanted = {change.path: _blob(git, change, before) for change in changes}
    new = {path: blob for path, blob in wanted.items() if blob != _stands(before, path)}
    if not new:
        raise Refused("nothing would change")
    for path in folders(wanted):
        if path in wanted:
            raise Refused(f"{path[:200]!a} would be both file and folder")
    return new


def _blob(git: Git, change: FileChange, before: Mapping[str, Node]) -> Blob:
    said = f"{change.path[:200]!a}"
    if why := why_unsafe(change.path):
        raise Refused(f"{said} {why}")
    node = before.get(change.path)
    if node is None and change.text is None:
        raise Refused(f"{said} is not there to be deleted")
    if node is None:
        _check_room(change.path, before)
    elif node.mode not in (FILE, EXECUTABLE):
        raise Refused(f"{said} is a {node.kind}, no plain file")
    if change.text is None:
        return Blob(_GONE, "0" * (len(node.oid) if node else 40))
    content = _bytes(said, change.text)
    if node is not None:
        _check_is_text(git, said, node)
    oid = git.run("hash-object", "-w", "-t", "blob", "--stdin", stdin=content).decode().strip()
    return Blob(node.mode if node else FILE, oid)


def _check_room(path: str, before: Mapping[str, Node]) -> None:
    """A new file must not stand on, below, or beside a name that some systems hold for the same."""
    taken = {*before, *folders(before)}
    folded = {name.casefold() for name in taken}
    if path.casefold() in folded:
        raise Refused(f"{path[:200]!a} is taken already")
    for folder in folders([path]):
        if folder in before:
            raise Refused(f"{folder[:200]!a} is a {before[folder].kind}, no folder")
        if folder not in taken and folder.casefold() in folded:
            raise Refused(f"{folder[:200]!a} is there in another spelling")


def _bytes(said: str, text: str) -> bytes:
    content = text.encode()
    if "\0" in text or len(content) > LARGEST_TEXT:
        raise Refused(f"{said}: the new text is binary or over {LARGEST_TEXT} bytes")
    return content


def _check_is_text(git: Git, said: str, node: Node) -> None:
    """Readers replace bytes that are not UTF-8; writing that back would change more than asked."""
    if (node.size or 0) > LARGEST_TEXT:
        raise Refused(f"{said} is over {LARGEST_TEXT} bytes")
    try:
        git.run("cat-file", "blob", node.oid).decode()
    except UnicodeDecodeError as error:
        raise Refused(f"{said} is not UTF-8") from error


def _committed(
    git: Git, base: str, wanted: Mapping[str, Blob], pull: DraftPull, at: datetime
) -> str:
    entries = "".join(f"{blob.mode} {blob.oid}\t{path}\0" for path, blob in wanted.items())
    with tempfile.TemporaryDirectory(prefix="nightwatch-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        _do(git, "read-tree", base, environment=index)
        _do(git, "update-index", "-z", "--index-info", stdin=entries.encode(), environment=index)
        new = _do(git, "write-tree", environment=index)
    message = (pull.commit_message.strip() or pull.title).replace("\0", "")
    asked = ("commit-tree", "-p", base, "-F", "-", new)
    return _do(git, *asked, stdin=message.encode(errors="replace"), environment=_signature(at))


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


def _made_before(git: Git, branch: str, tip: str, wanted: Mapping[str, Blob]) -> Made:
    """The branch is ours where its one commit makes exactly the wanted changes."""
    parents = git.line("rev-parse", f"{tip}^@").split()
    if len(parents) == 1 and changed(git, parents[0], tip) == wanted:
        return Made(tip, is_new=False)
    raise Refused(f"branch {branch} exists with other content: delete or rename it")
